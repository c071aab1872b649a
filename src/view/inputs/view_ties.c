/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "view/inputs/view_inputs.h"

#include <string.h>

#include "base/memory/sort.h"
#include "cluster/rank/rank_groups.h"
#include "profile/calls.h"

enum { MANY = -2 }; /* peer rank: tasks of the operator have different ones */

/* The drawn collectives of a device, in the form in which collective_match.h matches ranks. */
struct adding {
    const struct profile *profile;
    const struct device *device;
    struct names *names; /* of all ranks */
    size_t n;
    uint32_t *row; /* rows of the device's collectives, sorted by begin, and their data in this order */
    name_id *name, *group;
    int64_t *begin_ns, *end_ns, *src, *dst;
    bool *is_p2p;
    struct arena *mem;
};

static name_id name_in(const struct adding *q, struct names *names, name_id id)
{
    return names_add(names, names_text(q->profile->names, id), names_len(q->profile->names, id));
}

static bool columns_take(struct adding *q)
{
    const size_t n = q->device->comm.ops.n + 1;
    arena_columns(q->mem, n, q->row, q->name, q->group, q->begin_ns, q->end_ns, q->src, q->dst, q->is_p2p);
    return !arena_failed(q->mem);
}

static int64_t peer_of(uint32_t rank)
{
    return rank == UINT32_MAX ? -1 : (int64_t)rank;
}

/* Finds the peer ranks of operators from tasks that notify or wait for the other side, if all tasks agree. False: no
 * memory. */
static bool find_peers(struct adding *q)
{
    const struct comm_tasks *tasks = &q->device->comm.tasks;
    uint32_t *place = arena_take(q->mem, q->device->comm.ops.n + 1, sizeof *place);
    if (!place)
        return false;
    memset(place, 0xFF, q->device->comm.ops.n * sizeof *place);
    for (size_t i = 0; i < q->n; i++) {
        place[q->row[i]] = (uint32_t)i;
        q->src[i] = q->dst[i] = -1;
    }
    const name_id record = names_addz(q->profile->names, "Notify_Record"),
                  wait = names_addz(q->profile->names, "Notify_Wait");
    for (size_t i = 0; i < tasks->n; i++) {
        const uint32_t op = place[tasks->op[i]];
        if (op == NO_ROW || (tasks->name[i] != record && tasks->name[i] != wait) || q->dst[op] == MANY)
            continue;
        const int64_t src = peer_of(tasks->src_rank[i]), dst = peer_of(tasks->dst_rank[i]);
        const bool is_same = q->dst[op] == -1 || (q->dst[op] == dst && q->src[op] == src);
        q->src[op] = is_same ? src : MANY;
        q->dst[op] = is_same ? dst : MANY;
    }
    return true;
}

static bool collectives_fill(struct adding *q)
{
    const struct comm_ops *from = &q->device->comm.ops;
    uint64_t *key = arena_take(q->mem, from->n + 1, sizeof *key);
    if (!key || !columns_take(q))
        return false;
    for (size_t i = 0; i < from->n; i++) {
        key[i] = (uint64_t)from->begin_ns[i] ^ UINT64_C(1) << 63;
        if (from->is_shown[i])
            q->row[q->n++] = (uint32_t)i;
    }
    if (q->n > 0 && !order_by_u64(q->row, q->n, key))
        return false;
    for (size_t i = 0; i < q->n; i++) {
        const uint32_t row = q->row[i];
        q->name[i] = name_in(q, q->names, from->name[row]);
        q->group[i] = name_in(q, q->names, from->group[row]);
        q->is_p2p[i] = is_p2p_op(q->names, name_in(q, q->names, from->op_type[row]), q->name[i]);
        q->begin_ns[i] = from->begin_ns[row];
        q->end_ns[i] = from->end_ns[row];
    }
    return find_peers(q) && !names_failed(q->names);
}

