/* SPDX-License-Identifier: Apache-2.0 */
/* rank_reload.h - single tasks and operators of a rank, for modes to which its summary is not enough. */
#ifndef ASCOPE_CLUSTER_JOB_RANK_RELOAD_H
#define ASCOPE_CLUSTER_JOB_RANK_RELOAD_H

#include "cluster/modes.h"

/* False: no memory, see e. *is_there: there is more than a summary of the rank, and it could be read. */
bool rank_reload(const struct mode_context *c, int64_t rank, unsigned parts, struct arena *mem, struct rank *out,
                 bool *is_there, struct error *e);

/* The line about ranks of which only summaries are here. */
bool note_absent(struct results *out, const struct mode_context *c, size_t n_ranks);

#endif
