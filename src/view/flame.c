/* SPDX-License-Identifier: Apache-2.0 */
#include "view/flame.h"

#include "base/stamp.h"

/* The slices around the current one, outermost first. */
struct around {
    size_t n;
    struct {
        uint32_t node;
        uint16_t depth;
        int64_t end_ns;
    } at[LEVELS_DEEPEST];
};

static bool slice_add(struct flame *f, const struct view_timeline *v, uint32_t slice, int64_t begin_ns, int64_t end_ns,
                      struct around *around, struct arena *mem)
{
    const struct chrome_slices *s = &v->trace->slices;
    const uint16_t depth = v->levels.depth[slice];
    const int64_t from_ns = s->begin_ns[slice], to_ns = stamp_add(from_ns, s->dur_ns[slice]);
    while (around->n && (around->at[around->n - 1].depth >= depth || around->at[around->n - 1].end_ns <= from_ns))
        around->n--;
    const uint32_t parent = around->n ? around->at[around->n - 1].node : FLAME_ROOT;
    const uint32_t place = keys_add(&f->places, (uint64_t)parent << 32 | s->name[slice], mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == f->nodes.n) {
        struct flame_node *new = list_add(&f->nodes, mem);
        if (!new)
            return false;
        *new = (struct flame_node){ .parent = parent, .name = s->name[slice], .longest = slice, .longest_ns = -1 };
    }
    const int64_t in_ns = wrap_sub(to_ns < end_ns ? to_ns : end_ns, from_ns > begin_ns ? from_ns : begin_ns);
    struct flame_node *node = &f->nodes.at[place];
    node->n++;
    f->n++;
    node->total_ns = stamp_add(node->total_ns, in_ns);
    if (s->dur_ns[slice] > node->longest_ns) {
        node->longest = slice;
        node->longest_ns = s->dur_ns[slice];
    }
    int64_t *outer_ns = parent == FLAME_ROOT ? &f->total_ns : &f->nodes.at[parent].inner_ns;
    *outer_ns = stamp_add(*outer_ns, in_ns);
    around->at[around->n].node = place;
    around->at[around->n].depth = depth;
    around->at[around->n++].end_ns = to_ns;
    return true;
}

/* Adds the slices of some levels of one track. The slices of a track are in preorder: outer ones precede inner ones. */
static bool track_add(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                      int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    const struct levels *l = &v->levels;
    bool is_chosen[LEVELS_DEEPEST] = { false };
    struct around around = { .n = 0 };
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
        if (is_in && is_chosen[l->depth[slice]] && !slice_add(f, v, slice, begin_ns, end_ns, &around, mem))
            return false;
    }
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
