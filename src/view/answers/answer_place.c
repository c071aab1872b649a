/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"
#include "view/rows/view_input.h"

enum { MOST_DEVICES = 3, MOST_BUCKETS = 4000 };

static int64_t answer_place_end_of(const struct chrome_slices *s, size_t slice)
{
    return stamp_add(s->begin_ns[slice], s->dur_ns[slice]);
}

/* The slice of a name that a range is about: the one that covers exactly the range, else the longest one that begins in
 * it. UINT32_MAX: there is none. */
static uint32_t slice_at(const struct question *a, const char *name, const char *run, int64_t begin_ns, int64_t end_ns)
{
    const struct chrome_trace *t = a->t->trace;
    const struct chrome_slices *s = &t->slices;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->begin_ns[i] < begin_ns || s->begin_ns[i] >= end_ns || strcmp(names_text(t->names, s->name[i]), name))
            continue;
        const struct view_rank *rank = view_rank_of(a->in, t->tracks.at[s->track[i]].process);
        if (*run && (!rank || strcmp(rank->title, run)))
            continue;
        if (s->begin_ns[i] == begin_ns && answer_place_end_of(s, i) == end_ns)
            return i;
        if (found == UINT32_MAX || s->dur_ns[i] > s->dur_ns[found])
            found = i;
    }
    return found;
}

/* A name, a range and, if the timeline is joint, a rank: the slice, and the busiest device tracks of the rank. */
void answer_place(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    int64_t begin_ns, end_ns, busy_ns[MOST_DEVICES] = { 0 };
    uint32_t device[MOST_DEVICES];
    size_t n = 0;
    char name[1024] = "", run[64] = "";
    (void)http_parameter(a->q, "name", name, sizeof name);
    (void)http_parameter(a->q, "run", run, sizeof run);
    if (!question_range(a, &begin_ns, &end_ns))
        return;
    const uint32_t slice = slice_at(a, name, run, begin_ns, end_ns);
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const struct view_rank *rank = view_rank_of(a->in, t->tracks.at[i].process);
        if (!a->t->is_device[i] || (*run && (!rank || strcmp(rank->title, run))))
            continue;
        const int64_t ns = device_track_busy_ns(a->in, i, begin_ns, end_ns);
        size_t at = n;
        while (at > 0 && busy_ns[at - 1] < ns)
            at--;
        if (ns <= 0 || at == MOST_DEVICES)
            continue;
        n += n < MOST_DEVICES;
        for (size_t k = n - 1; k > at; k--) {
            busy_ns[k] = busy_ns[k - 1];
            device[k] = device[k - 1];
        }
        busy_ns[at] = ns;
        device[at] = i;
    }
    out_lit(a->o, "{\"slice\":");
    if (slice == UINT32_MAX)
        out_lit(a->o, "null");
    else
        out_u64(a->o, slice);
    json_put_key(a->o, "devices");
    out_char(a->o, '[');
    for (size_t i = 0; i < n; i++) {
        json_put_comma(a->o, i == 0);
        out_u64(a->o, device[i]);
    }
    out_lit(a->o, "]}");
}

static void put_numbers(struct out *o, const char *key, const uint32_t *at, size_t n)
{
    json_put_key(o, key);
    out_char(o, '[');
    for (size_t i = 0; i < n; i++) {
        json_put_comma(o, i == 0);
        out_u64(o, at[i]);
    }
    out_char(o, ']');
}

/* Of each of n equal parts of the timeline: how many slices of the host begin in it, and how long the busiest device
 * track works, in thousandths. */
void answer_minimap(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    const struct chrome_slices *s = &t->slices;
    int64_t n;
    if (!http_parameter_i64(a->q, "n", &n) || n < 1 || n > MOST_BUCKETS)
        return question_refuse(a->r, 400, "n: wanted a number from 1 to 4000");
    uint32_t *begun = calloc((size_t)n, sizeof *begun), *busy = calloc((size_t)n, sizeof *busy);
    const double begin = (double)a->t->begin_ns, each = ((double)a->t->end_ns - begin) / (double)n;
    if (!begun || !busy) {
        free(begun);
        free(busy);
        return question_refuse(a->r, 503, no_memory_text());
    }
    for (size_t i = 0; i < s->n && each > 0; i++) {
        const double at = ((double)s->begin_ns[i] - begin) / each;
        if (!a->t->is_device[s->track[i]])
            begun[at < (double)n ? (size_t)at : (size_t)n - 1]++;
    }
    for (uint32_t track = 0; track < t->tracks.n && each >= 1; track++)
        for (int64_t i = 0; a->t->is_device[track] && i < n; i++) {
            const int64_t from_ns = stamp_add(a->t->begin_ns, (int64_t)(each * (double)i));
            const int64_t to_ns = stamp_add(a->t->begin_ns, (int64_t)(each * (double)(i + 1)));
            const double share = (double)device_track_busy_ns(a->in, track, from_ns, to_ns) / (double)(to_ns - from_ns);
            const uint32_t thousandths = (uint32_t)((share < 1 ? share : 1) * 1000 + 0.5);
            busy[i] = thousandths > busy[i] ? thousandths : busy[i];
        }
    out_char(a->o, '{');
    put_numbers(a->o, "begun", begun, (size_t)n);
    put_numbers(a->o, "busy", busy, (size_t)n);
    out_char(a->o, '}');
    free(begun);
    free(busy);
}
