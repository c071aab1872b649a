/* SPDX-License-Identifier: Apache-2.0 */
/* by_connection.h - rows found by the number that connects a call of the host with what it started.
 *
 * Of several rows with the same number the first is found.
 */
#ifndef ASCOPE_CLUSTER_RANK_BY_CONNECTION_H
#define ASCOPE_CLUSTER_RANK_BY_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

enum { CONNECTION_NONE = UINT32_MAX }; /* as the tables have it where nothing is connected */

struct by_connection {
    size_t n;
    const uint64_t *connection;
    uint32_t *order;
};

bool by_connection_init(struct by_connection *b, const uint64_t *connection, size_t n, struct arena *mem);
uint32_t by_connection_find(const struct by_connection *b, uint64_t connection); /* the row, or NO_ROW */

#endif
