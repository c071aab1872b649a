/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/levels.h"

#include "base/memory/sort.h"
#include "base/text/stamp.h"

static const size_t span_width[LEVEL_SPANS] = { 16, 512 };

static int64_t levels_end_of(const struct levels *l, uint32_t slice)
{
    return stamp_add(l->begin_ns[slice], l->dur_ns[slice]);
}

/* Fills in the depth of the slices of one track and counts them by depth; returns how many depths there are. */
static size_t depths_find(struct levels *l, size_t first, size_t end, size_t *n_at)
{
    int64_t open_end[LEVELS_DEEPEST];
    size_t n_open = 0, n_depths = 0;
    for (size_t i = first; i < end; i++) {
        while (n_open && open_end[n_open - 1] <= l->begin_ns[i])
            n_open--;
        if (n_open == LEVELS_DEEPEST)
            n_open--;
        if (n_open == n_depths)
            n_at[n_depths++] = 0;
        l->depth[i] = (uint16_t)n_open;
        n_at[n_open]++;
        open_end[n_open++] = levels_end_of(l, (uint32_t)i);
    }
    return n_depths;
}

/* Puts the slices of one track into its levels, the first of which is `level`. */
static void levels_fill(struct levels *l, size_t first, size_t end, struct level *level)
{
    for (size_t i = first; i < end; i++) {
        struct level *at = &level[l->depth[i]];
        const size_t to = at->first + at->n++;
        l->slice[to] = (uint32_t)i;
        l->busy_ns[to] = at->n == 1 ? 0 : stamp_add(l->busy_ns[to - 1], l->dur_ns[l->slice[to - 1]]);
    }
}

static int64_t gap_before(const struct levels *l, size_t at)
{
    return wrap_sub(l->begin_ns[l->slice[at]], levels_end_of(l, l->slice[at - 1]));
}

/* A span may contain positions of two levels; such spans are not used, because span_at() only returns spans inside a
 * level. */
static bool spans_build(struct levels *l, size_t n, struct arena *mem)
{
    for (size_t kind = 0; kind < LEVEL_SPANS; kind++) {
        l->span[kind] = arena_take(mem, n / span_width[kind] + 1, sizeof *l->span[kind]);
        if (!l->span[kind])
            return false;
    }
    for (size_t v = 0; v < l->n; v++) {
        const size_t first = l->level[v].first;
        for (size_t at = first; at < first + l->level[v].n; at++) {
            const int64_t gap_ns = at > first ? gap_before(l, at) : 0, dur_ns = l->dur_ns[l->slice[at]];
            for (size_t kind = 0; kind < LEVEL_SPANS; kind++) {
                struct level_span *span = &l->span[kind][at / span_width[kind]];
                const bool is_first = at % span_width[kind] == 0;
                if (is_first || gap_ns > span->gap_ns)
                    span->gap_ns = gap_ns;
                if (is_first || dur_ns > span->longest_ns) {
                    span->longest_ns = dur_ns;
                    span->slice = l->slice[at];
                }
            }
        }
    }
    return true;
}

bool levels_build(struct levels *l, const int64_t *begin_ns, const int64_t *dur_ns, const size_t *first,
                  size_t n_tracks, struct arena *mem)
{
    const size_t n = n_tracks ? first[n_tracks] : 0;
    size_t n_at[LEVELS_DEEPEST];
    LIST(struct level) made = { 0 };
    *l = (struct levels){ .begin_ns = begin_ns, .dur_ns = dur_ns };
    l->first_level = arena_take(mem, n_tracks + 1, sizeof *l->first_level);
    l->slice = arena_take(mem, n, sizeof *l->slice);
    l->busy_ns = arena_take(mem, n, sizeof *l->busy_ns);
    l->depth = arena_take(mem, n, sizeof *l->depth);
    if (!l->first_level || (n && (!l->slice || !l->busy_ns || !l->depth)))
        return false;
    for (size_t t = 0; t < n_tracks; t++) {
        const size_t n_depths = depths_find(l, first[t], first[t + 1], n_at);
        size_t at = first[t];
        l->first_level[t] = (uint32_t)made.n;
        for (size_t d = 0; d < n_depths; d++) {
            struct level *new = list_add(&made, mem);
            if (!new)
                return false;
            *new = (struct level){ .track = (uint32_t)t, .depth = (uint32_t)d, .first = at };
            at += n_at[d];
        }
        if (n_depths > 0)
            levels_fill(l, first[t], first[t + 1], made.at + l->first_level[t]);
    }
    l->first_level[n_tracks] = (uint32_t)made.n;
    l->level = made.at;
    l->n = made.n;
    return spans_build(l, n, mem);
}

