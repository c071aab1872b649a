/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_growth.h"

#include <stdlib.h>

enum { RISES_LEAST = 4 };

/* Growth since interval `s`: without gaps that are long for it, at the end as well; not less and less, as a cache that
 * fills: a third of the rises and of the bytes in the second half at least; and the last third always above the first:
 * sizes that vary rise and fall. */
static bool growth_lasts(const uint64_t *kept, const uint64_t *live, uint32_t n, uint32_t s)
{
    const uint32_t span = n - s, third = span / 3;
    uint32_t n_rises = 0, n_late = 0, last = s, gap = 0;
    for (uint32_t k = s + 1; k < n; k++)
        if (kept[k] > kept[k - 1]) {
            gap = k - last > gap ? k - last : gap;
            last = k;
            n_rises++;
            n_late += k > s + span / 2;
        }
    gap = n - 1 - last > gap ? n - 1 - last : gap;
    if (n_rises < RISES_LEAST || gap > 3 * ((span + n_rises - 1) / n_rises) || 3 * n_late < n_rises)
        return false;
    const uint64_t all = kept[n - 1] - kept[s], half = kept[n - 1] - kept[s + span / 2];
    uint64_t early = 0, late = UINT64_MAX;
    for (uint32_t k = 0; k < third; k++) {
        early = live[s + k] > early ? live[s + k] : early;
        late = live[n - 1 - k] < late ? live[n - 1 - k] : late;
    }
    return half >= all / 3 && (third == 0 || late > early);
}

