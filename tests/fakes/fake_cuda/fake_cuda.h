/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.h - what a program does with the stand-in for CUDA: each call is made as CUDA's runtime makes it, with
 * CUPTI's callbacks around it, and leaves the record of what ran. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

struct fake_task {
    const char *name; /* of a kernel, as the compiler makes it */
    uint32_t device, stream;
    uint64_t bytes; /* of copies and sets */
    uint64_t ns;    /* how long it runs */
    uint32_t grid[3], block[3];
};

enum fake_call {
    FAKE_KERNEL,
    FAKE_COPY,
    FAKE_SET,
    FAKE_GRAPH,
    FAKE_WAIT,
    FAKE_QUESTION,
    FAKE_DRIVER_KERNEL,
    FAKE_MALLOC,
    FAKE_FREE,
    FAKE_POOL_MALLOC, /* memory of the task's stream, of a pool */
    FAKE_POOL_TRIM,
    FAKE_PEER_COPY,      /* to the next device */
    FAKE_CAPTURE,        /* a node of the graph whose copy FAKE_GRAPH runs */
    FAKE_COMPILED_KERNEL /* by the function that <<< >>> becomes from CUDA 13 on */
};
/* A graph runs n kernels of the task; what allocates and releases has the number of a block as n; of other calls n is
 * 1. */
typedef void fake_cuda_call(enum fake_call call, const struct fake_task *task, unsigned n);

#endif
