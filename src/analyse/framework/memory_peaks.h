/* SPDX-License-Identifier: Apache-2.0 */
/* memory_peaks.h - peak memory of a device, by allocator.
 *
 * There are three on a device: the framework's caching allocator, the framework's workspaces, and graphs (GE). Each
 * reports its own totals; the device holds the sum of what each reported last. Summaries, reports and the page of the
 * memory timeline all use these numbers.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_PEAKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_PEAKS_H

#include "analyse/framework/memory_series.h"

struct memory_device {
    int32_t type, number; /* MEMORY_ON_CPU, -1; MEMORY_ON_NPU or MEMORY_ON_CUDA, 0 */
};

/* When a device held most, and the operator of the allocation at that time. */
struct memory_peak {
    bool is_known; /* false: nothing was recorded, and nothing of the rest is set */
    int64_t time_ns;
    int64_t bytes;
    int64_t part[MEMORY_SOURCES]; /* their sum is bytes */
    int64_t device;
    name_id name;     /* of the operator; NAME_EMPTY: unknown */
    bool is_of_graph; /* graphs were taking it, not the framework */
};
struct memory_peaks {
    struct memory_peak allocated, reserved; /* of several equal ones the first */
    bool
        is_partial; /* memory of the CPU, or of a simulated device: only allocations during the recording are counted */
};

/* Of one device, or (NULL) of the NPU or GPU that held most; without one, of the CPU. False: no memory. */
bool memory_peaks_find(struct memory_peaks *out, const struct collection *s, const struct memory_device *device,
                       struct error *e);

#endif