bool memory_grows(const uint64_t *live, uint32_t n, uint32_t *since)
{
    uint64_t kept[MEMORY_STEPS_MOST];
    if (n < GROWTH_STEPS_LEAST || n > MEMORY_STEPS_MOST)
        return false;
    kept[n - 1] = live[n - 1];
    for (uint32_t k = n - 1; k-- > 0;)
        kept[k] = live[k] < kept[k + 1] ? live[k] : kept[k + 1];
    const uint32_t span_least = n / 3 > GROWTH_STEPS_LEAST - 1 ? n / 3 : GROWTH_STEPS_LEAST - 1;
    for (uint32_t s = 0; s + span_least <= n; s++)
        if (s + 1 < n && kept[s + 1] > kept[s] && growth_lasts(kept, live, n, s)) {
            *since = s + 1;
            return true;
        }
    return false;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

struct growth_share {
    uint64_t kept, all; /* bytes allocated below a frame */
};

static double growth_share_of(const struct growth_share *share)
{
    return share->all > 0 ? (double)share->kept / (double)share->all : 0;
}

/* The line that keeps: what it calls may allocate for others, too, which release it. So it is the innermost frame of the
 * program below which nearly as much is kept as below any other of the stack. */
static frame_id growth_place(const struct memory_snapshot *s, const struct growth_share *share, stack_id stack)
{
    static const double nearly = 0.75;
    double most = 0;
    frame_id place = s->stack.at[stack].place;
    for (stack_id i = stack; i > 0; i = s->stack.at[i].inner) {
        const frame_id f = s->stack.at[i].outermost;
        if (s->frame.at[f].is_program && growth_share_of(&share[f]) > most)
            most = growth_share_of(&share[f]);
    }
    for (stack_id i = stack; i > 0 && most > 0; i = s->stack.at[i].inner) {
        const frame_id f = s->stack.at[i].outermost;
        if (s->frame.at[f].is_program && growth_share_of(&share[f]) >= nearly * most)
            place = f;
    }
    return place;
}

/* The line of each stack. NULL: no memory. */
static frame_id *growth_places(const struct memory_replay *r, struct arena *mem)
{
    const struct memory_snapshot *s = r->s;
    struct growth_share *of_stack = arena_take(mem, s->stack.n, sizeof *of_stack);
    struct growth_share *share = arena_take(mem, s->frame.n + 1, sizeof *share);
    frame_id *place = arena_take(mem, s->stack.n, sizeof *place);
    if (!of_stack || !share || !place)
        return NULL;
    for (uint32_t i = r->first; i < r->first + r->n; i++)
        if (s->event.action[i] == SNAPSHOT_ALLOC) {
            struct growth_share *to = &of_stack[s->event.stack[i]];
            to->all += s->event.bytes[i];
            to->kept += r->pair[i - r->first] == SNAPSHOT_NONE ? s->event.bytes[i] : 0;
        }
    for (stack_id k = 1; k < s->stack.n; k++)
        for (stack_id i = of_stack[k].all > 0 ? k : 0; i > 0; i = s->stack.at[i].inner) {
            share[s->stack.at[i].outermost].all += of_stack[k].all;
            share[s->stack.at[i].outermost].kept += of_stack[k].kept;
        }
    for (stack_id k = 0; k < s->stack.n; k++)
        place[k] = of_stack[k].kept > 0 ? growth_place(s, share, k) : s->stack.at[k].place;
    return place;
}

/* ---- events by stack ---------------------------------------------------------------------------------------------- */

/* Allocations by the group that they belong to, in their order. */
struct growth_groups {
    const frame_id *place; /* of each stack */
    uint32_t n;            /* groups */
    uint32_t *first;       /* n + 1: of `event` */
    uint32_t *event;
};

/* A group is a stack, or the place of one. Groups that keep too few blocks to grow are left empty. */
static bool growth_group(struct growth_groups *g, const struct memory_replay *r, const uint32_t *group_of, uint32_t n,
                         struct arena *mem)
{
    const struct snapshot_events *e = &r->s->event;
    uint32_t *kept = arena_take(mem, n, sizeof *kept);
    g->n = n;
    g->first = arena_take(mem, (size_t)n + 2, sizeof *g->first);
    if (!kept || !g->first)
        return false;
    for (uint32_t i = r->first; i < r->first + r->n; i++)
        if (e->action[i] == SNAPSHOT_ALLOC && group_of[e->stack[i]] < n)
            kept[group_of[e->stack[i]]] += r->pair[i - r->first] == SNAPSHOT_NONE;
    for (uint32_t i = r->first; i < r->first + r->n; i++)
        if (e->action[i] == SNAPSHOT_ALLOC && group_of[e->stack[i]] < n && kept[group_of[e->stack[i]]] >= RISES_LEAST)
            g->first[group_of[e->stack[i]] + 2]++;
    for (uint32_t k = 2; k <= n + 1; k++)
        g->first[k] += g->first[k - 1];
    g->event = arena_take(mem, (size_t)g->first[n + 1] + 1, sizeof *g->event);
    if (!g->event)
        return false;
    for (uint32_t i = r->first; i < r->first + r->n; i++)
        if (e->action[i] == SNAPSHOT_ALLOC && group_of[e->stack[i]] < n && kept[group_of[e->stack[i]]] >= RISES_LEAST)
            g->event[g->first[group_of[e->stack[i]] + 1]++] = i;
    return true;
}

/* What a group has in use at the end of each interval. */
static void growth_live(uint64_t live[MEMORY_STEPS_MOST], const struct growth_groups *g, uint32_t group,
                        const struct memory_replay *r, const struct memory_steps *t)
{
    for (uint32_t k = 0; k < t->n; k++)
        live[k] = 0;
    for (uint32_t i = g->first[group]; i < g->first[group + 1]; i++) {
        const uint32_t event = g->event[i], end = r->pair[event - r->first];
        const uint32_t from = memory_step_of(t, event), to = end == SNAPSHOT_NONE ? t->n : memory_step_of(t, end);
        if (from < t->n)
            live[from] += r->s->event.bytes[event];
        if (to < t->n)
            live[to] -= r->s->event.bytes[event];
    }
    for (uint32_t k = 1; k < t->n; k++)
        live[k] += live[k - 1];
}

/* A group grows: its stack counts for the place of the stack. */
static bool growth_add(struct memory_growths *out, const struct memory_replay *r, const struct memory_steps *t,
                       const struct growth_groups *g, uint32_t group, const uint64_t *live, uint32_t since,
                       struct arena *mem)
{
    const stack_id stack = r->s->event.stack[g->event[g->first[group]]];
    const frame_id place = g->place[stack];
    struct memory_growth *to = NULL;
    for (size_t i = 0; i < out->at.n && !to; i++)
        to = out->at.at[i].place == place ? &out->at.at[i] : NULL;
    if (!to) {
        to = list_add(&out->at, mem);
        if (!to)
            return false;
        *to = (struct memory_growth){ .place = place, .since = UINT32_MAX };
    }
    const uint64_t bytes = live[t->n - 1] - live[since - 1];
    for (uint32_t i = g->first[group]; i < g->first[group + 1]; i++) {
        const uint32_t event = g->event[i], step = memory_step_of(t, event);
        if (step < since || step == t->n)
            continue;
        if (r->pair[event - r->first] == SNAPSHOT_NONE) {
            to->n_blocks++;
            to->block_bytes += memory_block_bytes(r->s->event.bytes[event]);
        }
        to->allocated_bytes += r->s->event.bytes[event];
    }
    to->bytes += bytes;
    if (bytes > to->stack_bytes) {
        to->stack_bytes = bytes;
        to->stack = stack;
    }
    to->step_bytes += (double)bytes / ((double)(t->n - since) * t->steps_each);
    if (since * t->steps_each < to->since) {
        to->since = since * t->steps_each;
        to->steps = (t->n - since) * t->steps_each;
    }
    return true;
}

static bool growth_of_groups(struct memory_growths *out, const struct memory_replay *r, const struct memory_steps *t,
                             uint32_t *group_of, uint32_t n, const frame_id *place, struct arena *mem)
{
    struct growth_groups g = { .place = place };
    uint64_t live[MEMORY_STEPS_MOST];
    uint32_t since = 0;
    if (!growth_group(&g, r, group_of, n, mem))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (g.first[k] == g.first[k + 1])
            continue;
        growth_live(live, &g, k, r, t);
        if (memory_grows(live, t->n, &since) && !growth_add(out, r, t, &g, k, live, since, mem))
            return false;
    }
    return true;
}

