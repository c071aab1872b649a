/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_records.h - what ran on a GPU: records of ours, because no format of the vendor's is a file.
 *
 * One record for each kernel, copy and set, in the order in which CUPTI reported them. Times are ns of CUPTI's clock. The call that
 * launched it is the one with the same correlation id (field "request" of api_layout), on the host.
 */
#ifndef ASCOPE_RAW_CUDA_RECORDS_H
#define ASCOPE_RAW_CUDA_RECORDS_H

#include "raw/layout.h"

enum {
    CUDA_KIND,        /* enum cuda_kind */
    CUDA_COPY_KIND,   /* enum cuda_copy, of copies */
    CUDA_CORRELATION, /* 0: none */
    CUDA_BEGIN,
    CUDA_END,
    CUDA_NAME,  /* hash of the kernel's name; 0: none */
    CUDA_BYTES, /* copied or set */
    CUDA_GRAPH_NODE,
    CUDA_GRAPH, /* 0: launched alone */
    CUDA_STREAM,
    CUDA_CONTEXT,
    CUDA_REGISTERS, /* of a thread */
    CUDA_FROM,      /* enum cuda_memory, of copies */
    CUDA_TO,        /* the same, of copies and sets */
    CUDA_GRID_X,
    CUDA_GRID_Y,
    CUDA_GRID_Z,
    CUDA_BLOCK_X,
    CUDA_BLOCK_Y,
    CUDA_BLOCK_Z,
    CUDA_STATIC_SHARED, /* bytes of a block */
    CUDA_DYNAMIC_SHARED,
    CUDA_LOCAL, /* bytes of a thread */
    CUDA_PEER,  /* of a copy between devices: the other one */
    CUDA_FIELDS
};
enum cuda_kind { CUDA_IS_KERNEL = 1, CUDA_IS_COPY = 2, CUDA_IS_SET = 3, CUDA_IS_PEER_COPY = 4 };
extern const struct layout cuda_task_layout;

/* Numbers of CUPTI. */
const char *cuda_copy_name(unsigned copy_kind); /* "HtoD"; an unknown number: "?" */
const char *cuda_memory_name(unsigned memory);  /* "Pinned" */

#endif
