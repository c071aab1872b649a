/* SPDX-License-Identifier: Apache-2.0 */
/* rank_db.h - what databases say about a rank: those of the vendor's profilers, and ours, which have the same tables.
 *
 * They are opened for reading only. A table or a column that does not exist is a part that the rank lacks. Contents are not trusted: a table
 * may not have more rows than its file has bytes for, times are limited to 2^62 ns, and invalid numbers are counted as losses.
 */
#ifndef ASCOPE_CLUSTER_RANK_DB_H
#define ASCOPE_CLUSTER_RANK_DB_H

#include "cluster/job.h"

/* Reads the wanted parts. False: a file is not a database or cannot be read, or there is no memory. */
bool rank_db_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);

#endif
