/* session_steps.h - the steps of a training loop, as PyTorch's profiler marks them, and when a device worked on them. */
#ifndef ASCOPE_ANALYSE_SESSION_STEPS_H
#define ASCOPE_ANALYSE_SESSION_STEPS_H

#include "analyse/op_tree.h"

/* True of the name of a range that the profiler itself opens around a step: "ProfilerStep#7". */
bool name_is_step(const struct names *names, name_id name);

/* After op_tree_build(); q: the same as there. False only without memory. */
bool session_steps_find(struct session_steps *s, const struct framework *f, const struct op_tree *t,
                        const struct kernels *k, const struct queued *q, struct names *names, struct arena *mem);

#endif
