/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cupti_library.h"

#include <string.h>

#include "raw/cuda_records.h"

const uint32_t cupti_activities[] = { CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMSET, CUPTI_MEMCPY_PEER, 0 },
               cupti_memory_activities[] = { CUPTI_MEMORY, CUPTI_MEMORY_POOL, 0 };

enum { WITH_GRAPH_NODES = 13, WITH_GRAPHS = 14, WITH_USE_OF_POOLS = 17 }; /* versions of CUDA 11.0, 11.1, 11.6 */
enum { TO_DEVICE = 100, TO_NAME, TO_POOL_TYPE };                          /* destinations outside of the record */

struct cupti_activity_moved {
    struct field from; /* of CUPTI's record */
    uint8_t to;
    uint32_t since; /* version of CUPTI; 0: all */
};

static const struct cupti_activity_moved of_kernel[] = {
    { { 6, W16, "registersPerThread" }, CUDA_REGISTERS, 0 },
    { { 16, W64, "start" }, CUDA_BEGIN, 0 },
    { { 24, W64, "end" }, CUDA_END, 0 },
    { { 40, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 44, W32, "contextId" }, CUDA_CONTEXT, 0 },
    { { 48, W32, "streamId" }, CUDA_STREAM, 0 },
    { { 52, W32, "gridX" }, CUDA_GRID_X, 0 },
    { { 56, W32, "gridY" }, CUDA_GRID_Y, 0 },
    { { 60, W32, "gridZ" }, CUDA_GRID_Z, 0 },
    { { 64, W32, "blockX" }, CUDA_BLOCK_X, 0 },
    { { 68, W32, "blockY" }, CUDA_BLOCK_Y, 0 },
    { { 72, W32, "blockZ" }, CUDA_BLOCK_Z, 0 },
    { { 76, W32, "staticSharedMemory" }, CUDA_STATIC_SHARED, 0 },
    { { 80, W32, "dynamicSharedMemory" }, CUDA_DYNAMIC_SHARED, 0 },
    { { 84, W32, "localMemoryPerThread" }, CUDA_LOCAL, 0 },
    { { 92, W32, "correlationId" }, CUDA_CORRELATION, 0 },
    { { 104, W64, "name" }, TO_NAME, 0 },
    { { 144, W64, "graphNodeId" }, CUDA_GRAPH_NODE, WITH_GRAPH_NODES },
    { { 156, W32, "graphId" }, CUDA_GRAPH, WITH_GRAPHS },
};

static const struct cupti_activity_moved of_copy[] = {
    { { 4, W8, "copyKind" }, CUDA_COPY_KIND, 0 },
    { { 5, W8, "srcKind" }, CUDA_FROM, 0 },
    { { 6, W8, "dstKind" }, CUDA_TO, 0 },
    { { 8, W64, "bytes" }, CUDA_BYTES, 0 },
    { { 16, W64, "start" }, CUDA_BEGIN, 0 },
    { { 24, W64, "end" }, CUDA_END, 0 },
    { { 32, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 36, W32, "contextId" }, CUDA_CONTEXT, 0 },
    { { 40, W32, "streamId" }, CUDA_STREAM, 0 },
    { { 44, W32, "correlationId" }, CUDA_CORRELATION, 0 },
    { { 64, W64, "graphNodeId" }, CUDA_GRAPH_NODE, WITH_GRAPH_NODES },
    { { 72, W32, "graphId" }, CUDA_GRAPH, WITH_GRAPHS },
};

static const struct cupti_activity_moved of_set[] = {
    { { 8, W64, "bytes" }, CUDA_BYTES, 0 },
    { { 16, W64, "start" }, CUDA_BEGIN, 0 },
    { { 24, W64, "end" }, CUDA_END, 0 },
    { { 32, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 36, W32, "contextId" }, CUDA_CONTEXT, 0 },
    { { 40, W32, "streamId" }, CUDA_STREAM, 0 },
    { { 44, W32, "correlationId" }, CUDA_CORRELATION, 0 },
    { { 50, W16, "memoryKind" }, CUDA_TO, 0 },
    { { 64, W64, "graphNodeId" }, CUDA_GRAPH_NODE, WITH_GRAPH_NODES },
    { { 72, W32, "graphId" }, CUDA_GRAPH, WITH_GRAPHS },
};

static const struct cupti_activity_moved of_peer_copy[] = {
    { { 4, W8, "copyKind" }, CUDA_COPY_KIND, 0 },
    { { 5, W8, "srcKind" }, CUDA_FROM, 0 },
    { { 6, W8, "dstKind" }, CUDA_TO, 0 },
    { { 8, W64, "bytes" }, CUDA_BYTES, 0 },
    { { 16, W64, "start" }, CUDA_BEGIN, 0 },
    { { 24, W64, "end" }, CUDA_END, 0 },
    { { 32, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 36, W32, "contextId" }, CUDA_CONTEXT, 0 },
    { { 40, W32, "streamId" }, CUDA_STREAM, 0 },
    { { 52, W32, "dstDeviceId" }, CUDA_PEER, 0 },
    { { 60, W32, "correlationId" }, CUDA_CORRELATION, 0 },
    { { 72, W64, "graphNodeId" }, CUDA_GRAPH_NODE, WITH_GRAPH_NODES },
    { { 80, W32, "graphId" }, CUDA_GRAPH, WITH_GRAPHS },
};

