/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches.h - the program's calls into CUDA that matter: launches, copies, sets, allocations, waits.
 *
 * By CUPTI's callback API, for those functions alone: a program makes some ten calls for each kernel, nearly all of them questions,
 * and recording all of them costs more than the kernels. Which numbers the functions have is asked for by name, so that no version's
 * numbers are needed. A call is recorded on its thread, with times of the recorder's own clock and CUPTI's correlation id.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_LAUNCHES_H
#define ASCOPE_DEVICE_CUDA_CUDA_LAUNCHES_H

#include "device/cuda/cupti_library.h"

/* Subscribes. What CUPTI returned; 0: it went well. */
int32_t launches_start(const struct cupti_calls *c);
void launches_stop(const struct cupti_calls *c); /* unsubscribes; CUPTI stays where it is */
/* The same, and CUPTI leaves the process: as long as it is there the program's calls are slower. It wants to be asked at the end of a
 * call of CUDA: `call` makes one on this thread, of a function that is recorded. */
void launches_end(const struct cupti_calls *c, void (*call)(void));
void launches_name(void); /* in a session, before the first call of it */

bool launches_are_recorded(void); /* between start and stop; any thread */

#endif
