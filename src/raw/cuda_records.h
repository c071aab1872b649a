/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_records.h - what ran on a GPU. The format is ascope's own, because the vendor's records are not written to
 * files.
 *
 * One record for each kernel, copy and set, in the order in which CUPTI reported them. Times are ns of CUPTI's clock.
 * The call that launched it is the one with the same correlation id (field "request" of api_layout), on the host.
 *
 * Those of an NPU, which MSPTI reported (PLATFORM_MSPTI), have the same form. There is no graph, no grid and no block;
 * CUDA_GRAPH_NODE is the hash of the type of a kernel ("KERNEL_AICORE") or of the group of a collective. Of collectives
 * ("hcom_allReduce_...") CUDA_BYTES is the number of elements, CUDA_COPY_KIND their type (of raw/enums.h), CUDA_GRID_X and
 * CUDA_GRID_Y are the hash of the algorithm, low half first.
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
    CUDA_PEER,  /* the destination of a copy between devices */
    CUDA_FIELDS
};
enum cuda_kind { CUDA_IS_KERNEL = 1, CUDA_IS_COPY = 2, CUDA_IS_SET = 3, CUDA_IS_PEER_COPY = 4 };
extern const struct layout cuda_task_layout;

/* Allocations and releases of memory, and memory pools, as the program requested them of CUDA: ascope_cuda_memory.data. */
enum {
    CUDA_MEMORY_TIME,
    CUDA_MEMORY_OPERATION, /* enum cuda_memory_operation */
    CUDA_MEMORY_KIND,      /* enum cuda_memory */
    CUDA_MEMORY_CORRELATION,
    CUDA_MEMORY_ADDRESS, /* of the memory, or of a pool */
    CUDA_MEMORY_BYTES,   /* of the memory; of a pool that was trimmed: what it may keep at least */
    CUDA_MEMORY_STREAM,
    CUDA_MEMORY_CONTEXT,
    CUDA_MEMORY_POOL,       /* its address; 0: none */
    CUDA_MEMORY_POOL_BYTES, /* its size afterwards */
    CUDA_MEMORY_POOL_USED,
    CUDA_MEMORY_POOL_KEPT, /* bytes that it keeps when memory is released */
    CUDA_MEMORY_FIELDS
};
enum cuda_memory_operation {
    CUDA_ALLOCATES = 1,
    CUDA_RELEASES,
    CUDA_POOL_IS_MADE,
    CUDA_POOL_IS_DESTROYED,
    CUDA_POOL_IS_TRIMMED
};
enum { CUDA_MEMORY_KINDS = 8 };
extern const struct layout cuda_memory_layout;
/* Counters of a GPU, sampled by the recorder: ascope_gpu.data. A counter that the GPU does not report is 0, and its bit
 * is not set in GPU_SAMPLE_HAS. Times are ticks of the host's counter. */
enum {
    GPU_SAMPLE_TIME,
    GPU_SAMPLE_HAS, /* a bit for each of the following: 1 << (field - GPU_SAMPLE_FIRST) */
    GPU_SAMPLE_FIRST,
    GPU_SAMPLE_SM_MHZ = GPU_SAMPLE_FIRST,
    GPU_SAMPLE_MEMORY_MHZ,
    GPU_SAMPLE_POWER_MW,
    GPU_SAMPLE_TEMPERATURE_C,
    GPU_SAMPLE_BUSY_PERCENT,
    GPU_SAMPLE_MEMORY_BUSY_PERCENT,
    GPU_SAMPLE_USED_BYTES,
    GPU_SAMPLE_TOTAL_BYTES,
    GPU_SAMPLE_PCIE_TX, /* bytes/s since the sample before, as the following */
    GPU_SAMPLE_PCIE_RX,
    GPU_SAMPLE_NVLINK_TX,
    GPU_SAMPLE_NVLINK_RX,
    GPU_SAMPLE_FIELDS
};
extern const struct layout gpu_sample_layout;

/* Numbers of CUPTI. */
const char *cuda_copy_name(unsigned copy_kind);             /* "HtoD"; an unknown number: "?" */
const char *cuda_memory_name(unsigned memory);              /* "Pinned" */
const char *cuda_memory_operation_name(unsigned operation); /* "Allocation" */

#endif
