/* SPDX-License-Identifier: Apache-2.0 */
/* memory_timeline.h - the memory of a device by category, from the first to the last record.
 *
 * The loader has to keep the tensors. All of the analysis is behind memory_timeline_find(); it fills the steps of one
 * device, in order of time.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_TIMELINE_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_TIMELINE_H

#include "analyse/framework/collection_analyse.h"
#include "analyse/memory_timeline/memory_flow.h"
#include "profile/collection.h"

/* What happens to memory. In the order in which things of the same time are shown. */
enum memory_action {
    MEMORY_WAS_THERE, /* before anything was recorded */
    MEMORY_MADE,
    MEMORY_CHANGED, /* written to: what it is used for may change */
    MEMORY_FREED,
};

enum { BEFORE_ALL = -1 }; /* time_ns of MEMORY_WAS_THERE */

struct memory_timeline {
    struct memory_device device;
    bool is_simulated; /* the device */
    size_t n;          /* by time, then by action */
    int64_t *time_ns;
    uint64_t *bytes;
    uint8_t *action;
    uint8_t *from, *to;        /* category before and after; only one of them counts unless it was changed */
    uint64_t before_bytes;     /* allocated before the recording and used in it */
    struct memory_peaks peaks; /* by its allocators */
};

/* The devices whose allocators were recorded, by type and number; at most `most` of them. Returns how many. */
size_t memory_devices(const struct collection *s, struct memory_device *out, size_t most);
/* The default device: the one with the lowest number among those whose allocator was recorded, or else the CPU. */
struct memory_device memory_usual_device(const struct collection *s);

/* Texts that are no tensors are counted in `lost`. Allocated in mem. */
bool memory_timeline_find(struct memory_timeline *m, const struct collection *s, struct memory_device device,
                          struct losses *lost, struct arena *mem, struct error *e);

/* The sums after everything that happened in one microsecond, point by point. What was there before has the time of the
 * first point after it. */
struct memory_point {
    int64_t time_us;
    int64_t bytes[MEMORY_CATEGORIES];
};
struct memory_points {
    const struct memory_timeline *m;
    size_t at;
    int64_t begin_us;
    struct memory_point now;
};
struct memory_points memory_points_of(const struct memory_timeline *m);
bool memory_points_next(struct memory_points *p); /* p->now is the next one; false: there was none left */

#endif
