/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_flows.h - flow events of a trace in Chrome's form as pairs of slices.
 *
 * A flow event is bound to a slice of its track by time: a begin, and an end that says so, to the innermost slice around it;
 * another end to the next slice that begins. Events of one flow have category, name and id in common. What is bound to no slice, and
 * an end without a begin, is no pair: writers leave thousands of them.
 * Ties of the trace are pairs, too.
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
