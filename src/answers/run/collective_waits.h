/* SPDX-License-Identifier: Apache-2.0 */
/* collective_waits.h - what a rank did in a collective: it waited for the last member, then it transferred.
 *
 * Use: match_add() for each rank of the job, match_group_size() for each group whose size is known, match_finish(),
 * then collective_divide() for each collective of each rank, with the id that match_add() gave it. Nothing is
 * allocated, and nothing is kept: the sums are the caller's, by step, group or operator. Kernels of NCCL, operators of
 * HCCL and calls of gloo are the same here.
 *
 * Members of a collective without a root end together, so the shortest member joined last, whatever the clocks say.
 * What the others take longer is waiting for it. With a root, and between a send and its receive, a member that has
 * ended before another one begins did not wait for that one: there the begins count, on the common clock.
 *
 * Where it cannot be known, all of the time is "waiting or transfer", and `why` says what is missing. Which ranks are
 * missing: those of the group (parallel_group_info, "Process Group Ranks", world_size) that are not in m->rank.
 */
#ifndef ASCOPE_ANSWERS_RUN_COLLECTIVE_WAITS_H
#define ASCOPE_ANSWERS_RUN_COLLECTIVE_WAITS_H

#include "answers/run/collective_match.h"

enum collective_why {
    COLLECTIVE_KNOWN,
    COLLECTIVE_PEER,    /* a send or receive whose other end is unknown */
    COLLECTIVE_MEMBERS, /* members were not read, or did not record it */
    COLLECTIVE_CLOCKS,  /* the begins of its members cannot be compared */
};

struct collective_time {
    enum collective_why why;
    int64_t waiting_ns, transfer_ns; /* they add up to its duration; 0 unless `why` is COLLECTIVE_KNOWN */
    uint32_t last;                   /* number of the rank that joined last; NO_ROW: unknown */
};

/* rank: its number in the order of adding. */
struct collective_time collective_divide(const struct collective_match *m, uint32_t rank, uint32_t id, int64_t begin_ns,
                                         int64_t end_ns);

#endif
