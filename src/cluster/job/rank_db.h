/* SPDX-License-Identifier: Apache-2.0 */
/* rank_db.h - what tables say about a rank: those of the databases of the vendor's profilers, and ours, which have the
 * same; or those that would be written of a collection that was just analysed.
 *
 * A table or a column that does not exist is a part that the rank lacks. See table_reader.h.
 */
#ifndef ASCOPE_CLUSTER_JOB_RANK_DB_H
#define ASCOPE_CLUSTER_JOB_RANK_DB_H

#include "cluster/job/job.h"
#include "cluster/job/table_reader.h"

/* Reads the wanted parts. False: a file is not a database or cannot be read, or there is no memory. */
bool rank_db_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);
bool rank_tables_load(const struct job_rank *r, const struct table_source *source, unsigned parts, struct rank *out,
                      struct error *e);

#endif