/* The slice of each collective, found by name and begin; NO_ROW: none. NULL: no memory. */
static uint32_t *find_slices(const struct adding *q, struct chrome_trace *drawn)
{
    const struct chrome_slices *s = &drawn->slices;
    enum { PARTS = 3 };
    struct tuples tuples = { 0 }; /* (name, both halves of the begin) */
    name_id *name = arena_take(q->mem, q->n + 1, sizeof *name);
    uint32_t *number = arena_take(q->mem, q->n + 1, sizeof *number);
    uint32_t *slice = arena_take(q->mem, q->n + 1, sizeof *slice);
    for (size_t i = 0; name && i < q->n; i++)
        name[i] = name_in(q, drawn->names, q->device->comm.ops.name[q->row[i]]);
    bool *wanted = arena_take(q->mem, names_count(drawn->names) + 1, sizeof *wanted);
    if (!name || !number || !slice || !wanted || names_failed(drawn->names))
        return NULL;
    for (size_t i = 0; i < q->n; i++) {
        const uint64_t ns = (uint64_t)q->begin_ns[i];
        const uint32_t part[PARTS] = { name[i], (uint32_t)ns, (uint32_t)(ns >> 32) };
        number[i] = tuple_add(&tuples, part, PARTS, q->mem);
        if (number[i] == KEYS_NO_MEMORY)
            return NULL;
        wanted[name[i]] = true;
        slice[i] = NO_ROW; /* indexed by tuple number; there are at most as many as collectives */
    }
    const size_t n = q->n > 0 ? tuples_n(&tuples, PARTS) : 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t ns = (uint64_t)s->begin_ns[i];
        const uint32_t part[PARTS] = { s->name[i], (uint32_t)ns, (uint32_t)(ns >> 32) };
        const uint32_t at = wanted[s->name[i]] ? tuple_add(&tuples, part, PARTS, q->mem) : NO_ROW;
        if (at < n && slice[at] == NO_ROW)
            slice[at] = (uint32_t)i;
    }
    for (size_t i = 0; i < q->n; i++)
        number[i] = slice[number[i]];
    return arena_failed(q->mem) ? NULL : number;
}

static bool device_add(struct view_ties *t, struct adding *q, struct chrome_trace *drawn, size_t first_slice)
{
    uint32_t *id = arena_take(q->mem, q->device->comm.ops.n + 1, sizeof *id);
    if (!id || !collectives_fill(q))
        return false;
    const struct match_calls calls = { .n = q->n,
                                       .group = q->group,
                                       .name = q->name,
                                       .begin_ns = q->begin_ns,
                                       .end_ns = q->end_ns,
                                       .is_p2p = q->is_p2p,
                                       .src = q->src,
                                       .dst = q->dst };
    if (!match_add(&t->match, 0, &calls, id))
        return false;
    const uint32_t *slice = find_slices(q, drawn);
    for (size_t i = 0; slice && i < q->n; i++) {
        if (id[i] == NO_ROW || slice[i] == NO_ROW)
            continue;
        struct view_member *to = list_add(&t->members, t->match.mem);
        if (!to)
            return false;
        *to = (struct view_member){ .collective = id[i],
                                    .slice = (uint32_t)(first_slice + slice[i]),
                                    .is_send = strcasestr(names_text(q->names, q->name[i]), "send") != NULL };
    }
    return slice != NULL;
}

bool view_ties_add(struct view_ties *t, const struct profile *p, struct chrome_trace *drawn, size_t first_slice)
{
    bool done = true;
    for (size_t i = 0; done && i < p->n_devices; i++) {
        struct adding q = { .profile = p, .device = &p->device[i], .names = t->match.names, .mem = arena_new() };
        done = q.mem && device_add(t, &q, drawn, first_slice);
        arena_free(q.mem);
    }
    return done;
}

/* Whether flow events should begin at this member rather than at the one found before. */
static bool is_source(const struct matched *of, const struct chrome_slices *s, const struct view_member *m,
                      const struct view_member *before)
{
    if (of->is_p2p)
        return m->is_send && (!before || !before->is_send);
    return !before || s->begin_ns[m->slice] > s->begin_ns[before->slice];
}

bool view_ties_put(const struct view_ties *t, struct chrome_trace *out)
{
    const struct view_member *m = t->members.at;
    const size_t n = t->members.n;
    uint32_t *order = arena_take(t->match.mem, n + 1, sizeof *order);
    uint32_t *key = arena_take(t->match.mem, n + 1, sizeof *key);
    if (!order || !key)
        return false;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = m[i].collective;
    if (n > 0 && !order_by_u32(order, n, key))
        return false;
    for (size_t from = 0, end; from < n; from = end) {
        const struct matched *of = &t->match.list.at[key[order[from]]];
        const struct view_member *source = NULL;
        for (end = from; end < n && key[order[end]] == key[order[from]]; end++)
            if (is_source(of, &out->slices, &m[order[end]], source))
                source = &m[order[end]];
        for (size_t i = from; source && i < end; i++) {
            const struct view_member *to = &m[order[i]];
            if (to == source || (of->is_p2p && to->is_send))
                continue;
            struct chrome_tie *tie = list_add(&out->ties, out->mem);
            if (!tie)
                return false;
            *tie = (struct chrome_tie){ source->slice, to->slice };
        }
    }
    return true;
}
