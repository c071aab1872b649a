/* SPDX-License-Identifier: Apache-2.0 */
/* framework_lanes.h - further lanes for events of a thread that overlap without nesting.
 *
 * A range of the user begins inside the Python call that opens it and ends long after that call. Viewers have one stack
 * of slices for a track and drop such a range. It is put into a further lane of its thread: see lanes.h.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_LANES_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_LANES_H

#include "export/trace.h"
#include "profile/framework.h"

enum thread_slices { SLICES_OPS, SLICES_ENQUEUE, SLICES_DEQUEUE, SLICES_PYTHON, SLICES_KINDS };

/* A further lane of a thread. */
struct framework_lane {
    uint32_t process, thread, lane;
};

struct framework_lanes {
    uint8_t *lane[SLICES_KINDS];         /* the lane of each row of a table; NULL: all are in lane 0 */
    LIST(struct framework_lane) further; /* in order of their first slices */
};

/* In `mem`. False: no memory. */
bool framework_lanes_find(struct framework_lanes *out, const struct framework *f, struct arena *mem);

/* The tid at which row i of a table is drawn, with its flow events. */
int64_t framework_lane_row(const struct framework_lanes *l, enum thread_slices kind, size_t i, uint32_t thread);
/* Writes the names of further lanes, first up to end. */
void framework_lanes_write(const struct framework_lanes *l, struct trace *t, size_t first, size_t end);

#endif
