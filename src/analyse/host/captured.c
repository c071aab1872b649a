/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <stdlib.h>

#include "base/memory/sort.h"

static int by_capture(const void *a, const void *b)
{
    const struct capture *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->batch < y->batch ? -1 : x->batch > y->batch;
}

/* The n-th capture into a stream is its n-th batch. The first end record of a model ends its capture. As in the
 * reference, each further end record counts as a capture. */
static bool find_captures(struct captured *c, struct arena *mem)
{
    const struct capture_streams *s = &c->p->host.records.capture_streams;
    uint32_t *order = arena_take(mem, s->n, sizeof *order);
    bool *ended = arena_take(mem, UINT16_MAX + 1, sizeof *ended);
    if (!order || !ended)
        return false;
    order_fill(order, s->n);
    if (!order_by_u64(order, s->n, s->time) || !order_by_u16(order, s->n, s->model_stream) ||
        !order_by_u16(order, s->n, s->device))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t row = order[i], before = i > 0 ? order[i - 1] : row;
        const bool same_stream =
            i > 0 && s->device[row] == s->device[before] && s->model_stream[row] == s->model_stream[before];
        if (same_stream && s->time[row] == s->time[before] && s->status[row] == s->status[before] &&
            s->model[row] == s->model[before] && s->original_stream[row] == s->original_stream[before])
            continue;
        if (s->status[row] == 1 && !ended[s->model[row]]) {
            ended[s->model[row]] = true;
            continue;
        }
        const struct capture *last = c->captures.n > 0 ? &c->captures.at[c->captures.n - 1] : NULL;
        const bool follows = last && last->device == s->device[row] && last->stream == s->model_stream[row];
        const uint16_t batch = follows ? (uint16_t)(last->batch + 1) : 0;
        struct capture *slot = list_add(&c->captures, mem);
        if (!slot)
            return false;
        *slot = (struct capture){ s->device[row], s->model_stream[row], batch, s->model[row],
                                  s->status[row] == 0 ? s->time[row] : 0 };
    }
    return true;
}

uint32_t captured_model(const struct captured *c, size_t row)
{
    const struct tracks *t = &c->p->host.records.tracks;
    const struct capture key = { .device = t->device[row], .stream = t->stream[row], .batch = t->batch[row] };
    const struct capture *found =
        c->captures.n > 0 ? bsearch(&key, c->captures.at, c->captures.n, sizeof key, by_capture) : NULL;
    return found && t->time[row] >= found->since ? found->model : NO_MODEL;
}

static uint64_t captured_key(uint32_t device, uint32_t stream, uint32_t task)
{
    return (uint64_t)(device & 0xFFFF) << 48 | (uint64_t)(stream & 0xFFFF) << 32 | task;
}

static bool order_ops(struct captured *c, struct arena *mem)
{
    const struct captured_ops *o = &c->p->host.records.captured_ops;
    uint64_t *key = arena_take(mem, o->n, sizeof *key);
    c->op_order = arena_take(mem, o->n, sizeof *c->op_order);
    if (!key || !c->op_order)
        return false;
    for (size_t i = 0; i < o->n; i++)
        key[i] = captured_key(o->device[i], o->stream[i], o->task[i]);
    order_fill(c->op_order, o->n);
    return order_by_u64(c->op_order, o->n, key);
}

static uint64_t op_key(const struct captured_ops *o, uint32_t row)
{
    return captured_key(o->device[row], o->stream[row], o->task[row]);
}

uint32_t captured_op(const struct captured *c, size_t row)
{
    const struct tracks *t = &c->p->host.records.tracks;
    const struct captured_ops *o = &c->p->host.records.captured_ops;
    const uint64_t key = captured_key(t->device[row], t->stream[row], t->task[row]);
    const size_t after = SEARCH_FIRST_NOT(i, 0, o->n, op_key(o, c->op_order[i]) <= key);
    const uint32_t at = after > 0 ? c->op_order[after - 1] : NO_ROW;
    return at != NO_ROW && op_key(o, at) == key ? at : NO_ROW;
}

bool captured_init(struct captured *c, const struct profile *p, struct arena *mem)
{
    *c = (struct captured){ .p = p };
    return find_captures(c, mem) && order_ops(c, mem);
}
