/* SPDX-License-Identifier: Apache-2.0 */
/* view_roofline.h - the work of kernels as the viewer shows it, against the roofs of their device. */
#ifndef ASCOPE_CLI_VIEW_ROOFLINE_H
#define ASCOPE_CLI_VIEW_ROOFLINE_H

#include "answers/roofline.h"
#include "cli/loaded.h"
#include "view/view_input.h"

/* Adds those of a directory to in->work and in->roofs; `run` is the title of its rank, which lives as long as the input, or "". Where nothing is known
 * nothing is added. False: e says why. */
bool view_roofline_load(struct view_input *in, const struct loaded *l, const char *run, struct error *e);
/* The same of what was found elsewhere. False: no memory. */
bool view_roofline_keep(struct view_input *in, const struct roofline *r, bool is_gpu, const char *run);
/* The timeline of this run was shifted: its places are, too. */
void view_roofline_shift(struct view_input *in, const char *run, int64_t shift_ns);

#endif
