/* SPDX-License-Identifier: Apache-2.0 */
/* summary_parts.h - registry: the parts of the summary of a rank, each made of its columns by a file of its own. */
#ifndef ASCOPE_CLUSTER_RANK_SUMMARY_PARTS_H
#define ASCOPE_CLUSTER_RANK_SUMMARY_PARTS_H

#include "answers/run/collective_match.h"
#include "cluster/rank/rank_summary.h"

/* summary_calls.c: counts, sums and quartiles of the calls of the runtime by name and step, for a summary. */
/* Fills s->calls; s->steps are there. False: no memory. */
bool summarise_calls(struct rank_summary *s, const struct rank *r);

/* summary_collectives.c: collectives with what the device did before and during each, for a summary.
 *
 * The time before a collective begins when the one before it has ended, or with the step, whichever is later: that is
 * what its rank was busy with when others waited for it. */
/* Fills s->collectives but its ops, and the last three columns of s->sums, which has its rows. False: no memory. */
bool summarise_collectives(struct rank_summary *s, const struct rank *r);

/* Adds the collectives of a rank to those of the others. False: no memory. */
bool summary_match(struct collective_match *m, const struct rank_summary *s, uint32_t *id);

/* summary_copies.c: copies of memory in each step, and what of them nothing else ran beside, for a summary.
 *
 * Copies are tasks of the type MEMCPY_ASYNC, of GPUs "Memcpy …", those inside of collectives included. A copy is in the
 * step that contains its own begin; a kernel or a collective in the step that contains the begin of the call that
 * launched it. */
/* Fills copy_ns and copy_exposed_ns of s->sums, which has its rows (s->steps.n + 1). False: no memory. */
bool summarise_copies(struct rank_summary *s, const struct rank *r);

/* summary_exposed.c: when collectives ran and no kernel did, for a summary. */
/* Fills s->exposed. False: no memory. */
bool summarise_exposed(struct rank_summary *s, const struct rank *r);

/* summary_gaps.c: when neither a kernel nor a collective ran, and why, for a summary.
 *
 * Of each step, and of what is in none, the longest gaps are kept; a gap is in the step that contains its begin. The
 * reason is found from the tasks before and behind it, the calls that launched them, and the operators that made these
 * calls. */
/* Fills s->gaps; s->steps are there. False: no memory. */
bool summarise_gaps(struct rank_summary *s, const struct rank *r);

/* summary_marks.c: marks and ranges with the times of their tasks and operators, for a summary. */
/* Fills s->marks. False: no memory. */
bool summarise_marks(struct rank_summary *s, const struct rank *r);

/* summary_runs.c: durations of kernels by name, type, shapes and step, for a summary. */
/* Fills s->kernels; s->steps are there. False: no memory. */
bool summarise_runs(struct rank_summary *s, const struct rank *r);

/* summary_step_trace.c: computing, communication and free time of a rank: whose source has no table of them, and of its
 * steps by our rule. */
bool summarise_step_trace(struct rank_summary *s, const struct rank *r); /* false: no memory */

/* Steps that begin and end, and are divided, as those of a collection are (analyse/framework/steps/step_bounds.h): free
 * is the time in which neither kernels nor collectives nor copies ran. Of a host without a device computing is all but
 * waiting in collectives. */
bool summarise_own_steps(struct rank_summary *s, const struct rank *r); /* false: no memory */

#endif
