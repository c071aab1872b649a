/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 500 };

static void put_real(struct out *o, const char *key, double v)
{
    json_put_key(o, key);
    if (isfinite(v))
        out_real(o, v);
    else
        out_lit(o, "null");
}

static void put_work(struct question *a, const struct view_work *w)
{
    struct out *o = a->o;
    out_char(o, '{');
    json_put_text(o, "run", w->run);
    json_put_text(o, "name", w->name);
    json_put_text(o, "shapes", w->input_shapes);
    json_put_text(o, "types", w->input_types);
    json_put_text(o, "formats", w->input_formats);
    json_put_text(o, "numbers", w->numbers);
    json_put_int(o, "count", (int64_t)w->count);
    put_real(o, "ns", w->total_us * 1000);
    put_real(o, "operations", w->operations);
    put_real(o, "bytes", w->bytes);
    json_put_text(o, "operations_by", w->operations_by);
    json_put_text(o, "bytes_by", w->bytes_by);
    put_real(o, "share", w->share);
    json_put_int(o, "begin", question_ns(a, w->begin_ns));
    json_put_int(o, "end", question_ns(a, w->end_ns));
    out_char(o, '}');
}

/* The rows of each run are sorted; those of several runs are not. */
static int longest_first(const void *a, const void *b)
{
    const struct view_work *x = *(const struct view_work *const *)a, *y = *(const struct view_work *const *)b;
    return x->total_us != y->total_us ? (x->total_us < y->total_us ? 1 : -1) : (x > y) - (x < y);
}

static void put_rows(struct question *a, const struct view_work **order)
{
    const size_t n = a->in->work.n;
    for (size_t i = 0; i < n; i++)
        order[i] = &a->in->work.at[i];
    qsort(order, n, sizeof *order, longest_first);
    json_put_key(a->o, "rows");
    out_char(a->o, '[');
    for (size_t i = 0; i < n && i < MOST_ROWS; i++) {
        json_put_comma(a->o, i == 0);
        put_work(a, order[i]);
    }
    out_char(a->o, ']');
}

void answer_roofline(struct question *a)
{
    const struct view_work **order = calloc(a->in->work.n + 1, sizeof *order);
    struct out *o = a->o;
    if (!order)
        return question_refuse(a->r, 503, no_memory_text());
    out_char(o, '{');
    json_put_int(o, "n", (int64_t)a->in->work.n);
    put_real(o, "kernels_ns", a->in->kernels_us * 1000);
    put_real(o, "worked_ns", a->in->worked_us * 1000);
    json_put_key(o, "roofs");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->roofs.n; i++) {
        const struct view_roof *r = &a->in->roofs.at[i];
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_text(o, "run", r->run);
        json_put_text(o, "what", r->what);
        json_put_text(o, "source", r->source);
        put_real(o, "per_s", r->per_s);
        out_char(o, '}');
    }
    out_char(o, ']');
    put_rows(a, order);
    out_char(o, '}');
    free(order);
}
