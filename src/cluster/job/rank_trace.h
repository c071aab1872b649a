/* SPDX-License-Identifier: Apache-2.0 */
/* rank_trace.h - what a trace says about a rank: a file of torch.profiler, or trace_view.json.
 *
 * Steps, tasks, collectives, calls, operators and ranges of the user, as far as the trace has them, and a row of
 * step_trace for each step. A collective is named by its kind ("allreduce"); its group is the name of the process group
 * with its ranks, or what the track of a timeline is called. Traces have neither tables of communication nor clocks of
 * cores.
 */
#ifndef ASCOPE_CLUSTER_JOB_RANK_TRACE_H
#define ASCOPE_CLUSTER_JOB_RANK_TRACE_H

#include "cluster/job/job.h"

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

#endif
