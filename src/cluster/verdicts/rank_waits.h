/* SPDX-License-Identifier: Apache-2.0 */
/* rank_waits.h - how long the other members of collectives wait for a rank that joins last.
 *
 * The shortest member of a collective joined last, and its duration is that of the transfer. What the others take
 * longer is waiting, except while they compute: a collective beside kernels costs nothing. So the wait of a member is
 * at least the exposed part of its time, minus the transfer. A collective counts with the mean over the other members;
 * waits are summed up by group, rank and step.
 *
 * Sends and receives do not count: a pipeline waits in them anyway, and in several at the same time.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_RANK_WAITS_H
#define ASCOPE_CLUSTER_VERDICTS_RANK_WAITS_H

#include "answers/run/collective_match.h"
#include "base/memory/tuples.h"

struct rank_wait {
    name_id group;
    uint32_t rank, step; /* numbers in the match, and in the steps; step: NO_ROW: there are no steps */
    double us;
};

struct rank_waits {
    struct tuples keys; /* (group, rank, step) */
    LIST(struct rank_wait) list;
    bool *has_p2p; /* by rank: it sends or receives */
    struct arena *mem;
};

/* `steps` has the names of the steps that are compared; collectives in other steps, or in none, do not count. NULL:
 * there are no steps, and all collectives count. False: no memory. */
bool rank_waits_find(struct rank_waits *w, const struct collective_match *m, const struct keys *steps,
                     struct arena *mem);

/* How long the members of a group wait for a rank in a step, for the group in which that is longest. */
double rank_waits_step_us(const struct rank_waits *w, uint32_t rank, uint32_t step);
/* The same in the lower median of its n_steps steps, so that a single one does not count. `scratch` has room for
 * n_steps numbers. */
double rank_waits_usual_us(const struct rank_waits *w, uint32_t rank, size_t n_steps, double *scratch);

#endif
