/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - counts and sums by two keys.
 *
 * Sums do not wrap: they stop at UINT64_MAX.
 */
#ifndef ASCOPE_ANALYSE_HOST_TALLY_H
#define ASCOPE_ANALYSE_HOST_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

struct host_tally {
    uint32_t a, b;
    uint64_t n, sum, least, most;
};

struct tallies {
    size_t n;
    struct host_tally *at;
};

/* Sums the rows in `row`, which is reordered, by the keys (a, b); the result is sorted by them. b may be NULL; without
 * values only n is counted. False: no memory. */
bool tally_up(struct tallies *out, uint32_t *row, size_t n, const uint32_t *a, const uint32_t *b, const uint64_t *value,
              struct arena *mem);

#endif
