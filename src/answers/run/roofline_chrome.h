/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_chrome.h - the roofline of a trace of torch.profiler: kernels by the shapes of the operators that launched
 * them.
 *
 * The trace says how many SMs the GPU has, but not how fast they run: its operations have no roof.
 */
#ifndef ASCOPE_ANSWERS_RUN_ROOFLINE_CHROME_H
#define ASCOPE_ANSWERS_RUN_ROOFLINE_CHROME_H

#include "answers/run/roofline.h"
#include "profile/chrome_trace.h"

/* Keys are added to names. Without shapes (record_shapes) there are no rows. False: no memory. */
bool roofline_of_chrome(struct roofline *out, const struct chrome_trace *t, struct names *names, struct arena *mem);

#endif
