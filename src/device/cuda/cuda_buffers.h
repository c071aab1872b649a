/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_buffers.h - the memory that CUPTI fills with records, and the thread that takes them out of it.
 *
 * The number of buffers is fixed. CUPTI takes an empty one on a thread of the program (one atomic instruction) and
 * returns it full on a thread of its own; the recorder's thread converts its records and puts them into its ring.
 * Without an empty buffer CUPTI drops records and counts them. Every 20 ms the thread asks CUPTI for complete records,
 * so that a killed program loses no more than that.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_BUFFERS_H
#define ASCOPE_DEVICE_CUDA_CUDA_BUFFERS_H

#include "device/cuda/cupti_library.h"

bool buffers_start(const struct cupti_calls *c, uint32_t version); /* false: no memory, or no thread */
cupti_buffer_wanted buffers_wanted;                                /* for cuptiActivityRegisterCallbacks() */
cupti_buffer_done buffers_done;
/* Calls a function once, when CUPTI asks for the next buffer: that is when the program begins to use its GPU. */
void buffers_at_first(void (*call)(void));
/* Drops records that began before this time of CUPTI's clock, as those of a warm-up. Until the first call all are
 * dropped. */
void buffers_keep_from(uint64_t ns);

struct buffer_losses {
    uint64_t n_dropped;  /* by CUPTI, which had no empty buffer */
    uint64_t n_unusable; /* without times, incomplete, or of a device above 63 */
};
struct buffer_losses buffers_stop(void); /* after cuptiActivityFlushAll(1): all other records are in the ring */

uint64_t buffers_devices(void); /* a bit for each device that had records since the process began */

#endif
