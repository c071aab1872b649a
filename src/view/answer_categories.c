/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answer_categories.h"

#include <pthread.h>
#include <string.h>

#include "base/stamp.h"

enum { POINTS = 1000 };

static int64_t total(const struct view_categorised *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < VIEW_CATEGORIES; i++)
        sum = stamp_add(sum, p->bytes[i]);
    return sum;
}

/* At most POINTS points: the reports are cut into runs of equal length, and each run is represented by its highest
 * point. */
static void put_points(struct question *a, const struct view_categories *c)
{
    const size_t step = c->points.n / POINTS + 1;
    for (size_t i = 0; i < c->points.n; i += step) {
        const struct view_categorised *most = &c->points.at[i];
        for (size_t k = i; k < c->points.n && k < i + step; k++)
            if (total(&c->points.at[k]) > total(most))
                most = &c->points.at[k];
        json_put_comma(a->o, i == 0);
        out_char(a->o, '[');
        out_i64(a->o, question_ns(a, most->ns));
        for (size_t k = 0; k < VIEW_CATEGORIES; k++) {
            out_char(a->o, ',');
            out_i64(a->o, most->bytes[k]);
        }
        out_char(a->o, ']');
    }
}

void answer_memory_categories(struct question *a)
{
    static pthread_mutex_t finding =
        PTHREAD_MUTEX_INITIALIZER; /* one thread finds them, the others wait for its result */
    struct view_categories *c = a->in->categories;
    struct error e = { 0 };
    bool is_found = true;
    if (c) {
        pthread_mutex_lock(&finding);
        if (!c->mem) {
            c->mem = arena_new();
            is_found = c->mem ? a->in->categorise(a->in, c, &e) : error_no_memory(&e, a->in->path);
        }
        if (!is_found) { /* what was found so far is not all: the next question tries again */
            arena_free(c->mem);
            *c = (struct view_categories){ 0 };
        }
        pthread_mutex_unlock(&finding);
    }
    if (!is_found)
        return question_refuse(a->r, 503, e.text);
    out_char(a->o, '{');
    json_put_text(a->o, "device", c && c->device ? c->device : "");
    json_put_key(a->o, "names");
    out_char(a->o, '[');
    for (size_t i = 0; i < VIEW_CATEGORIES && c && c->name[i]; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, c->name[i], strlen(c->name[i]));
    }
    out_char(a->o, ']');
    json_put_key(a->o, "points");
    out_char(a->o, '[');
    if (c)
        put_points(a, c);
    out_lit(a->o, "]}");
}
