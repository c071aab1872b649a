/* SPDX-License-Identifier: Apache-2.0 */
/* summary_copies.h - copies of memory in each step, and what of them nothing else ran beside, for a summary.
 *
 * Copies are tasks of the type MEMCPY_ASYNC, of GPUs "Memcpy …", those inside of collectives included. A copy is in the step that contains its own
 * begin; a kernel or a collective in the step that contains the begin of the call that launched it.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_COPIES_H
#define ASCOPE_CLUSTER_SUMMARY_COPIES_H

#include "cluster/rank_summary.h"

/* Fills copy_ns and copy_exposed_ns of s->sums, which has its rows (s->steps.n + 1). False: no memory. */
bool summarise_copies(struct rank_summary *s, const struct rank *r);

#endif
