/* SPDX-License-Identifier: Apache-2.0 */
/* profiler_steps.h - the steps of a training loop, as marked by the framework's profiler, and when a device worked on
 * them. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_PROFILER_STEPS_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_PROFILER_STEPS_H

#include "analyse/framework/op_tree.h"

/* True of the name of a range that the profiler itself opens around a step: "ProfilerStep#7". */
bool name_is_step(const struct names *names, name_id name);

/* Room for n of them, of which there are none yet. */
bool profiler_steps_take(struct profiler_steps *s, size_t n, struct arena *mem);

/* After op_tree_build(). False only without memory. */
bool profiler_steps_find(struct profiler_steps *s, const struct framework *f, const struct op_tree *t,
                         const struct kernels *k, struct names *names, struct arena *mem);

/* Which step a moment on the device belongs to: the first one with begin <= moment < end, of those that have work. */
struct step_index {
    size_t n;         /* 0: there are no steps */
    int64_t *from_ns; /* ascending */
    uint32_t *step;   /* from then on, until the next; NO_ROW: none */
};
bool step_index_build(struct step_index *x, const struct profiler_steps *s, struct arena *mem); /* false: no memory */
uint32_t step_index_at(const struct step_index *x, int64_t ns);                                 /* or NO_ROW */

#endif
