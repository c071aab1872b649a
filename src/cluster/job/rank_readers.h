/* SPDX-License-Identifier: Apache-2.0 */
/* rank_readers.h - registry: the readers of a rank, one for each form in which its data may be. */
#ifndef ASCOPE_CLUSTER_JOB_RANK_READERS_H
#define ASCOPE_CLUSTER_JOB_RANK_READERS_H

#include <jansson.h>

#include "analyse/device/device_analysis.h"
#include "base/memory/arena.h"
#include "cluster/job/job.h"
#include "cluster/job/table_reader.h"
#include "cluster/modes.h"

/* rank_databases.c: copies of the ranks' databases, with what the modes p2p_pairing and pp_chart found for each rank.
 *
 * MindStudio Insight reads both from the database of a rank: the column opConnectionId of COMMUNICATION_OP, and the
 * table StepTaskInfo. The recorded databases are never changed: a copy has the same path below the output directory as
 * its original below the job's, and is renamed when it is complete. The rows are those of cluster_analysis.db, which
 * has them in the order of the ranks. */

struct rank_databases {
    const char *results;     /* cluster_analysis.db */
    const char *dir;         /* of the copies; it exists */
    const char *const *root; /* real paths of the job's directories */
    size_t n_roots;
};

/* Ranks that have no copy are lines of the job's notes. *n: copies that were written. False: see e. */
bool rank_databases_write(struct job *j, const struct rank_databases *r, size_t *n, struct error *e);

/* rank_db.c: what tables say about a rank: those of the databases of the vendor's profilers, and ours, which have the
 * same; or those that would be written of a collection that was just analysed.
 *
 * A table or a column that does not exist is a part that the rank lacks. See table_reader.h. */

/* Reads the wanted parts. False: a file is not a database or cannot be read, or there is no memory. */
bool rank_db_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);
bool rank_tables_load(const char *path, const struct table_source *source, unsigned parts, struct rank *out,
                      struct error *e);

/* rank_trace.c: what a trace says about a rank: a file of torch.profiler, or trace_view.json.
 *
 * Steps, tasks, collectives, calls, operators and ranges of the user, as far as the trace has them, and a row of
 * step_trace for each step. A collective is named by its kind ("allreduce"); its group is the name of the process
 * group with its ranks, or what the track of a timeline is called. Traces have neither tables of communication nor
 * clocks of cores. */

/* Reads the wanted parts. False: the file cannot be read, or there is no memory. */
bool rank_trace_load(const char *path, unsigned parts, struct rank *out, struct error *e);

/* Gives the collectives of a timeline the groups that the tables of communication and the metadata of its rank name.
 * False: no memory. */
bool rank_trace_groups(struct rank *r);

/* The rank that a trace is of, from what it says at its begin, its name, or else from all of it. -1: it does not say. */
int64_t rank_trace_number(const char *path);

/* "trace_rank_3.json", "rank3.pt.trace.json.gz", "ascend_pytorch_profiler_3.db"; -1: no number in this name. */
int64_t rank_in_name(const char *name);
/* The number in the name of profiler_info_3.json in a directory; -1: none. */
int64_t rank_in_info(const char *dir);

/* rank_text.c: what text results say about a rank: step_trace_time.csv, communication.json, communication_matrix.json,
 * profiler_metadata.json. */

/* Reads the wanted parts, and profiler_metadata.json. A file that does not exist is a part that the rank lacks. False:
 * a file cannot be read, is not JSON, or there is no memory. */
bool rank_text_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);

/* Reads distributed_args and parallel_group_info from profiler_metadata.json, if the identity lacks them. False: no
 * memory. */
bool rank_text_metadata(const char *collection, struct rank *out, struct error *e);

json_t *rank_text_json(const char *path); /* NULL: it cannot be read, or is not JSON */

/* rank_device.c: the cores of a rank's NPU and their clock, which databases do not have: from info.json of its raw
 * data. */

/* Of the first device in a collection, or in a PROF directory. False: it is not there, or does not say. */
bool rank_device_read(struct device_facts *out, const char *collection, struct arena *mem);

/* rank_device.c: single tasks and operators of a rank, for modes to which its summary is not enough. */

/* False: no memory, see e. *is_there: there is more than a summary of the rank, and it could be read. */
bool rank_reload(const struct mode_context *c, int64_t rank, unsigned parts, struct arena *mem, struct rank *out,
                 bool *is_there, struct error *e);

/* The line about ranks of which only summaries are here. */
bool note_absent(struct results *out, const struct mode_context *c, size_t n_ranks);

#endif
