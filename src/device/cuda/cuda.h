/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - GPUs of NVIDIA: what ran on them from CUPTI's activity API, what launched it from its callback API.
 *
 * CUPTI has one user in a process: with another one (torch.profiler, nsys) the host is recorded alone, and a warning says so. No
 * context is made and the driver is not initialised: GPUs that the program uses are recorded.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_H
#define ASCOPE_DEVICE_CUDA_CUDA_H

#include "device/device.h"

extern const struct device_kind cuda_kind;

/* The program is inside cuInit() on this thread, which has called us (cuda_injection.c): until that returns nothing may ask the driver, and
 * no other thread is waited for. */
void cuda_in_init(bool is_in_init);

#endif
