/* SPDX-License-Identifier: Apache-2.0 */
/* collection_part.h - some steps of a collection: their times, and the framework's data of these times.
 *
 * What began between the begin and the end of a step belongs to it: on the host as the framework marked it, on the
 * devices as kernel_details counts it. A task that was enqueued in a step belongs to it, whenever it was dequeued.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_PART_H
#define ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_PART_H

#include "profile/collection.h"

/* The requested steps, first and last included. is_counted: 1 is the step with the least number; otherwise these are
 * step numbers. */
struct step_range {
    int64_t first, last;
    bool is_counted;
};

struct collection_part {
    bool *has_step;           /* by row of collection.steps */
    int64_t first, last;      /* the least and the greatest number of them */
    int64_t begin_ns, end_ns; /* on the host; here and below, both limits are included */
    int64_t launched_ns;      /* when the last of its tasks had been dequeued; at least end_ns */
    bool is_on_device;        /* its steps started something there */
    int64_t device_begin_ns, device_end_ns;
    struct framework framework; /* the framework's data of the part; memory is that of the whole collection */
    uint32_t *op_row;           /* by row of collection.framework.ops: row of framework.ops, or NO_ROW */
};

/* Whether anything counted steps, after collection_analyse(). */
bool collection_has_steps(const struct collection *s);

/* The steps of the range that there are. Allocated in mem. False: there is none of them, and e lists which there are;
 * or out of memory. */
bool collection_part_find(struct collection_part *p, const struct collection *s, const struct step_range *asked,
                          struct arena *mem, struct error *e);

#endif