static int growth_order(const void *a, const void *b)
{
    const struct memory_growth *x = a, *y = b;
    return x->step_bytes < y->step_bytes   ? 1
           : x->step_bytes > y->step_bytes ? -1
                                           : (x->place > y->place) - (x->place < y->place);
}

bool memory_growth_find(struct memory_growths *out, const struct memory_replay *r, const struct memory_steps *t,
                        struct arena *mem)
{
    const uint32_t n_stacks = (uint32_t)r->s->stack.n, n_frames = (uint32_t)r->s->frame.n;
    uint32_t *group_of = arena_take(mem, n_stacks, sizeof *group_of);
    *out = (struct memory_growths){ 0 };
    if (!group_of)
        return false;
    if (t->n < GROWTH_STEPS_LEAST)
        return true;
    const frame_id *place = growth_places(r, mem);
    if (!place)
        return false;
    for (uint32_t i = 0; i < n_stacks; i++)
        group_of[i] = i;
    if (!growth_of_groups(out, r, t, group_of, n_stacks, place, mem))
        return false;
    /* the same line with a different stack in each step: places of which no stack grows by itself */
    for (uint32_t i = 1; i < n_stacks; i++) {
        group_of[i] = place[i];
        for (size_t k = 0; k < out->at.n; k++)
            if (out->at.at[k].place == group_of[i])
                group_of[i] = SNAPSHOT_NONE;
    }
    group_of[0] = SNAPSHOT_NONE;
    if (!growth_of_groups(out, r, t, group_of, n_frames, place, mem))
        return false;
    if (out->at.n > 0)
        qsort(out->at.at, out->at.n, sizeof *out->at.at, growth_order);
    for (size_t i = 0; i < out->at.n; i++) {
        const struct memory_growth *g = &out->at.at[i];
        out->step_bytes += g->step_bytes;
        out->step_block_bytes += g->bytes > 0 ? g->step_bytes * (double)g->block_bytes / (double)g->bytes : 0;
    }
    return !arena_failed(mem);
}