void level_range(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, size_t *first, size_t *end)
{
    const size_t low = l->level[level].first, high = low + l->level[level].n;
    *first = SEARCH_FIRST_NOT(at, low, high,
                              levels_end_of(l, l->slice[at]) <= begin_ns && l->begin_ns[l->slice[at]] < begin_ns);
    *end = SEARCH_FIRST_NOT(at, *first, high, l->begin_ns[l->slice[at]] < end_ns);
}

/* The largest span that begins at `at` and ends before `end`, of the first n_kinds kinds; NULL: none. */
static const struct level_span *span_at(const struct levels *l, size_t at, size_t end, size_t n_kinds, size_t *width)
{
    for (size_t kind = n_kinds; kind-- > 0;) {
        *width = span_width[kind];
        if (at % *width == 0 && end - at >= *width)
            return &l->span[kind][at / *width];
    }
    return NULL;
}

/* The longest slice of a run, which stands for it. */
static uint32_t longest_of(const struct levels *l, size_t first, size_t end)
{
    uint32_t best = l->slice[first];
    size_t width;
    for (size_t at = first; at < end; at += width) {
        const struct level_span *span = span_at(l, at, end, LEVEL_SPANS, &width);
        const uint32_t one = span ? span->slice : l->slice[at];
        width = span ? width : 1;
        if ((span ? span->longest_ns : l->dur_ns[one]) > l->dur_ns[best])
            best = one;
    }
    return best;
}

/* How many positions from `at` on have neither a slice nor a gap that can be seen, by whole spans; 0: look at it
 * alone. */
static size_t spans_short(const struct levels *l, size_t at, size_t end, int64_t least_ns)
{
    size_t width;
    for (size_t kinds = LEVEL_SPANS; kinds > 0; kinds--) {
        const struct level_span *span = span_at(l, at, end, kinds, &width);
        if (!span)
            return 0;
        if (span->longest_ns < least_ns && span->gap_ns < least_ns)
            return width;
    }
    return 0;
}

/* Where a run that begins with the slice at `first` ends: at the first slice that is long enough to be seen, or before
 * a gap that is. */
static size_t run_end(const struct levels *l, size_t first, size_t end, int64_t least_ns)
{
    size_t at = first + 1;
    while (at < end) {
        const size_t n_short = spans_short(l, at, end, least_ns);
        if (!n_short && (l->dur_ns[l->slice[at]] >= least_ns || gap_before(l, at) >= least_ns))
            break;
        at += n_short ? n_short : 1;
    }
    return at;
}

size_t level_view(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                  struct block *out, size_t cap)
{
    size_t at, end, n = 0;
    level_range(l, level, begin_ns, end_ns, &at, &end);
    while (at < end && n < cap) {
        const uint32_t slice = l->slice[at];
        const size_t next = l->dur_ns[slice] >= least_ns ? at + 1 : run_end(l, at, end, least_ns);
        const uint32_t last = l->slice[next - 1];
        out[n++] =
            (struct block){ .begin_ns = l->begin_ns[slice],
                            .end_ns = levels_end_of(l, last),
                            .busy_ns = wrap_sub(stamp_add(l->busy_ns[next - 1], l->dur_ns[last]), l->busy_ns[at]),
                            .slice = next - at == 1 ? slice : longest_of(l, at, next),
                            .n = (uint32_t)(next - at) };
        at = next;
    }
    return n;
}