static const struct cupti_activity_moved of_memory[] = {
    { { 4, W32, "memoryOperationType" }, CUDA_MEMORY_OPERATION, 0 },
    { { 8, W32, "memoryKind" }, CUDA_MEMORY_KIND, 0 },
    { { 12, W32, "correlationId" }, CUDA_MEMORY_CORRELATION, 0 },
    { { 16, W64, "address" }, CUDA_MEMORY_ADDRESS, 0 },
    { { 24, W64, "bytes" }, CUDA_MEMORY_BYTES, 0 },
    { { 32, W64, "timestamp" }, CUDA_MEMORY_TIME, 0 },
    { { 52, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 56, W32, "contextId" }, CUDA_MEMORY_CONTEXT, 0 },
    { { 60, W32, "streamId" }, CUDA_MEMORY_STREAM, 0 },
    { { 80, W32, "memoryPoolConfig.memoryPoolType" }, TO_POOL_TYPE, 0 },
    { { 88, W64, "memoryPoolConfig.address" }, CUDA_MEMORY_POOL, 0 },
    { { 96, W64, "memoryPoolConfig.releaseThreshold" }, CUDA_MEMORY_POOL_KEPT, 0 },
    { { 104, W64, "memoryPoolConfig.pool" }, CUDA_MEMORY_POOL_BYTES, 0 },
    { { 112, W64, "memoryPoolConfig.utilizedSize" }, CUDA_MEMORY_POOL_USED, WITH_USE_OF_POOLS },
};

static const struct cupti_activity_moved of_pool[] = {
    { { 4, W32, "memoryPoolOperationType" }, CUDA_MEMORY_OPERATION, 0 },
    { { 12, W32, "correlationId" }, CUDA_MEMORY_CORRELATION, 0 },
    { { 20, W32, "deviceId" }, TO_DEVICE, 0 },
    { { 24, W64, "minBytesToKeep" }, CUDA_MEMORY_BYTES, 0 },
    { { 32, W64, "address" }, CUDA_MEMORY_ADDRESS, 0 },
    { { 32, W64, "address" }, CUDA_MEMORY_POOL, 0 },
    { { 40, W64, "size" }, CUDA_MEMORY_POOL_BYTES, 0 },
    { { 48, W64, "releaseThreshold" }, CUDA_MEMORY_POOL_KEPT, 0 },
    { { 56, W64, "timestamp" }, CUDA_MEMORY_TIME, 0 },
    { { 64, W64, "utilizedSize" }, CUDA_MEMORY_POOL_USED, WITH_USE_OF_POOLS },
};

/* The layout of the result, and its fields for the kind of record and for its time. */
static const struct as {
    const struct layout *layout;
    uint8_t field, begin;
} tasks = { &cuda_task_layout, CUDA_KIND, CUDA_BEGIN },
  memory = { &cuda_memory_layout, CUDA_MEMORY_OPERATION, CUDA_MEMORY_TIME };

#define ROWS(table) table, sizeof(table) / sizeof *(table)
static const struct {
    uint32_t kind;
    const struct as *as;
    uint8_t
        plus; /* is added to the field for the kind: the kind itself, or an offset to CUPTI's number of the operation */
    const struct cupti_activity_moved *field;
    size_t n;
} known[] = {
    { CUPTI_KERNEL, &tasks, CUDA_IS_KERNEL, ROWS(of_kernel) },
    { CUPTI_MEMCPY, &tasks, CUDA_IS_COPY, ROWS(of_copy) },
    { CUPTI_MEMSET, &tasks, CUDA_IS_SET, ROWS(of_set) },
    { CUPTI_MEMCPY_PEER, &tasks, CUDA_IS_PEER_COPY, ROWS(of_peer_copy) },
    { CUPTI_MEMORY, &memory, 0, ROWS(of_memory) },
    { CUPTI_MEMORY_POOL, &memory, CUDA_POOL_IS_MADE - 1, ROWS(of_pool) },
};

enum { KNOWN = sizeof known / sizeof *known };

/* The record of a pool that was imported from another process has the id of that process in place of the size. */
static void imported_pool(const struct layout *l, uint8_t *record)
{
    layout_put(l, CUDA_MEMORY_POOL_BYTES, record, 0);
    layout_put(l, CUDA_MEMORY_POOL_USED, record, 0);
}

enum cupti_found cupti_record_read(const uint8_t *activity, size_t bytes, uint32_t version, struct cupti_record *out)
{
    enum { IMPORTED = 2 };
    static const struct field kind_field = { 0, W32, "kind" };
    const uint64_t kind = bytes < W32 ? 0 : field_get(&kind_field, activity);
    size_t k = 0;
    while (k < KNOWN && known[k].kind != kind)
        k++;
    if (k == KNOWN)
        return CUPTI_FOUND_OTHER;
    const struct layout *const l = out->layout = known[k].as->layout;
    const unsigned what = known[k].as->field;
    uint64_t pool_type = 0;
    layout_init(l, out->record);
    out->name = NULL;
    out->device = 0;
    for (size_t i = 0; i < known[k].n; i++) {
        const struct cupti_activity_moved *const f = &known[k].field[i];
        if (version < f->since)
            continue;
        if ((size_t)f->from.off + f->from.width > bytes)
            return CUPTI_FOUND_PART;
        const uint64_t value = field_get(&f->from, activity);
        if (f->to == TO_NAME)
            memcpy(&out->name, &value, sizeof out->name); /* an address of this process */
        else if (f->to == TO_DEVICE)
            out->device = (uint32_t)value;
        else if (f->to == TO_POOL_TYPE)
            pool_type = value;
        else
            layout_put(l, f->to, out->record, value);
    }
    if (pool_type == IMPORTED)
        imported_pool(l, out->record);
    layout_put(l, what, out->record, layout_get(l, what, out->record) + known[k].plus);
    out->begin_ns = layout_get(l, known[k].as->begin, out->record);
    return CUPTI_FOUND;
}
