/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_occupancy.h - theoretical occupancy of a kernel: the warps that an SM can run of it at once, in percent of those
 * that it can run of any kernel. Limits are threads, blocks, registers and shared memory, in the units in which the
 * hardware allocates them.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_GPU_OCCUPANCY_H
#define ASCOPE_ANALYSE_DEVICE_GPU_OCCUPANCY_H

#include <stdint.h>

#include "profile/gpu_facts.h"
#include "profile/gpu_tasks.h"

struct gpu_needs {
    uint64_t block_threads, registers, shared_bytes; /* registers: of a thread; shared_bytes: of a block */
};

uint32_t gpu_blocks_per_sm(const struct gpu_facts *f, const struct gpu_needs *n); /* 0: unknown, or it cannot run */
/* Below 0: unknown. */
double gpu_occupancy_percent(const struct gpu_facts *f, const struct gpu_tasks *g, uint32_t row);

#endif
