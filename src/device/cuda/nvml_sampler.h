/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_sampler.h - samples counters of GPUs ten times a second: clocks, power, temperature, memory, load, PCIe and
 * NVLink.
 *
 * They come from the vendor's library NVML, which is loaded at run time. A thread of its own calls it; only the end of
 * the recording waits for that thread, with a limit. Without the library there are no such counters, and a GPU has
 * those that it reports.
 */
#ifndef ASCOPE_DEVICE_CUDA_NVML_SAMPLER_H
#define ASCOPE_DEVICE_CUDA_NVML_SAMPLER_H

#include "device/cuda/cupti_library.h"

/* Samples the devices of a bit mask, and those that have records later. False: it does not run, and there is nothing to
 * stop. */
bool nvml_start(const struct cupti_calls *c, uint64_t devices);
void nvml_ask_stop(void); /* asks the thread to end, without waiting */
/* Waits until the thread has ended. If it does not within the limit, that is reported, and NVML is not used again in
 * this process. */
void nvml_stop(uint32_t limit_s);

/* For `ascope doctor`: whether the library is there and answers. *n: the number of GPUs. */
bool nvml_look(struct cuda_found *found, uint32_t *n);

#endif
