/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_places.h - the places of kernels on the timeline, at which flow events of the framework end. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_KERNEL_PLACES_H
#define ASCOPE_EXPORT_FRAMEWORK_KERNEL_PLACES_H

#include "export/places.h"
#include "profile/collection.h"

struct place {
    uint32_t pid;
    int64_t tid;
};
struct kernel_places {
    const struct profile *p;
    unsigned comm_sort; /* the sort index in the pid of the process of collectives */
    const uint32_t *row_of_stream;
    struct comm_groups *groups; /* by device */
    struct arena *mem;
};
bool kernel_places_take(struct kernel_places *out, const struct profile *p, struct arena *mem); /* false: no memory */
struct place kernel_place(const struct kernel_places *places, const struct kernels *k, size_t row);

#endif
