/* SPDX-License-Identifier: Apache-2.0 */
/* nesting.h - spans in the order of their nesting. */
#ifndef ASCOPE_ANALYSE_HOST_NESTING_H
#define ASCOPE_ANALYSE_HOST_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts rows by begin. Of spans that begin together, the longest is the outermost and comes first. Of spans that also
 * end together, the one that was recorded last comes first: a record is written when its span ends, and inner spans end
 * first. Spans without duration stay in the order of the records. False: no memory. */
bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns);

#endif
