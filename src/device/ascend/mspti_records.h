/* SPDX-License-Identifier: Apache-2.0 */
/* mspti_records.h - the memory that MSPTI fills with records, and the records that become of them.
 *
 * The number of buffers is fixed. MSPTI asks for an empty one and returns it full, both on threads of its own; there
 * its records are converted and put into the ring of that thread. Without an empty buffer MSPTI drops records, and how
 * many is not known; that it happened is counted. Names are texts of the library, which are valid until a buffer is
 * given back.
 *
 * Kernels, collectives, copies and sets become records of raw/cuda_records.h, calls and markers those of the host.
 * MSPTI's times are ns of CLOCK_REALTIME; those of the host are converted to its counter.
 */
#ifndef ASCOPE_DEVICE_ASCEND_MSPTI_RECORDS_H
#define ASCOPE_DEVICE_ASCEND_MSPTI_RECORDS_H

#include "device/ascend/mspti_library.h"

enum { MSPTI_DEVICES = 64 };

bool mspti_records_start(const struct mspti_calls *c); /* false: no memory */
mspti_buffer_wanted mspti_wanted;                      /* for msptiActivityRegisterCallbacks() */
mspti_buffer_done mspti_done;
/* Drops what began before this time, as records of a warm-up. Until the first call everything is dropped. */
void mspti_keep_from(uint64_t wall_ns);

/* Calls a function once, when MSPTI asks for the next buffer: that is when the program uses its NPU. */
void mspti_at_first(void (*call)(void));

struct mspti_losses {
    uint64_t n_full;     /* times that MSPTI had no empty buffer */
    uint64_t n_unusable; /* records without times, of an unknown length, or of a device above 63 */
};
struct mspti_losses mspti_records_stop(void); /* records that are returned later are dropped */

uint64_t mspti_devices(void); /* a bit for each device that had records since the process began */

#endif
