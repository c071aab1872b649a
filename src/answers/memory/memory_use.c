/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_use.h"

#include <stdlib.h>

const char *const memory_purpose_name[MEMORY_PURPOSES] = {
    [PURPOSE_PARAMETER] = "parameters",
    [PURPOSE_OPTIMIZER_STATE] = "optimizer state",
    [PURPOSE_GRADIENT] = "gradients",
    [PURPOSE_ACTIVATION] = "activations",
    [PURPOSE_KEPT] = "kept beyond the step",
    [PURPOSE_TEMPORARY] = "temporary",
    [PURPOSE_OTHER] = "other",
    [PURPOSE_UNKNOWN] = "no stack recorded",
};

const char *const memory_purpose_key[MEMORY_PURPOSES] = {
    [PURPOSE_PARAMETER] = "parameter", [PURPOSE_OPTIMIZER_STATE] = "optimizer_state",
    [PURPOSE_GRADIENT] = "gradient",   [PURPOSE_ACTIVATION] = "activation",
    [PURPOSE_KEPT] = "kept",           [PURPOSE_TEMPORARY] = "temporary",
    [PURPOSE_OTHER] = "other",         [PURPOSE_UNKNOWN] = "unknown",
};

struct use_sums {
    struct memory_use *u;
    struct keys row; /* place and purpose */
    const struct memory_replay *r;
    const struct memory_steps *t;
    struct arena *mem;
    enum memory_use_by by;
    bool releases_gradients; /* in each step: what stays for several is something else */
};

/* Threads of the backward pass have no frames of Python: where other events have some, no stack is theirs. */
static bool use_is_backward(const struct memory_snapshot *s, stack_id stack)
{
    return stack == 0 ? s->has_stacks : (s->stack.at[stack].parts & PART_BACKWARD) != 0;
}

/* By zero_grad, or in the step after the one that allocated it. */
static bool use_is_gradient_release(const struct memory_replay *r, const struct memory_steps *t, uint32_t event)
{
    const struct memory_snapshot *s = r->s;
    const uint32_t alloc = r->pair[event - r->first];
    if (s->event.action[event] != SNAPSHOT_FREE || alloc == SNAPSHOT_NONE || !use_is_backward(s, s->event.stack[alloc]))
        return false;
    return s->stack.at[s->event.stack[event]].parts & PART_ZERO_GRAD ||
           memory_step_of(t, alloc) + 1 == memory_step_of(t, event);
}

/* alloc, end: events; SNAPSHOT_NONE: before the trace, or not in it. */
static enum memory_purpose use_purpose(const struct use_sums *k, stack_id stack, uint32_t alloc, uint32_t end)
{
    const struct memory_snapshot *s = k->r->s;
    const uint8_t parts = s->stack.at[stack].parts;
    const stack_id freed_by = end == SNAPSHOT_NONE ? 0 : s->event.stack[end];
    const uint32_t born = alloc == SNAPSHOT_NONE ? 0 : memory_step_of(k->t, alloc),
                   died = end == SNAPSHOT_NONE ? k->t->n : memory_step_of(k->t, end);
    const bool outlives = born < died || alloc == SNAPSHOT_NONE || (end == SNAPSHOT_NONE && k->t->n == 0);
    if (stack == 0 && (alloc == SNAPSHOT_NONE || !s->has_stacks))
        return PURPOSE_UNKNOWN;
    if (parts & PART_OPTIMIZER && !(parts & PART_ZERO_GRAD))
        return outlives ? PURPOSE_OPTIMIZER_STATE : PURPOSE_TEMPORARY;
    if (use_is_backward(s, stack)) {
        if (k->releases_gradients && died >= born + 2)
            return PURPOSE_KEPT;
        return outlives || s->stack.at[freed_by].parts & PART_ZERO_GRAD ? PURPOSE_GRADIENT : PURPOSE_TEMPORARY;
    }
    if (parts & PART_FORWARD && born < died)
        return PURPOSE_KEPT;
    if (parts & PART_FORWARD)
        return end != SNAPSHOT_NONE && s->stack.at[freed_by].parts & PART_FORWARD ? PURPOSE_TEMPORARY
                                                                                  : PURPOSE_ACTIVATION;
    if (parts & PART_MODULE)
        return PURPOSE_PARAMETER;
    return end != SNAPSHOT_NONE && use_is_backward(s, freed_by) ? PURPOSE_ACTIVATION : PURPOSE_OTHER;
}

static bool use_add(struct use_sums *k, stack_id stack, uint32_t alloc, uint32_t end, uint64_t bytes)
{
    const enum memory_purpose purpose = use_purpose(k, stack, alloc, end);
    const frame_id place = k->r->s->stack.at[stack].place;
    const uint32_t i = keys_add(&k->row, (uint64_t)(k->by == USE_BY_STACK ? stack : place) << 8 | purpose, k->mem);
    if (i == KEYS_NO_MEMORY)
        return false;
    if (i == k->u->row.n) {
        struct memory_use_row *to = list_add(&k->u->row, k->mem);
        if (!to)
            return false;
        *to = (struct memory_use_row){ .place = place, .purpose = purpose, .stack = stack };
    }
    k->u->row.at[i].bytes += bytes;
    k->u->row.at[i].n++;
    k->u->of[purpose] += bytes;
    k->u->bytes += bytes;
    return true;
}

static int use_order(const void *a, const void *b)
{
    const struct memory_use_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place) : (int)x->purpose - (int)y->purpose;
}

bool memory_use_before(struct memory_use *u, const struct memory_replay *r, const struct memory_steps *t,
                       uint32_t event, enum memory_use_by by, struct arena *mem)
{
    const struct snapshot_events *e = &r->s->event;
    struct use_sums k = { .u = u, .r = r, .t = t, .mem = mem, .by = by };
    bool is_done = true;
    *u = (struct memory_use){ 0 };
    for (uint32_t i = r->first; i < r->first + r->n && !k.releases_gradients; i++)
        k.releases_gradients = use_is_gradient_release(r, t, i);
    for (size_t i = 0; i < r->old.n && is_done; i++) {
        const struct snapshot_block *b = &r->s->block.at[r->old.at[i]];
        is_done = use_add(&k, b->stack, SNAPSHOT_NONE, SNAPSHOT_NONE, b->requested_bytes);
    }
    for (uint32_t i = r->first; i < r->first + r->n && is_done; i++) {
        const uint32_t other = r->pair[i - r->first];
        if (e->action[i] == SNAPSHOT_ALLOC && memory_is_alive(r, i, event))
            is_done = use_add(&k, e->stack[i], i, other, e->bytes[i]);
        else if (e->action[i] == SNAPSHOT_FREE && other == SNAPSHOT_NONE && i >= event) /* from before the trace */
            is_done = use_add(&k, 0, SNAPSHOT_NONE, i, e->bytes[i]);
    }
    if (u->row.n > 0)
        qsort(u->row.at, u->row.n, sizeof *u->row.at, use_order);
    return is_done && !arena_failed(mem);
}
