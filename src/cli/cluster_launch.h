/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_launch.h - `ascope cluster --launcher`: processes that summarise a part of the ranks each, before the modes run.
 *
 * Each process is `ascope cluster DIR... --shard I/N`. One that fails or is killed is started once more; its ranks are missing if that
 * fails, too, and reported.
 */
#ifndef ASCOPE_CLI_CLUSTER_LAUNCH_H
#define ASCOPE_CLI_CLUSTER_LAUNCH_H

#include "cli/option_table.h"
#include "cluster/job.h"

/* Writes shards of the directories of the command line below `dir` with n processes at once. What failed is a line of the job's notes. False:
 * nothing could be started. */
bool launch_local(struct arguments *a, struct job *j, const char *dir, size_t n, struct error *e);

#endif
