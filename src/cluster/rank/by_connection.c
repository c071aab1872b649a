/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include "base/memory/sort.h"
#include "profile/calls.h"

bool by_connection_init(struct by_connection *b, const uint64_t *connection, size_t n, struct arena *mem)
{
    *b = (struct by_connection){ n, connection, arena_take(mem, n, sizeof *b->order) };
    if (!b->order)
        return false;
    order_fill(b->order, n);
    return order_by_u64(b->order, n, connection);
}

uint32_t by_connection_find(const struct by_connection *b, uint64_t connection)
{
    if (connection == CONNECTION_NONE)
        return NO_ROW;
    const size_t at = order_first_u64(b->order, b->n, b->connection, connection);
    return at < b->n && b->connection[b->order[at]] == connection ? b->order[at] : NO_ROW;
}
