/* SPDX-License-Identifier: Apache-2.0 */
/* set_order.h - ranks in the order in which a set of Python holds them.
 *
 * msprof-analyze keeps the ranks of a group in a set and writes it as it is: (8, 2), but (0, 1). Such a text is the key
 * of a group in cluster_communication.json, by which other programs look it up. It is the order of a hash table to
 * which the ranks were added in ascending order; up to rank 7 it is ascending.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_SET_ORDER_H
#define ASCOPE_CLUSTER_RESULTS_SET_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

/* `rank` is ascending, and is returned itself where there is no memory. */
const int64_t *set_order(const int64_t *rank, size_t n, struct arena *mem);

#endif
