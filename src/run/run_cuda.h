/* SPDX-License-Identifier: Apache-2.0 */
/* run_cuda.h - programs that use CUDA, recorded without a change: the driver loads libascope.so into them (CUDA_INJECTION64_PATH), and each
 * process has a collection of its own, with its kernels, copies and calls.
 */
#ifndef ASCOPE_RUN_RUN_CUDA_H
#define ASCOPE_RUN_RUN_CUDA_H

#include <limits.h>

#include "run/run.h"

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

struct run_cuda {
    char library[PATH_MAX]; /* value of CUDA_INJECTION, and of NVTX_INJECTION */
    bool has_nvtx;          /* NVTX, too: no other tool has it */
    char where[PATH_MAX];   /* of ASCOPE_CUDA_INJECTION: "PID:FOLDER" of this process */
};

/* False: no GPU is to be recorded, or cannot be, which is reported. */
bool run_cuda_choose(const struct run_request *r, struct run_cuda *out);

/* The collections of the program's processes, once it has ended; those of killed ones are finished. */
void run_cuda_take(const struct run_request *r, void (*found)(void *to, const char *path), void *to);

#endif
