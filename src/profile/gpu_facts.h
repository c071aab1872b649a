/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_facts.h - properties of a GPU: its name, what limits the number of blocks of a kernel that a multiprocessor (SM)
 * runs at the same time, and its clocks. Unknown values are 0.
 */
#ifndef ASCOPE_PROFILE_GPU_FACTS_H
#define ASCOPE_PROFILE_GPU_FACTS_H

#include <stdint.h>

struct gpu_facts {
    const char *name;            /* "NVIDIA H200"; NULL on other devices */
    uint32_t n_sm, major, minor; /* major, minor: compute capability */
    uint32_t sm_threads, sm_registers, sm_shared_bytes, sm_blocks, warp_threads;
    uint32_t block_reserved_bytes;           /* of shared memory, for the system */
    uint32_t core_mhz, memory_mhz, bus_bits; /* the highest clocks; width of the bus to its memory */
};

#endif
