/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/spans.h"

#include <assert.h>

#include "base/memory/sort.h"

struct open_span {
    uint64_t key;
    uint32_t row, serial; /* serial 0: a free slot */
};
static const uint64_t KEY_OF_STREAM = UINT64_MAX << 32; /* a stream whatever the tag */

struct span_builder spans_new(struct spans *out, size_t most, struct arena *mem, struct arena *temp)
{
    struct span_builder s = { .out = out, .n_slots = 16 };
    while (s.n_slots < most * 4)
        s.n_slots *= 2;
    assert((s.n_slots & (s.n_slots - 1)) == 0); /* places are found by a mask */
    out->iteration = arena_take(mem, most, sizeof *out->iteration);
    out->begin = arena_take(mem, most, sizeof *out->begin);
    out->end = arena_take(mem, most, sizeof *out->end);
    s.first = arena_take(temp, most, sizeof *s.first);
    s.slot = arena_take(temp, s.n_slots, sizeof *s.slot);
    return s;
}

/* The slot of a span that is open, or the free one where it would be. */
static struct open_span *span_slot(const struct span_builder *s, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (s->n_slots - 1);
    while (s->slot[at].serial != 0 && s->slot[at].key != key)
        at = (at + 1) & (s->n_slots - 1);
    return &s->slot[at];
}

bool spans_add(struct span_builder *s, uint32_t row, uint32_t serial, uint16_t tag, uint16_t stream, uint64_t tick)
{
    const uint64_t key = (uint64_t)stream << 16 | tag >> 1;
    struct spans *t = s->out;
    if (tag % 2 == 1) {
        const struct open_span *open = span_slot(s, key);
        if (open->serial != serial)
            return false;
        t->end[open->row] = tick;
        return true;
    }
    struct open_span *first = span_slot(s, KEY_OF_STREAM | stream);
    if (first->serial != serial)
        *first = (struct open_span){ KEY_OF_STREAM | stream, (uint32_t)t->n, serial };
    s->first[t->n] = first->row;
    *span_slot(s, key) = (struct open_span){ key, (uint32_t)t->n, serial };
    t->iteration[t->n] = row;
    t->begin[t->n] = tick;
    t->end[t->n] = 0;
    t->n++;
    return true;
}

bool spans_finish(struct span_builder *s, struct arena *mem, const char *file, struct losses *lost)
{
    struct spans *t = s->out, sorted = { 0 };
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    sorted.iteration = arena_take(mem, t->n, sizeof *sorted.iteration);
    sorted.begin = arena_take(mem, t->n, sizeof *sorted.begin);
    sorted.end = arena_take(mem, t->n, sizeof *sorted.end);
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->end[i] != 0)
            order[sorted.n++] = i;
    losses_add(lost, LOSS_UNPAIRED, t->n - sorted.n, file, 0);
    if (!order_by_u32(order, sorted.n, s->first) || !order_by_u32(order, sorted.n, t->iteration))
        return false;
    order_apply(sorted.iteration, t->iteration, order, sorted.n, sizeof *sorted.iteration);
    order_apply(sorted.begin, t->begin, order, sorted.n, sizeof *sorted.begin);
    order_apply(sorted.end, t->end, order, sorted.n, sizeof *sorted.end);
    *t = sorted;
    return true;
}
