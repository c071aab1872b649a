/* SPDX-License-Identifier: Apache-2.0 */
/* view_roofline.h - loads the work of kernels and the peak rates of their device for the roofline of the viewer. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_ROOFLINE_H
#define ASCOPE_VIEW_INPUTS_VIEW_ROOFLINE_H

#include "answers/run/roofline.h"
#include "open/recording_open.h"
#include "view/rows/view_input.h"

/* Adds the work and the peak rates of a directory to in->work and in->roofs, as far as they are known. `run`: the
 * title of its rank, valid as long as the input, or "". False: see e. */
bool view_roofline_load(struct view_input *in, const struct recording *l, const char *run, struct error *e);
/* The same for a roofline that the caller has computed. False: no memory. */
bool view_roofline_keep(struct view_input *in, const struct roofline *r, bool is_gpu, const char *run);
/* Shifts the places of a run as its timeline was shifted. */
void view_roofline_shift(struct view_input *in, const char *run, int64_t shift_ns);

#endif
