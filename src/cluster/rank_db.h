/* SPDX-License-Identifier: Apache-2.0 */
/* rank_db.h - what databases say about a rank: those of the vendor's profilers, and ours, which have the same tables.
 *
 * They are opened for reading only. A table or a column that is not there is a part that is not known. Anything may be in them:
 * a table has no more rows than its file has bytes for, times are held to 2^62 ns, invalid numbers count as losses.
 */
#ifndef ASCOPE_CLUSTER_RANK_DB_H
#define ASCOPE_CLUSTER_RANK_DB_H

#include "cluster/job.h"

/* Only those of the parts. False: a file is no database or cannot be read, or there is no memory. */
bool rank_db_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);

#endif
