/* SPDX-License-Identifier: Apache-2.0 */
/* rank_summarise.h - from all that is known of a rank to what the modes need of it. */
#ifndef ASCOPE_CLUSTER_RANK_RANK_SUMMARISE_H
#define ASCOPE_CLUSTER_RANK_RANK_SUMMARISE_H

#include "cluster/rank/rank_summary.h"

/* Columns that are kept whole are lent from the rank, the others are taken from its memory. exit_code: of the analysis
 * of the rank. False: no memory. */
bool rank_summarise(const struct rank *r, int exit_code, struct rank_summary *out, struct error *e);

#endif
