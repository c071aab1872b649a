/* SPDX-License-Identifier: Apache-2.0 */
/* dualpipe.h - what the passes of a stage of a DualPipeV schedule are, in their order: forward and backward passes of
 * micro-batches of both halves of a stage, some of them at the same time. */
#ifndef ASCOPE_CLUSTER_MODES_DUALPIPE_H
#define ASCOPE_CLUSTER_MODES_DUALPIPE_H

#include <stdint.h>

#include "base/memory/arena.h"

struct dualpipe_pass {
    char name[32]; /* "3", "7b", "7w", "7F+13B", "logits" */
    int phase;     /* 0 warm-up … 6 cool-down */
};

struct dualpipe {
    LIST(struct dualpipe_pass) passes;
};

/* Of stage 0 … n_stages - 1; at least 2 n_stages micro-batches. False: no memory. */
bool dualpipe_stage(struct dualpipe *out, int64_t n_stages, int64_t n_batches, int64_t stage, struct arena *mem);

#endif
