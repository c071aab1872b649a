/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/flame.h"

#include <string.h>

#include "base/text/stamp.h"

#define STEP "ProfilerStep#"

/* The slices that are open, outermost first: each one contains the next. */
struct open_slices {
    int64_t begin_ns, end_ns; /* of the range */
    int64_t rounding_ns;      /* of the times of the track: a slice may end so much later than one that contains it */
    size_t n;
    struct {
        uint32_t node;
        int64_t begin_ns, end_ns;
    } at[LEVELS_DEEPEST];
};

/* Closes the innermost slice at its end, or at now_ns if that is earlier. Only then is known for how long it counts. */
static void slice_close(struct flame *f, struct open_slices *o, int64_t now_ns)
{
    const int64_t from_ns = o->at[--o->n].begin_ns, to_ns = o->at[o->n].end_ns < now_ns ? o->at[o->n].end_ns : now_ns;
    const int64_t low_ns = from_ns > o->begin_ns ? from_ns : o->begin_ns;
    const int64_t high_ns = to_ns < o->end_ns ? to_ns : o->end_ns;
    const int64_t in_ns = high_ns > low_ns ? wrap_sub(high_ns, low_ns) : 0;
    struct flame_node *node = &f->nodes.at[o->at[o->n].node];
    int64_t *outer_ns = node->parent == FLAME_ROOT ? &f->total_ns : &f->nodes.at[node->parent].inner_ns;
    node->total_ns = stamp_add(node->total_ns, in_ns);
    *outer_ns = stamp_add(*outer_ns, in_ns);
}

/* Opens a slice inside the innermost one that contains it. Those that end before it does, are closed. */
static bool slice_open(struct flame *f, struct open_slices *o, const struct view_timeline *v, uint32_t slice,
                       struct arena *mem)
{
    const struct chrome_slices *s = &v->trace->slices;
    const int64_t begin_ns = s->begin_ns[slice], end_ns = stamp_add(begin_ns, s->dur_ns[slice]);
    while (o->n && (o->at[o->n - 1].end_ns <= begin_ns || stamp_add(o->at[o->n - 1].end_ns, o->rounding_ns) < end_ns ||
                    o->n == LEVELS_DEEPEST))
        slice_close(f, o, begin_ns);
    const uint32_t parent = o->n ? o->at[o->n - 1].node : FLAME_ROOT;
    const int64_t outer_end_ns = o->n ? o->at[o->n - 1].end_ns : end_ns;
    const bool is_step = strncmp(names_text(v->trace->names, s->name[slice]), STEP, sizeof STEP - 1) == 0;
    const uint32_t place = keys_add(&f->places, (uint64_t)parent << 32 | (is_step ? UINT32_MAX : s->name[slice]), mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == f->nodes.n) {
        struct flame_node *new = list_add(&f->nodes, mem);
        if (!new)
            return false;
        *new = (struct flame_node){
            .parent = parent, .name = s->name[slice], .is_step = is_step, .longest = slice, .longest_ns = -1
        };
    }
    struct flame_node *node = &f->nodes.at[place];
    node->n++;
    f->n++;
    if (s->dur_ns[slice] > node->longest_ns) {
        node->longest = slice;
        node->longest_ns = s->dur_ns[slice];
    }
    o->at[o->n].node = place;
    o->at[o->n].begin_ns = begin_ns;
    o->at[o->n++].end_ns = outer_end_ns < end_ns ? outer_end_ns : end_ns;
    return true;
}

/* Profilers that write whole microseconds round begins and durations, so that an operator may seem to end one
 * microsecond after the one that called it. */
static int64_t rounding_of(const struct chrome_trace *t, uint32_t track)
{
    enum { MICROSECOND = 1000 };
    const struct chrome_track *of = &t->tracks.at[track];
    for (size_t i = of->first; i < of->first + of->n_slices; i++)
        if (t->slices.dur_ns[i] % MICROSECOND != 0)
            return 0;
    return MICROSECOND;
}

/* Adds the slices of some levels of one track, which are by begin, longer ones first. */
static bool track_add(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                      int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    const struct levels *l = &v->levels;
    bool is_chosen[LEVELS_DEEPEST] = { false };
    struct open_slices open = { .begin_ns = begin_ns,
                                .end_ns = end_ns,
                                .rounding_ns = rounding_of(v->trace, l->level[level[0]].track) };
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n_levels; i++) {
        size_t first, end;
        level_range(l, level[i], begin_ns, end_ns, &first, &end);
        is_chosen[l->level[level[i]].depth] = true;
        if (first == end)
            continue;
        low = l->slice[first] < low ? l->slice[first] : low;
        high = l->slice[end - 1] + 1 > high ? l->slice[end - 1] + 1 : high;
    }
    for (uint32_t slice = low; slice < high; slice++) {
        const int64_t from_ns = l->begin_ns[slice];
        const bool is_in = from_ns < end_ns && (from_ns >= begin_ns || stamp_add(from_ns, l->dur_ns[slice]) > begin_ns);
        if (is_in && is_chosen[l->depth[slice]] && !slice_open(f, &open, v, slice, mem))
            return false;
    }
    while (open.n > 0)
        slice_close(f, &open, end_ns);
    return true;
}

bool flame_build(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                 int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    *f = (struct flame){ 0 };
    for (size_t i = 0, end; i < n_levels; i = end) {
        for (end = i + 1; end < n_levels && v->levels.level[level[end]].track == v->levels.level[level[i]].track;)
            end++;
        if (!track_add(f, v, level + i, end - i, begin_ns, end_ns, mem))
            return false;
    }
    return true;
}
