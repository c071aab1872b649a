/* SPDX-License-Identifier: Apache-2.0 */
#include "export/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/hash.h"

struct lanes_lane {
    int64_t *end_ns; /* of the open slices, the innermost last */
    uint32_t depth, room;
};

struct lane_row {
    uint32_t pid;
    int64_t tid;
    int64_t last_begin_ns;
    unsigned n_lanes, last;
    char name[64];
    struct lanes_lane lane[MOST_LANES];
};

/* A slice that is not in lane 0. In the table, lane 0 marks a free slot. */
struct lanes_one_move {
    uint32_t pid;
    unsigned lane;
    int64_t tid, begin_ns;
};

struct lanes {
    struct lane_row **slot; /* open addressing; the size is a power of two */
    size_t n, n_slots;
    struct lane_row *recent;     /* the last track that was asked for: most slices follow one of the same track */
    struct lanes_one_move *move; /* open addressing; the size is a power of two */
    size_t n_moves, n_move_slots;
};

struct lanes *lanes_new(void)
{
    struct lanes *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->n_slots = 256;
    l->slot = calloc(l->n_slots, sizeof *l->slot);
    if (l->slot)
        return l;
    free(l);
    return NULL;
}

void lanes_free(struct lanes *l)
{
    for (size_t i = 0; l && i < l->n_slots; i++) {
        for (unsigned k = 0; l->slot[i] && k < MOST_LANES; k++)
            free(l->slot[i]->lane[k].end_ns);
        free(l->slot[i]);
    }
    if (l) {
        free(l->slot);
        free(l->move);
    }
    free(l);
}

static size_t slot_of(const struct lanes *l, uint32_t pid, int64_t tid)
{
    size_t at = (size_t)hash_more(hash_u64(pid), (uint64_t)tid) & (l->n_slots - 1);
    while (l->slot[at] && (l->slot[at]->pid != pid || l->slot[at]->tid != tid))
        at = (at + 1) & (l->n_slots - 1);
    return at;
}

static bool slots_grow(struct lanes *l)
{
    struct lanes bigger = { .n_slots = l->n_slots * 2 };
    bigger.slot = calloc(bigger.n_slots, sizeof *bigger.slot);
    if (!bigger.slot)
        return false;
    for (size_t i = 0; i < l->n_slots; i++)
        if (l->slot[i])
            bigger.slot[slot_of(&bigger, l->slot[i]->pid, l->slot[i]->tid)] = l->slot[i];
    free(l->slot);
    l->slot = bigger.slot;
    l->n_slots = bigger.n_slots;
    return true;
}

struct lane_row *lanes_row(struct lanes *l, uint32_t pid, int64_t tid)
{
    if (l->recent && l->recent->pid == pid && l->recent->tid == tid)
        return l->recent;
    if (l->n * 2 >= l->n_slots && !slots_grow(l))
        return NULL;
    const size_t at = slot_of(l, pid, tid);
    if (!l->slot[at]) {
        l->slot[at] = calloc(1, sizeof **l->slot);
        if (!l->slot[at])
            return NULL;
        *l->slot[at] = (struct lane_row){ .pid = pid, .tid = tid, .last_begin_ns = INT64_MIN, .n_lanes = 1 };
        l->n++;
    }
    return l->recent = l->slot[at];
}

void lane_row_name(struct lane_row *r, const char *name)
{
    const size_t len = strnlen(name, sizeof r->name - 1);
    memcpy(r->name, name, len);
    r->name[len] = 0;
}

const char *lane_row_text(const struct lane_row *r)
{
    return r->name;
}

/* Closes the slices that end before this one begins. True: this one lies inside the innermost open slice, or none is
 * open. */
static bool lanes_fits(struct lanes_lane *k, int64_t begin_ns, int64_t end_ns)
{
    while (k->depth > 0 && k->end_ns[k->depth - 1] <= begin_ns)
        k->depth--;
    return k->depth == 0 || k->end_ns[k->depth - 1] >= end_ns;
}

static void push(struct lanes_lane *k, int64_t end_ns)
{
    if (k->depth == k->room) {
        const uint32_t room = k->room ? k->room * 2 : 16;
        int64_t *bigger = realloc(k->end_ns, room * sizeof *bigger);
        if (!bigger)
            return; /* without memory a later slice may get a lane in which it overlaps this one */
        k->end_ns = bigger;
        k->room = room;
    }
    k->end_ns[k->depth++] = end_ns;
}

unsigned lane_row_place(struct lane_row *r, int64_t begin_ns, int64_t end_ns, bool *is_new)
{
    *is_new = false;
    r->last = 0;
    if (begin_ns < r->last_begin_ns)
        return 0;
    r->last_begin_ns = begin_ns;
    unsigned lane = 0;
    while (lane < r->n_lanes && !lanes_fits(&r->lane[lane], begin_ns, end_ns))
        lane++;
    if (lane == MOST_LANES)
        lane--;
    *is_new = lane == r->n_lanes;
    r->n_lanes += *is_new;
    push(&r->lane[lane], end_ns);
    return r->last = lane;
}

unsigned lane_row_last(const struct lane_row *r)
{
    return r->last;
}

static struct lanes_one_move *move_slot(const struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns)
{
    size_t at = (size_t)hash_more(hash_more(hash_u64(pid), (uint64_t)tid), (uint64_t)begin_ns) & (l->n_move_slots - 1);
    struct lanes_one_move *m = &l->move[at];
    while (m->lane > 0 && (m->pid != pid || m->tid != tid || m->begin_ns != begin_ns))
        m = &l->move[at = (at + 1) & (l->n_move_slots - 1)];
    return m;
}

static bool moves_grow(struct lanes *l)
{
    struct lanes bigger = { .n_move_slots = l->n_move_slots ? l->n_move_slots * 2 : 256 };
    bigger.move = calloc(bigger.n_move_slots, sizeof *bigger.move);
    if (!bigger.move)
        return false;
    for (size_t i = 0; i < l->n_move_slots; i++)
        if (l->move[i].lane > 0)
            *move_slot(&bigger, l->move[i].pid, l->move[i].tid, l->move[i].begin_ns) = l->move[i];
    free(l->move);
    l->move = bigger.move;
    l->n_move_slots = bigger.n_move_slots;
    return true;
}

bool lanes_move(struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns, unsigned lane)
{
    if (l->n_moves * 2 >= l->n_move_slots && !moves_grow(l))
        return false;
    struct lanes_one_move *m = move_slot(l, pid, tid, begin_ns);
    l->n_moves += m->lane == 0;
    *m = (struct lanes_one_move){ pid, lane, tid, begin_ns };
    return true;
}

unsigned lanes_moved(const struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns)
{
    return l->n_moves > 0 ? move_slot(l, pid, tid, begin_ns)->lane : 0;
}
