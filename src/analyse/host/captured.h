/* SPDX-License-Identifier: Apache-2.0 */
/* captured.h - graphs that were captured from a stream and replayed: the model of a task, and its description when it
 * was captured. */
#ifndef ASCOPE_ANALYSE_HOST_CAPTURED_H
#define ASCOPE_ANALYSE_HOST_CAPTURED_H

#include "profile/profile.h"

/* Streams that were filled by a captured graph: a task of this stream and batch, from `since` on, belongs to the
 * model. */
struct capture {
    uint16_t device, stream, batch;
    uint32_t model;
    uint64_t since;
};

struct captured {
    const struct profile *p;
    LIST(struct capture) captures; /* by (device, stream, batch) */
    uint32_t *op_order;            /* captured_ops by (device, stream, task) */
};

bool captured_init(struct captured *c, const struct profile *p, struct arena *mem); /* false: no memory */
uint32_t captured_model(const struct captured *c, size_t track);                    /* NO_MODEL: none */
uint32_t captured_op(const struct captured *c, size_t track); /* the last description, or NO_ROW */

#endif
