/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_sampler.h - counters of GPUs while they are recorded: clocks, power, temperature, memory, load, PCIe and NVLink, ten times a
 * second, by the vendor's library NVML, which is loaded at run time.
 *
 * A thread of its own asks; nobody waits for it but the end of the recording, and that no longer than a limit. A machine without the
 * library has no such counters, and a GPU has those that it reports.
 */
#ifndef ASCOPE_DEVICE_CUDA_NVML_SAMPLER_H
#define ASCOPE_DEVICE_CUDA_NVML_SAMPLER_H

#include "device/cuda/cupti_library.h"

/* The devices of a bit mask, and those that records come of. False: there is nothing to stop. */
bool nvml_start(const struct cupti_calls *c, uint64_t devices);
void nvml_ask_stop(void); /* it ends as soon as it can */
void nvml_stop(
    uint32_t limit_s); /* waits until it has ended; one that does not is reported, and is the last of this process */

/* For `ascope doctor`: whether it is there and answers. *n: GPUs. */
bool nvml_look(struct cuda_found *found, uint32_t *n);

#endif
