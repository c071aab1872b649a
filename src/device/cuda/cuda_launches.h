/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches.h - records the program's calls into CUDA that matter: launches, copies, sets, allocations, waits.
 *
 * CUPTI's callback API reports only these functions: a program makes about ten calls for each kernel, most of them
 * queries, and recording all of them would cost more than the kernels. CUPTI is asked for the name of each callback id,
 * so that no ids of a certain version are needed. A call is recorded on its thread, with times of the recorder's clock
 * and CUPTI's correlation id.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_LAUNCHES_H
#define ASCOPE_DEVICE_CUDA_CUDA_LAUNCHES_H

#include "device/cuda/cupti_library.h"

/* Subscribes to CUPTI. Returns CUPTI's error code; 0: success. */
int32_t launches_start(const struct cupti_calls *c);
void launches_stop(const struct cupti_calls *c); /* unsubscribes; CUPTI stays attached to the process */
/* The same, and detaches CUPTI by cuptiFinalize(): while it is attached, the program's calls are slower. The vendor
 * requires that to be called at the exit of a CUDA call: `call` makes one on this thread, of a function that is
 * recorded. */
void launches_end(const struct cupti_calls *c, void (*call)(void));
void launches_name(void); /* records the names of the functions, at the start of a session */

bool launches_are_recorded(void); /* between start and stop; any thread */

#endif
