/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/view_timeline.h"

#include "base/memory/sort.h"
#include "base/text/stamp.h"

static bool instants_sort(struct view_instants *v, struct arena *mem)
{
    const struct chrome_trace *t = v->trace;
    uint64_t *key = arena_take(mem, v->n, sizeof *key);
    uint32_t *track = arena_take(mem, v->n, sizeof *track);
    v->order = arena_take(mem, v->n, sizeof *v->order);
    if (!key || !track || !v->order)
        return false;
    order_fill(v->order, v->n);
    for (size_t i = 0; i < v->n; i++) {
        key[i] = (uint64_t)t->instants.at[i].ns ^ UINT64_C(1) << 63;
        track[i] = t->instants.at[i].track;
    }
    return order_by_u64(v->order, v->n, key) && order_by_u32(v->order, v->n, track);
}

bool view_instants_build(struct view_instants *v, const struct chrome_trace *trace, struct arena *mem)
{
    *v = (struct view_instants){ .trace = trace };
    v->row_of_track = arena_take(mem, trace->tracks.n + 1, sizeof *v->row_of_track);
    if (!v->row_of_track)
        return false;
    if (trace->instants.n == 0 || trace->instants.n > UINT32_MAX - trace->slices.n)
        return true;
    v->n = trace->instants.n;
    if (!instants_sort(v, mem))
        return false;
    for (size_t i = 0; i < v->n; i++) {
        const uint32_t track = view_instant(v, i)->track;
        if (!v->row_of_track[track]) {
            struct instant_row *new = list_add(&v->rows, mem);
            if (!new)
                return false;
            *new = (struct instant_row){ .track = track, .first = i };
            v->row_of_track[track] = (uint32_t)v->rows.n;
        }
        v->rows.at[v->rows.n - 1].n++;
    }
    return true;
}

void instants_range(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, size_t *first,
                    size_t *end)
{
    const size_t low = v->rows.at[row].first, high = low + v->rows.at[row].n;
    *first = SEARCH_FIRST_NOT(at, low, high, view_instant(v, at)->ns < begin_ns);
    *end = SEARCH_FIRST_NOT(at, *first, high, view_instant(v, at)->ns < end_ns);
}

size_t instants_view(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                     struct block *out, size_t cap)
{
    size_t at, end, n = 0;
    instants_range(v, row, begin_ns, end_ns, &at, &end);
    while (at < end && n < cap) {
        const int64_t ns = view_instant(v, at)->ns, reach_ns = stamp_add(ns, least_ns);
        const size_t next = SEARCH_FIRST_NOT(to, at + 1, end, view_instant(v, to)->ns < reach_ns);
        out[n++] = (struct block){
            .begin_ns = ns, .end_ns = view_instant(v, next - 1)->ns, .slice = (uint32_t)at, .n = (uint32_t)(next - at)
        };
        at = next;
    }
    return n;
}
