/* SPDX-License-Identifier: Apache-2.0 */
/* memory_folded.h - what is in use at the peak, as folded stacks: a line for each stack with its bytes, which tools for
 * flame graphs read (flamegraph.pl, speedscope). */
#ifndef ASCOPE_REPORT_MEMORY_MEMORY_FOLDED_H
#define ASCOPE_REPORT_MEMORY_MEMORY_FOLDED_H

#include "answers/memory/memory_judge.h"
#include "base/files/out.h"

/* The outermost frames are the device, if `is_named`, and the purpose. False: no memory. */
bool memory_folded_put(struct out *o, const struct memory_judged *j, bool is_named);

#endif
