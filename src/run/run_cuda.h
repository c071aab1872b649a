/* SPDX-License-Identifier: Apache-2.0 */
/* run_cuda.h - records unchanged programs that use CUDA: the driver loads libascope.so into them
 * (CUDA_INJECTION64_PATH). Of programs that are linked with ACL, Ascend NPUs are recorded in the same way: libmspti.so and
 * libascope.so are in LD_PRELOAD, in this order.
 *
 * Each process of the program makes its own collection, with its kernels, copies and calls.
 */
#ifndef ASCOPE_RUN_RUN_CUDA_H
#define ASCOPE_RUN_RUN_CUDA_H

#include <limits.h>

#include "run/run.h"

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

struct run_cuda {
    char library[PATH_MAX]; /* value of CUDA_INJECTION, and of NVTX_INJECTION */
    bool has_nvtx;          /* set NVTX_INJECTION, too: no other tool uses it */
    char where
        [PATH_MAX]; /* value of ASCOPE_CUDA_INJECTION: pid of this process, a colon, the directory of the collections */
};

/* False: GPUs are not to be recorded, or cannot be, which is reported as a warning. */
bool run_cuda_choose(const struct recorded_run *r, struct run_cuda *out);

struct run_mspti {
    char preload[2 * PATH_MAX]; /* both libraries, with a colon between them */
    char where[PATH_MAX];       /* value of ASCOPE_MSPTI_INJECTION */
};
bool run_mspti_choose(const struct recorded_run *r, struct run_mspti *out); /* the same for NPUs */

/* After the program has ended: calls found(to, path) for the collections of its processes. Those of killed processes
 * are recovered. */
void run_cuda_take(const struct recorded_run *r, void (*found)(void *to, const char *path), void *to);

#endif
