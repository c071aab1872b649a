/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - GPUs of NVIDIA: device work from CUPTI's activity API, the calls that launched it from its callback API.
 *
 * CUPTI has one user in a process: if there is another one (torch.profiler, nsys), only the host is recorded, with a
 * warning. No context is created and the driver is not initialised here: the GPUs that the program uses are recorded.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_H
#define ASCOPE_DEVICE_CUDA_CUDA_H

#include "device/device.h"

extern const struct device_kind cuda_kind;

/* Sets whether the program is inside cuInit() on this thread, which has called us (cuda_injection.c). Meanwhile nothing
 * asks the driver, and nothing waits for another thread: both would deadlock. */
void cuda_in_init(bool is_in_init);

#endif
