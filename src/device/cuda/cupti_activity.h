/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_activity.h - records of CUPTI's activity API, as records of ours (raw/cuda_records.h).
 *
 * CUPTI's records grow with its version; what they begin with stays. Which fields a version has is a column of the table here, so
 * that nothing behind the end of a shorter record is read.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUPTI_ACTIVITY_H
#define ASCOPE_DEVICE_CUDA_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/layout.h"

enum {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_KERNEL = 10,
    CUPTI_MEMCPY_PEER = 22,
    CUPTI_MEMORY = 49,
    CUPTI_MEMORY_POOL = 50
};
/* The kinds that are asked for; both end with 0. Not every version has those of memory. */
extern const uint32_t cupti_activities[], cupti_memory_activities[];
enum { CUPTI_LEAST_VERSION = 12 }; /* of CUDA 10.2; its records of kernels have 144 bytes */

enum { CUPTI_RECORD_MOST = 112 };
struct cupti_record {
    const struct layout *layout;       /* of ours: cuda_task_layout, cuda_memory_layout */
    uint8_t record[CUPTI_RECORD_MOST]; /* all of it but the name of a kernel */
    uint32_t device;
    uint64_t begin_ns;
    const char *name; /* of a kernel, as the compiler made it, lent as long as CUPTI has the record; else NULL */
};

enum cupti_found {
    CUPTI_FOUND,
    CUPTI_FOUND_OTHER, /* a record of another kind */
    CUPTI_FOUND_PART   /* fewer bytes than this version's record has fields in */
};
enum cupti_found cupti_record_read(const uint8_t *activity, size_t bytes, uint32_t version, struct cupti_record *out);

#endif
