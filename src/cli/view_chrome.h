/* SPDX-License-Identifier: Apache-2.0 */
/* view_chrome.h - a trace in Chrome's form in the viewer; of torch.profiler's also its steps. */
#ifndef ASCOPE_CLI_VIEW_CHROME_H
#define ASCOPE_CLI_VIEW_CHROME_H

#include "view/view_input.h"

bool view_chrome_load(struct view_input *in, struct error *e); /* a `load` */

#endif
