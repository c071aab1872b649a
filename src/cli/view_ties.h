/* SPDX-License-Identifier: Apache-2.0 */
/* view_ties.h - flow events between the ranks of a joint timeline: which slices are the same collective.
 *
 * Collectives belong together as collective_match.h matches them. Of each, the slice that begins last is tied to all others, which
 * wait for it; of a send and its receive, the send to the receive. Not all of them need to be drawn.
 */
#ifndef ASCOPE_CLI_VIEW_TIES_H
#define ASCOPE_CLI_VIEW_TIES_H

#include "cluster/collective_match.h"
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

/* The next rank: its profile, and the trace that was drawn of it, whose slices begin at `first_slice` of the joint one. False: no memory. */
bool view_ties_add(struct view_ties *t, const struct profile *p, struct chrome_trace *drawn, size_t first_slice);
/* Behind the last rank, into the joint trace. False: no memory. */
bool view_ties_put(const struct view_ties *t, struct chrome_trace *out);

#endif
