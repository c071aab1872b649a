/* SPDX-License-Identifier: Apache-2.0 */
/* memory_use.h - what is in use at a moment: by what it is for, and by the line that allocated it.
 *
 * What memory is for follows from who allocates it, who releases it, and whether it outlives the step.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_USE_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_USE_H

#include "answers/memory/memory_steps.h"

enum memory_purpose {
    PURPOSE_PARAMETER,       /* made, moved or loaded with a module */
    PURPOSE_OPTIMIZER_STATE, /* allocated by the optimizer, outlives the step */
    PURPOSE_GRADIENT,        /* allocated by the backward pass, and released by zero_grad or after the step */
    PURPOSE_ACTIVATION,      /* of the forward pass, for the backward pass */
    PURPOSE_KEPT,            /* of a forward or backward pass, and kept beyond the step: workspaces, caches, leaks */
    PURPOSE_TEMPORARY,       /* of one pass */
    PURPOSE_OTHER,           /* of the program, for something else */
    PURPOSE_UNKNOWN,         /* no stack was recorded: from before the trace */
    MEMORY_PURPOSES
};

extern const char *const memory_purpose_name[MEMORY_PURPOSES], *const memory_purpose_key[MEMORY_PURPOSES];

struct memory_use_row {
    frame_id place; /* SNAPSHOT_NONE: no stack */
    enum memory_purpose purpose;
    uint64_t bytes, n;
    stack_id stack; /* one of them */
};

struct memory_use {
    uint64_t bytes;
    uint64_t of[MEMORY_PURPOSES];
    LIST(struct memory_use_row) row; /* the largest first */
};

enum memory_use_by { USE_BY_LINE, USE_BY_STACK }; /* what a row is, beside its purpose */

/* Before an event; that behind the last one: at the end. */
bool memory_use_before(struct memory_use *u, const struct memory_replay *r, const struct memory_steps *t,
                       uint32_t event, enum memory_use_by by, struct arena *mem);

#endif
