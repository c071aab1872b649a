/* SPDX-License-Identifier: Apache-2.0 */
/* view_chrome.h - loads a trace in Chrome's JSON format into the viewer; for torch.profiler also its steps. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_CHROME_H
#define ASCOPE_VIEW_INPUTS_VIEW_CHROME_H

#include "view/rows/view_input.h"

bool view_chrome_load(struct view_input *in, struct error *e); /* a `load` */

#endif
