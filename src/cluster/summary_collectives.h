/* SPDX-License-Identifier: Apache-2.0 */
/* summary_collectives.h - collectives with what the device did before and during each, for a summary.
 *
 * The time before a collective begins when the one before it has ended, or with the step, whichever is later: that is what its rank
 * was busy with when others waited for it.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_COLLECTIVES_H
#define ASCOPE_CLUSTER_SUMMARY_COLLECTIVES_H

#include "answers/collective_match.h"
#include "cluster/rank_summary.h"

/* Fills s->collectives but its ops, and the last three columns of s->sums, which has its rows. False: no memory. */
bool summarise_collectives(struct rank_summary *s, const struct rank *r);

/* Adds the collectives of a rank to those of the others. False: no memory. */
bool summary_match(struct collective_match *m, const struct rank_summary *s, uint32_t *id);

#endif
