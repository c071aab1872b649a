/* SPDX-License-Identifier: Apache-2.0 */
/* framework_lanes.h - rows for what a thread did at the same time without one lying inside the other.
 *
 * A range that the user named begins inside the Python call that opens it and ends long after it: viewers keep one stack of
 * slices for a row and drop such a range. It goes to a further row of its thread: see lanes.h.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_LANES_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_LANES_H

#include "profile/framework.h"

enum thread_slices { SLICES_OPS, SLICES_ENQUEUE, SLICES_DEQUEUE, SLICES_PYTHON, SLICES_KINDS };

/* A row beside that of its thread. */
struct framework_lane {
    uint32_t process, thread, lane;
};

struct framework_lanes {
    uint8_t *lane[SLICES_KINDS];         /* of each row of that table; NULL: all are in lane 0 */
    LIST(struct framework_lane) further; /* in order of their first slices */
};

bool framework_lanes_find(struct framework_lanes *out, const struct framework *f,
                          struct arena *mem); /* false: no memory */

#endif
