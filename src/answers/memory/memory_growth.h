/* SPDX-License-Identifier: Apache-2.0 */
/* memory_growth.h - what grows from step to step, and where it is allocated.
 *
 * For each stack: the bytes that are in use at the end of each step. What is never given back is the least of this and
 * of all later ends. It grows if that rises again and again until the end of the trace: not parameters, optimizer state
 * and caches, which are allocated once; not buffers that are replaced, queues that are full, and sizes that vary.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_GROWTH_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_GROWTH_H

#include "answers/memory/memory_steps.h"

enum { GROWTH_STEPS_LEAST = 6 }; /* intervals without which nobody can tell */

struct memory_growth {
    frame_id place;           /* SNAPSHOT_NONE: no stack was recorded */
    stack_id stack;           /* the one of which most is kept */
    uint64_t bytes;           /* kept since it began */
    uint64_t n_blocks;        /* of them */
    uint64_t block_bytes;     /* of these blocks, which are multiples of 512 */
    uint64_t allocated_bytes; /* by the same stacks since then, released ones with them */
    uint64_t stack_bytes;     /* of `stack` */
    uint32_t since, steps;    /* the first step of the trace that kept some; from it to the last complete one */
    double step_bytes;        /* a step */
};

struct memory_growths {
    LIST(struct memory_growth) at; /* the largest first */
    double step_bytes;             /* of all */
    double step_block_bytes;
};

bool memory_growth_find(struct memory_growths *g, const struct memory_replay *r, const struct memory_steps *t,
                        struct arena *mem);

/* Whether so many bytes at the ends of intervals grow until the last one. *since: the first interval that kept some. */
bool memory_grows(const uint64_t *live, uint32_t n, uint32_t *since);

#endif
