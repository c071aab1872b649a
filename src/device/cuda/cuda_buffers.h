/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_buffers.h - the memory that CUPTI fills with records, and the thread that takes them out of it.
 *
 * A fixed number of buffers goes round: CUPTI takes an empty one on a thread of the program (one atomic instruction), gives it back
 * full on a thread of its own, and the recorder's thread turns its records into ours and puts them into its ring. With no empty one
 * CUPTI drops records and counts them. Every 20 ms the thread asks for what is complete, so that a killed program has lost no more
 * than that.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_BUFFERS_H
#define ASCOPE_DEVICE_CUDA_CUDA_BUFFERS_H

#include "device/cuda/cupti_library.h"

bool buffers_start(const struct cupti_calls *c, uint32_t version); /* false: no memory, or no thread */
cupti_buffer_wanted buffers_wanted;                                /* for cuptiActivityRegisterCallbacks() */
cupti_buffer_done buffers_done;
void buffers_at_first(void (*call)(void)); /* once, when CUPTI wants the next one: the program uses its GPU */
void buffers_keep_from(
    uint64_t ns); /* of CUPTI's clock: what began before, or was read before this call, is of a warm-up */

struct buffer_losses {
    uint64_t n_dropped;  /* by CUPTI, which had no buffer */
    uint64_t n_unusable; /* reported without times, in part, or of a device above 63 */
};
struct buffer_losses buffers_stop(void); /* after cuptiActivityFlushAll(1): everything but these is in the ring */

uint64_t buffers_devices(void); /* a bit for each device that records were of, since the process began */

#endif
