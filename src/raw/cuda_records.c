/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/cuda_records.h"

const struct layout cuda_task_layout = {
    .name = "ascope_cuda", .size = 112, .magic = { 0, W16, 0xFFFF, 0x4755 }, .n = CUDA_FIELDS,
    .field = {
        [CUDA_KIND] = { 2, W8, "kind" },
        [CUDA_COPY_KIND] = { 3, W8, "copy_kind" },
        [CUDA_CORRELATION] = { 4, W32, "correlation" },
        [CUDA_BEGIN] = { 8, W64, "begin" },
        [CUDA_END] = { 16, W64, "end" },
        [CUDA_NAME] = { 24, W64, "name" },
        [CUDA_BYTES] = { 32, W64, "bytes" },
        [CUDA_GRAPH_NODE] = { 40, W64, "graph_node" },
        [CUDA_GRAPH] = { 48, W32, "graph" },
        [CUDA_STREAM] = { 52, W32, "stream" },
        [CUDA_CONTEXT] = { 56, W32, "context" },
        [CUDA_REGISTERS] = { 60, W16, "registers" },
        [CUDA_FROM] = { 62, W8, "from" },
        [CUDA_TO] = { 63, W8, "to" },
        [CUDA_GRID_X] = { 64, W32, "grid_x" },
        [CUDA_GRID_Y] = { 68, W32, "grid_y" },
        [CUDA_GRID_Z] = { 72, W32, "grid_z" },
        [CUDA_BLOCK_X] = { 76, W32, "block_x" },
        [CUDA_BLOCK_Y] = { 80, W32, "block_y" },
        [CUDA_BLOCK_Z] = { 84, W32, "block_z" },
        [CUDA_STATIC_SHARED] = { 88, W32, "static_shared" },
        [CUDA_DYNAMIC_SHARED] = { 92, W32, "dynamic_shared" },
        [CUDA_LOCAL] = { 96, W32, "local" },
        [CUDA_PEER] = { 100, W32, "peer" },
    },
};

const struct layout cuda_memory_layout = {
    .name = "ascope_cuda_memory", .size = 80, .magic = { 0, W16, 0xFFFF, 0x474D }, .n = CUDA_MEMORY_FIELDS,
    .field = {
        [CUDA_MEMORY_OPERATION] = { 2, W8, "operation" },
        [CUDA_MEMORY_KIND] = { 3, W8, "kind" },
        [CUDA_MEMORY_CORRELATION] = { 4, W32, "correlation" },
        [CUDA_MEMORY_TIME] = { 8, W64, "time" },
        [CUDA_MEMORY_ADDRESS] = { 16, W64, "address" },
        [CUDA_MEMORY_BYTES] = { 24, W64, "bytes" },
        [CUDA_MEMORY_STREAM] = { 32, W32, "stream" },
        [CUDA_MEMORY_CONTEXT] = { 36, W32, "context" },
        [CUDA_MEMORY_POOL] = { 40, W64, "pool" },
        [CUDA_MEMORY_POOL_BYTES] = { 48, W64, "pool_bytes" },
        [CUDA_MEMORY_POOL_USED] = { 56, W64, "pool_used" },
        [CUDA_MEMORY_POOL_KEPT] = { 64, W64, "pool_kept" },
    },
};

const struct layout gpu_sample_layout = {
    .name = "ascope_gpu", .size = 80, .magic = { 0, W16, 0xFFFF, 0x4753 }, .n = GPU_SAMPLE_FIELDS,
    .field = {
        [GPU_SAMPLE_TIME] = { 8, W64, "time" },
        [GPU_SAMPLE_HAS] = { 2, W16, "has" },
        [GPU_SAMPLE_SM_MHZ] = { 4, W32, "sm_mhz" },
        [GPU_SAMPLE_MEMORY_MHZ] = { 16, W32, "memory_mhz" },
        [GPU_SAMPLE_POWER_MW] = { 20, W32, "power_mw" },
        [GPU_SAMPLE_TEMPERATURE_C] = { 24, W32, "temperature_c" },
        [GPU_SAMPLE_BUSY_PERCENT] = { 28, W16, "busy_percent" },
        [GPU_SAMPLE_MEMORY_BUSY_PERCENT] = { 30, W16, "memory_busy_percent" },
        [GPU_SAMPLE_USED_BYTES] = { 32, W64, "used_bytes" },
        [GPU_SAMPLE_TOTAL_BYTES] = { 40, W64, "total_bytes" },
        [GPU_SAMPLE_PCIE_TX] = { 48, W64, "pcie_tx" },
        [GPU_SAMPLE_PCIE_RX] = { 56, W64, "pcie_rx" },
        [GPU_SAMPLE_NVLINK_TX] = { 64, W64, "nvlink_tx" },
        [GPU_SAMPLE_NVLINK_RX] = { 72, W64, "nvlink_rx" },
    },
};

static const char *const copies[] = { "?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };
static const char *const operations[] = {
    "?", "Allocation", "Release", "Pool Created", "Pool Destroyed", "Pool Trimmed"
};
static const char *const memories[CUDA_MEMORY_KINDS] = { "Unknown", "Pageable", "Pinned",        "Device",
                                                         "Array",   "Managed",  "Device Static", "Managed Static" };

const char *cuda_copy_name(unsigned copy_kind)
{
    return copies[copy_kind < sizeof copies / sizeof *copies ? copy_kind : 0];
}

const char *cuda_memory_name(unsigned memory)
{
    return memories[memory < sizeof memories / sizeof *memories ? memory : 0];
}

const char *cuda_memory_operation_name(unsigned operation)
{
    return operations[operation < sizeof operations / sizeof *operations ? operation : 0];
}
