/* SPDX-License-Identifier: Apache-2.0 */
/* view_kernel_counters.h - loads counters of kernels for the viewer: the metrics of op_summary, by kernel. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_KERNEL_COUNTERS_H
#define ASCOPE_VIEW_INPUTS_VIEW_KERNEL_COUNTERS_H

#include "open/recording_open.h"
#include "export/output_options.h"
#include "view/rows/view_input.h"

/* Adds the counters of a directory to in->kernel_counters, if any were recorded. `run`: the title of its rank, valid
 * as long as the input, or "". False: see e. */
bool view_kernel_counters_load(struct view_input *in, const struct recording *l, const struct output_options *options,
                               const char *run, struct error *e);

#endif
