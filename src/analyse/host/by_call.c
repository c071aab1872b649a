/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include "base/memory/sort.h"
#include "profile/calls.h"

bool by_call_init(struct by_call *b, struct arena *mem, const uint32_t *call, size_t n)
{
    *b = (struct by_call){ .call = call, .order = arena_take(mem, n, sizeof *b->order), .n = n };
    if (!b->order)
        return false;
    order_fill(b->order, n);
    return order_by_u32(b->order, n, call);
}

/* Calls are requested roughly in ascending order. The search starts where the last one ended and doubles its distance
 * each time. */
size_t by_call_first(struct by_call *b, uint32_t call)
{
    size_t low = b->last, high = b->last;
    if (low < b->n && b->call[b->order[low]] < call) {
        for (size_t step = 1; high < b->n && b->call[b->order[high]] < call; step *= 2) {
            low = high + 1;
            high = step < b->n - high ? high + step : b->n;
        }
    } else {
        for (size_t step = 1; low > 0 && b->call[b->order[low - 1]] >= call; step *= 2) {
            high = low - 1;
            low = step < low ? low - step : 0;
        }
    }
    b->last = low + order_first_u32(b->order + low, high - low, b->call, call);
    return b->last;
}

bool by_call_has(const struct by_call *b, size_t at, uint32_t call)
{
    return at < b->n && b->call[b->order[at]] == call;
}

uint32_t by_call_last(struct by_call *b, uint32_t call)
{
    const size_t after = by_call_first(b, call + 1);
    return after > 0 && b->call[b->order[after - 1]] == call ? b->order[after - 1] : NO_ROW;
}

uint32_t by_call_named(struct by_call *b, struct arena *mem, uint32_t call, const uint64_t *name, uint64_t wanted)
{
    if (!b->by_name) {
        b->by_name = arena_take(mem, b->n, sizeof *b->by_name);
        if (!b->by_name)
            return NO_ROW;
        order_fill(b->by_name, b->n);
        if (!order_by_u64(b->by_name, b->n, name) || !order_by_u32(b->by_name, b->n, b->call))
            return NO_ROW;
    }
    const uint32_t *by_name = b->by_name;
    const size_t after = SEARCH_FIRST_NOT(
        i, 0, b->n, b->call[by_name[i]] < call || (b->call[by_name[i]] == call && name[by_name[i]] <= wanted));
    const uint32_t row = after > 0 ? by_name[after - 1] : NO_ROW;
    return row != NO_ROW && b->call[row] == call && name[row] == wanted ? row : NO_ROW;
}
