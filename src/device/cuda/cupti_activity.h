/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_activity.h - converts records of CUPTI's activity API to those of raw/cuda_records.h.
 *
 * Later versions of CUPTI append fields to its records. The tables of fields here say since which version a field
 * exists, so that nothing behind the end of an older record is read.
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
/* The kinds of records that are enabled; both lists end with 0. Not every version has those of memory. */
extern const uint32_t cupti_activities[], cupti_memory_activities[];
enum { CUPTI_LEAST_VERSION = 12 }; /* of CUDA 10.2; its records of kernels have 144 bytes */

enum { CUPTI_RECORD_MOST = 112 };
struct cupti_record {
    const struct layout *layout;       /* of the result: cuda_task_layout or cuda_memory_layout */
    uint8_t record[CUPTI_RECORD_MOST]; /* the result, without the name of a kernel */
    uint32_t device;
    uint64_t begin_ns;
    const char *name; /* the mangled name of a kernel, lent as long as CUPTI's buffer is ours; else NULL */
};

enum cupti_found {
    CUPTI_FOUND,
    CUPTI_FOUND_OTHER, /* a record of a kind that is not recorded */
    CUPTI_FOUND_PART   /* too few bytes for the fields of this version */
};
enum cupti_found cupti_record_read(const uint8_t *activity, size_t bytes, uint32_t version, struct cupti_record *out);

#endif
