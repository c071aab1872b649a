/* SPDX-License-Identifier: Apache-2.0 */
/* view_ties.h - flow events between the ranks of a joint timeline: which slices are the same collective.
 *
 * Collectives are matched by collective_match.h. Flow events lead from the slice that begins last to all others, which
 * wait for it; for point-to-point operators from the send to the receive. Ranks that are not drawn are left out.
 */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_TIES_H
#define ASCOPE_VIEW_INPUTS_VIEW_TIES_H

#include "answers/run/collective_match.h"
#include "profile/chrome_trace.h"
#include "profile/profile.h"

struct view_member {
    uint32_t collective; /* of match.list */
    uint32_t slice;      /* of the joint trace */
    bool is_send;
};

struct view_ties {
    struct collective_match match; /* names and mem are the caller's */
    LIST(struct view_member) members;
};

/* Adds the next rank: its profile, and its drawn trace, whose slices begin at `first_slice` of the joint trace.
 * False: no memory. */
bool view_ties_add(struct view_ties *t, const struct profile *p, struct chrome_trace *drawn, size_t first_slice);
/* After the last rank: adds the flow events to the joint trace. False: no memory. */
bool view_ties_put(const struct view_ties *t, struct chrome_trace *out);

#endif
