/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_held.h - how much memory of each kind a program holds, counting allocations during the recording only. */
#ifndef ASCOPE_ANALYSE_DEVICE_GPU_HELD_H
#define ASCOPE_ANALYSE_DEVICE_GPU_HELD_H

#include "profile/counters.h"

/* Adds the column CUDA_MEMORY_HELD: the bytes of the row's kind after the event. The release of a block that was
 * allocated before the recording changes nothing. False: no memory. */
bool gpu_held_analyse(struct samples *s, struct arena *mem);

#endif
