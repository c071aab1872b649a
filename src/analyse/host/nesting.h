/* SPDX-License-Identifier: Apache-2.0 */
/* nesting.h - spans in the order of their nesting. */
#ifndef ASCOPE_ANALYSE_HOST_NESTING_H
#define ASCOPE_ANALYSE_HOST_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* order: rows by begin. Of those that begin together the longest is the outermost, and comes first; of those that end
 * together as well, the one that was recorded last: records are written when something ends, and what is inside ends first.
 * Moments, which have nothing inside, stay as they were recorded. False: no memory. */
bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns);

#endif
