/* SPDX-License-Identifier: Apache-2.0 */
/* launch_slurm.h - `ascope cluster --launcher slurm`: a job array with a task for each part, and a job behind it that runs the modes.
 *
 * Both are scripts in a hidden folder beside the results, which all machines must see. Each word in them is quoted for the shell. The
 * second job depends on the array by `afterany`: it also runs if tasks have failed, reports the ranks that are missing then, and
 * leaves its report, its messages and its exit code in the folder, which slurm_watch() prints. The jobs do not need this process: if
 * it is killed, they go on, and the results are written. An interrupt cancels them.
 *
 * A task whose node is lost is queued again by Slurm, at most once; one whose ascope fails starts it once more.
 */
#ifndef ASCOPE_CLI_LAUNCH_SLURM_H
#define ASCOPE_CLI_LAUNCH_SLURM_H

#include "cli/cluster_launch.h"

size_t slurm_parts(const struct arguments *a, size_t n_ranks);
bool slurm_submit(struct launch *l, struct error *e);
bool slurm_watch(struct launch *l, enum exit_status *status, struct error *e);
void slurm_end(struct launch *l);

#endif
