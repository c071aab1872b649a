/* SPDX-License-Identifier: Apache-2.0 */
/* view_joint.h - several collections as one input of the viewer: the ranks of a job, or two runs beside each other.
 *
 * Ranks of a job are on one clock, as far as their collectives show how far the clocks are apart. Two runs are shifted so that a
 * step begins at the same moment in both; their overview is the answer of `ascope compare`.
 */
#ifndef ASCOPE_CLI_VIEW_JOINT_H
#define ASCOPE_CLI_VIEW_JOINT_H

#include "cli/targets.h"
#include "cli/view_job.h"
#include "view/view_input.h"

enum { RUNS = 2 };

struct view_run {
    const char *name;
    struct targets targets;
    const char *file; /* a trace in Chrome's form instead; NULL: none */
};

struct view_joint {
    bool is_job;
    struct view_job job;
    struct view_run run[RUNS];
    const char *step; /* at whose begin runs are aligned; NULL: the first one that both have */
    const struct output_options *options;
};

/* A `load` of view_input.h; its context is a struct view_joint. */
bool view_joint_load(struct view_input *in, struct error *e);

#endif
