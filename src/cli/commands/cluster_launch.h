/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_launch.h - registry: `ascope cluster --launcher`: other processes summarise parts of the ranks before the modes run.
 *
 * A part is one `ascope cluster DIR... --shard I/N`, which takes its ranks from a list of all of them (manifest.h). All
 * parts write to one directory: their shards, and their messages (LAUNCH_LOG). A part that fails or is killed is
 * started once more; if that fails, too, its ranks are reported as missing. launch_gather() then reads the shards in
 * place of the ranks, in this process or in another one with --shards.
 */
#ifndef ASCOPE_CLI_COMMANDS_CLUSTER_LAUNCH_H
#define ASCOPE_CLI_COMMANDS_CLUSTER_LAUNCH_H

#include "base/files/leftover.h"
#include "cli/options/command.h"
#include "cluster/job/job.h"

#define LAUNCH_LOG "part_%zu.log" /* standard error of a part, 1 … n_parts */

struct cluster_launch {
    struct arguments *a;
    struct job *job;    /* the ranks that were found; failures become lines of its notes */
    const char *beside; /* the output directory, in which the directory of shards is made */
    size_t n_parts;
    /* set by the launcher */
    const char *dir; /* the directory of shards; NULL: none yet */
    struct leftover half;
    void *state;
};

struct launcher {
    const char *name;
    size_t (*n_parts)(const struct arguments *a, size_t n_ranks);
    bool (*submit)(struct cluster_launch *l, struct error *e);
    /* Waits until all parts have ended. A launcher that also runs the modes prints their report and sets the status. */
    bool (*watch)(struct cluster_launch *l, enum exit_status *status, struct error *e);
    void (*end)(struct cluster_launch *l); /* after submit(), also if it failed: removes the directory */
    bool runs_modes;
};

/* The directories and --ranks of a command line, for the list of ranks. In a->mem. False: one cannot be resolved, or
 * there is no memory. */
struct manifest_of;
bool launch_manifest_of(struct manifest_of *out, struct arguments *a, struct error *e);
/* Writes the list of l->job's ranks into l->dir, for the parts. NULL: see e. */
const char *launch_manifest(const struct cluster_launch *l, struct error *e);

const struct launcher *launcher_find(const char *name); /* NULL: there is none */

/* Replaces the ranks of a job by their summaries in the shards of a directory. Messages of the parts, and ranks that
 * are in no shard, become lines of its notes. */
bool launch_gather(struct job *j, const char *dir, const char *wanted, struct error *e);

/* launch_slurm.c: `ascope cluster --launcher slurm`: a job array with a task for each part, and a second job that runs
 * the modes.
 *
 * Both are scripts in a hidden directory beside the results, which all machines must share. Each word in them is
 * quoted for the shell. The second job depends on the array by `afterany`: it also runs if tasks have failed, and
 * reports missing ranks. It writes its report, its messages and its exit code to the directory, from which
 * slurm_watch() prints them. If this process is killed, the jobs continue and write the results. An interrupt cancels
 * them.
 *
 * A task whose node is lost is queued again by Slurm, at most once; one whose ascope fails starts it once more. */

size_t slurm_parts(const struct arguments *a, size_t n_ranks);
bool slurm_submit(struct cluster_launch *l, struct error *e);
bool slurm_watch(struct cluster_launch *l, enum exit_status *status, struct error *e);
void slurm_end(struct cluster_launch *l);

#endif
