/* SPDX-License-Identifier: Apache-2.0 */
/* view_kernel_counters.h - the counters of kernels as the viewer shows them: the metrics of op_summary, by kernel. */
#ifndef ASCOPE_CLI_VIEW_KERNEL_COUNTERS_H
#define ASCOPE_CLI_VIEW_KERNEL_COUNTERS_H

#include "cli/loaded.h"
#include "export/output_options.h"
#include "view/view_input.h"

/* Adds those of a directory to in->kernel_counters; `run` is the title of its rank, which lives as long as the input, or "". Where no
 * counters were recorded nothing is added. False: e says why. */
bool view_kernel_counters_load(struct view_input *in, const struct loaded *l, const struct output_options *options,
                               const char *run, struct error *e);

#endif
