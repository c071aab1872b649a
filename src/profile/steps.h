/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - iterations of models, training steps and marks of the user, with the device's time stamps.
 *
 * Times are ticks of the device's counter, 0 where a part is missing; source_device_ns() converts them to wall-clock
 * time. Marks have no fractions of a tick and are kept as they are shown.
 */
#ifndef ASCOPE_PROFILE_STEPS_H
#define ASCOPE_PROFILE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Intervals inside iterations. */
struct spans {
    size_t n;
    uint32_t *iteration; /* row of iterations */
    uint64_t *begin, *end;
};

struct steps {
    struct iterations { /* of models by (model, index), then the training steps by index */
        size_t n;
        uint64_t *model, *index, *begin, *end;
        uint64_t *fp, *bp; /* begin of the forward pass, end of the backward pass */
        bool *is_step;     /* a training step, reported by the framework, and no iteration of a model */
    } iterations;
    struct spans reduces, get_nexts; /* by iteration, then by stream in the order of its first one, then by begin */
    struct device_marks {            /* of the user, during the collection; by id, then by begin */
        size_t n;
        uint64_t *id, *model;
        uint32_t *task;
        uint32_t *host; /* row of the host's marks, or NO_ROW */
        uint16_t *stream;
        int64_t *begin_ns, *end_ns; /* wall clock */
    } marks;
};

#endif
