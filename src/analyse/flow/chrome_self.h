/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_self.h - own times of the slices of a Chrome trace, and which slice is inside which.
 *
 * A slice is inside another one of its track only if that one contains it. Each moment of a track belongs to one slice,
 * that which began last: of two slices that overlap in part, the first one counts until the second one begins. So own
 * times are never negative, and their sum is the time in which the track is busy.
 */
#ifndef ASCOPE_ANALYSE_FLOW_CHROME_SELF_H
#define ASCOPE_ANALYSE_FLOW_CHROME_SELF_H

#include "profile/chrome_trace.h"

enum { CHROME_NO_PARENT = UINT32_MAX };

struct chrome_rows {
    size_t first, end;        /* slices; of whole tracks */
    const bool *counts;       /* by slice - first: others are as if they were not there; NULL: all count */
    int64_t begin_ns, end_ns; /* only what lies in this range counts */
};

/* Both by slice - first. self_ns: 0 for slices that do not count. parent: the innermost slice that counts and contains
 * this one, or CHROME_NO_PARENT. */
void chrome_self(int64_t *self_ns, uint32_t *parent, const struct chrome_slices *s, const struct chrome_rows *rows);

#endif
