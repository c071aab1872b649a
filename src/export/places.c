/* SPDX-License-Identifier: Apache-2.0 */
#include "export/places.h"

#include <stdlib.h>

#include "base/files/bytes.h"

uint32_t *stream_rows(const struct profile *p, struct arena *mem)
{
    uint32_t *row = arena_take(mem, UINT16_MAX + 1, sizeof *row);
    const struct logic_streams *l = &p->host.records.logic_streams;
    for (uint32_t s = 0; row && s <= UINT16_MAX; s++)
        row[s] = s;
    /* Where ids are wide, the reference shows each stream by itself. */
    for (size_t i = 0; row && i < l->n && !p->chip->has_wide_ids; i++)
        for (uint32_t k = 0; k < l->count[i]; k++) {
            const uint32_t stream = le32(l->physical[i] + 4 * k);
            if (stream <= UINT16_MAX)
                row[stream] = l->logic[i];
        }
    return row;
}

struct comm_group *comm_group_of(struct comm_groups *g, name_id name, struct arena *mem)
{
    const uint32_t place = keys_add(&g->names, name, mem);
    if (place < g->at.n)
        return &g->at.at[place];
    struct comm_group *new = place == KEYS_NO_MEMORY ? NULL : list_add(&g->at, mem);
    if (new)
        *new = (struct comm_group){ .name = name, .most_plane = -1 };
    return new;
}

struct naming {
    const struct comm_groups *groups;
    const struct names *names;
};

static int places_by_name(const void *a, const void *b, void *context)
{
    const struct naming *n = context;
    const uint32_t *x = a, *y = b;
    return names_compare(n->names, n->groups->at.at[*x].name, n->groups->at.at[*y].name);
}

struct comm_groups comm_groups_find(const struct profile *p, const struct device *d, const bool *is_wanted,
                                    int64_t *next_row, struct arena *mem)
{
    const struct communication *c = &d->comm;
    struct comm_groups g = { 0 };
    for (size_t i = 0; i < c->tasks.n; i++) {
        if (is_wanted && !is_wanted[i])
            continue;
        struct comm_group *group = comm_group_of(&g, c->tasks.group[i], mem);
        const int32_t plane = c->tasks.plane[i] < 0 ? 0 : c->tasks.plane[i];
        if (!group || plane >= (int32_t)sizeof group->has_plane)
            continue;
        group->has_plane[plane] = true;
        group->most_plane = plane > group->most_plane ? plane : group->most_plane;
    }
    for (size_t i = 0; c->tasks.n == 0 && i < c->ops.n; i++) /* collectives of GPUs have no tasks */
        comm_group_of(&g, c->ops.group[i], mem);
    uint32_t *order = arena_take(mem, g.at.n, sizeof *order); /* tracks are given out by name; `at` keeps its order */
    for (uint32_t i = 0; order && i < g.at.n; i++)
        order[i] = i;
    if (order && g.at.n > 0)
        qsort_r(order, g.at.n, sizeof *order, places_by_name, &(struct naming){ &g, p->names });
    for (size_t i = 0; order && i < g.at.n; i++) {
        g.at.at[order[i]].first_row = *next_row;
        *next_row += g.at.at[order[i]].most_plane + 2;
    }
    return g;
}
