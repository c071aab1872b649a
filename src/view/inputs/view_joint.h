/* SPDX-License-Identifier: Apache-2.0 */
/* view_joint.h - shows several collections as one input of the viewer: the ranks of a job, or two runs side by side.
 *
 * Ranks of a job are shown on one clock; their collectives show how far the clocks differ. Two runs are shifted so that
 * a step begins at the same time in both; their overview has the result of `ascope compare`.
 */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_JOINT_H
#define ASCOPE_VIEW_INPUTS_VIEW_JOINT_H

#include "open/inputs.h"
#include "view/inputs/view_job.h"
#include "view/rows/view_input.h"

enum { RUNS = 2 };

struct view_run {
    const char *name;
    struct inputs inputs;
};

struct view_joint {
    bool is_job;
    struct view_job job;
    struct view_run run[RUNS];
    const char *step; /* the step at which runs are aligned; NULL: the first common one */
    const struct output_options *options;
};

/* A `load` of view_input.h; its context is a struct view_joint. */
bool view_joint_load(struct view_input *in, struct error *e);

#endif
