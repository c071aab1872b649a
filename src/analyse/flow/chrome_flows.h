/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_flows.h - flow events of a Chrome trace as pairs of slices.
 *
 * A flow event is bound to a slice of its track by its time: a begin, and an end with binds_enclosing, to the innermost
 * slice around it; any other end to the next slice that begins. Events with the same category, name and id are one
 * flow. Events without a slice and ends without a begin, of which many files have thousands, are ignored. Ties of the
 * trace become pairs, too.
 */
#ifndef ASCOPE_ANALYSE_FLOW_CHROME_FLOWS_H
#define ASCOPE_ANALYSE_FLOW_CHROME_FLOWS_H

#include "profile/chrome_trace.h"

struct chrome_flow_pairs {
    size_t n;
    uint32_t *from, *to; /* rows of slices; by from, then as in time */
};

/* False only without memory. */
bool chrome_flows_bind(struct chrome_flow_pairs *out, const struct chrome_trace *t, struct arena *mem);

#endif
