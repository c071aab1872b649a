/* SPDX-License-Identifier: Apache-2.0 */
/* summary_exposed.h - when collectives ran and no kernel did, for a summary.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_EXPOSED_H
#define ASCOPE_CLUSTER_SUMMARY_EXPOSED_H

#include "cluster/rank_summary.h"

/* Fills s->exposed. False: no memory. */
bool summarise_exposed(struct rank_summary *s, const struct rank *r);

#endif
