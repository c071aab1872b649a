/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_launch.h - `ascope cluster --launcher`: the ranks are summarised in parts elsewhere, before the modes run.
 *
 * A part is one `ascope cluster DIR... --shard I/N`. All write into one folder: shards, and what each part has reported
 * (LAUNCH_LOG). A part that fails or is killed is started once more; if that fails, too, its ranks are missing, and reported.
 * launch_gather() takes the shards for the ranks, in this process, or in another one with --shards.
 */
#ifndef ASCOPE_CLI_CLUSTER_LAUNCH_H
#define ASCOPE_CLI_CLUSTER_LAUNCH_H

#include "base/leftover.h"
#include "cli/command.h"
#include "cluster/job.h"

#define LAUNCH_LOG "part_%zu.log" /* standard error of a part, 1 … n_parts */

struct launch {
    struct arguments *a;
    struct job *job;    /* the ranks that were found; what failed is a line of its notes */
    const char *beside; /* where the results go, and the folder of shards until the end */
    size_t n_parts;
    /* of the launcher */
    const char *dir; /* the folder; NULL: none yet */
    struct leftover half;
    void *state;
};

struct launcher {
    const char *name;
    size_t (*n_parts)(const struct arguments *a, size_t n_ranks);
    bool (*submit)(struct launch *l, struct error *e);
    /* Until all parts have ended. A launcher that runs the modes, too, prints their report and sets the status. */
    bool (*watch)(struct launch *l, enum exit_status *status, struct error *e);
    void (*end)(struct launch *l); /* after submit() in any case: removes the folder */
    bool runs_modes;
};

const struct launcher *launcher_find(const char *name); /* NULL: there is none */

/* Replaces the ranks of a job by their summaries in the shards of a folder. What the parts have reported, and ranks that are in no shard,
 * are lines of its notes. */
bool launch_gather(struct job *j, const char *dir, const char *wanted, struct error *e);

#endif
