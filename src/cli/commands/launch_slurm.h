/* SPDX-License-Identifier: Apache-2.0 */
/* launch_slurm.h - `ascope cluster --launcher slurm`: a job array with a task for each part, and a second job that runs
 * the modes.
 *
 * Both are scripts in a hidden directory beside the results, which all machines must share. Each word in them is quoted
 * for the shell. The second job depends on the array by `afterany`: it also runs if tasks have failed, and reports
 * missing ranks. It writes its report, its messages and its exit code to the directory, from which slurm_watch() prints
 * them. If this process is killed, the jobs continue and write the results. An interrupt cancels them.
 *
 * A task whose node is lost is queued again by Slurm, at most once; one whose ascope fails starts it once more.
 */
#ifndef ASCOPE_CLI_COMMANDS_LAUNCH_SLURM_H
#define ASCOPE_CLI_COMMANDS_LAUNCH_SLURM_H

#include "cli/commands/cluster_launch.h"

size_t slurm_parts(const struct arguments *a, size_t n_ranks);
bool slurm_submit(struct cluster_launch *l, struct error *e);
bool slurm_watch(struct cluster_launch *l, enum exit_status *status, struct error *e);
void slurm_end(struct cluster_launch *l);

#endif
