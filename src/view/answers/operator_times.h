/* SPDX-License-Identifier: Apache-2.0 */
/* operator_times.h - what the slices of a timeline are, and the times of its operators: their own time on the host, and
 * the time of what they launched on a device.
 *
 * Topics are found by what the writers of traces call them: torch.profiler by category, CANN's tools by process,
 * databases by table. A kernel, copy or collective belongs to the operator from which a flow event leads to it: the
 * operator itself, the innermost operator around the call, or the one whose flow event leads to the call.
 */
#ifndef ASCOPE_VIEW_ANSWERS_OPERATOR_TIMES_H
#define ASCOPE_VIEW_ANSWERS_OPERATOR_TIMES_H

#include <stdatomic.h>

#include "view/rows/view_input.h"

enum topic {
    TOPIC_OTHER,
    TOPIC_OPERATOR,
    TOPIC_STEP,       /* a mark of a training step, which is no operator */
    TOPIC_KERNEL,     /* and copies: what runs on a device */
    TOPIC_COLLECTIVE, /* a track of collectives, beside those of their kernels */
    TOPIC_OVERLAP,    /* what the device did meanwhile: "Computing", "Free" */
    TOPICS
};
extern const char *const topic_names[TOPICS]; /* "operator", "step", …; "" of TOPIC_OTHER */

/* What a slice is, but for kernels that are no work (waits and records of events): those are others. */
enum topic slice_topic(const struct view_input *in, size_t slice);

struct operator_time {
    int64_t self_ns;        /* without the operators that it contains */
    int64_t device_self_ns; /* of what it launched itself */
    int64_t device_ns;      /* and of what the operators in it launched */
};

struct operator_times {
    atomic_bool is_known;
    struct arena *mem;
    uint8_t *topic;   /* by slice */
    uint32_t *number; /* by slice: the number of an operator + 1; 0: it is none */
    size_t n;
    struct operator_time *at;
};

/* Computed when they are first needed; the same for all questions. NULL: no memory. */
const struct operator_times *operator_times_of(const struct view_input *in);
void operator_times_free(struct operator_times *o); /* NULL is fine */

#endif
