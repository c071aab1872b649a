/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/streams.h"

#include "collect/prof_writer.h"

/* clang-format off */
const struct stream_row stream_table[STREAM_KINDS] = {
    [STREAM_TORCH_OP]          = { "torch.op_range", "operators", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_TORCH_QUEUE]       = { "torch.op_mark", "points of the task queue", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_TORCH_MEMORY]      = { "torch.memory_usage", "memory events", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_PYTHON_CALL]       = { "torch.python_tracer_func", "Python calls", 33, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_PYTHON_KEY]        = { "torch.python_tracer_hash", "names of Python functions", 0, PLACE_FRAMEWORK, CUT_NEVER, false, true, false },
    [STREAM_PYTHON_PARAMETERS] = { "torch.param_tensor_info", "parameters of modules", 0, PLACE_FRAMEWORK, CUT_NEVER, false, true, false },
    [STREAM_PYTHON_GC]         = { "torch.gc_record", "garbage collections", 24, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_FRAME]             = { "ascope.frames", "frames of call stacks", 0, PLACE_FRAMEWORK, CUT_NEVER, false, true, true },

    [STREAM_MS_RANGE]       = { "mindspore.op_range", "host ranges", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_MS_MEMORY]      = { "mindspore.memory_usage", "memory events", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_MS_MEMORY_TEXT] = { "cpu_ms_memory_record_%u.txt", "lines of memory events", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_MS_SHAPES]      = { "mindspore.record_shapes", "shapes of operators", 0, PLACE_FRAMEWORK, CUT_NEVER, false, false, false },
    [STREAM_MS_CALL]        = { "ascope.python_calls", "Python calls", 33, PLACE_FRAMEWORK, CUT_NEVER, false, false, true },
    [STREAM_MS_KEY]         = { "ascope.python_names", "names of Python functions", 0, PLACE_FRAMEWORK, CUT_NEVER, false, true, true },

    [STREAM_CALL]        = { "aging.api_event.data", "calls", 40, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_NODE]        = { "aging.compact.node_basic_info", "operators launched", 64, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_NODE_ATTR]   = { "aging.compact.node_attr_info", "attributes of operators", 64, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_TRACK]       = { "aging.compact.task_track", "launches", 64, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_MEMCPY]      = { "aging.compact.memcpy_info", "copies", 64, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_HCCL_OP]     = { "aging.compact.hccl_op_info", "collectives", 64, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_TENSOR]      = { "aging.additional.tensor_info", "shapes of operators", 256, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_CONTEXT]     = { "aging.additional.context_id_info", "contexts", 256, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_HCCL]        = { "aging.additional.hccl_info", "parts of collectives", 256, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_MARK]        = { "aging.additional.msproftx", "marks", 256, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_TASK_MEMORY] = { "aging.additional.task_memory_info", "memory of operators", 256, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_NAMES]       = { "unaging.additional.hash_dic", "names", 0, PLACE_HOST, CUT_BETWEEN, false, true, false },
    [STREAM_TYPES]       = { "unaging.additional.type_info_dic", "names of calls", 0, PLACE_HOST, CUT_BETWEEN, false, true, false },
    [STREAM_HOST_CPU]     = { "host_cpu.data", "samples of the host's CPUs", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_HOST_MEMORY]  = { "host_mem.data", "samples of the host's memory", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_HOST_NETWORK] = { "host_network.data", "samples of the network", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_HOST_DISK]    = { "host_disk.data", "samples of the disk", 0, PLACE_HOST, CUT_BETWEEN, false, false, false },
    [STREAM_SYSTEM_CALL]  = { "host_syscall.data", "system calls", 0, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_THREAD_CALL]  = { "host_pthreadcall.data", "calls of the thread library", 0, PLACE_HOST, CUT_BETWEEN, true, false, false },
    [STREAM_HOST_SYS_CPU]    = { "host_sys_cpu.data", "samples of the machine's CPUs", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_HOST_SYS_MEMORY] = { "host_sys_mem.data", "samples of the machine's memory", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_PROCESSES]       = { "ascope.processes", "samples of processes", 0, PLACE_HOST, CUT_NEVER, false, false, true },
    [STREAM_HOST_NUMA]       = { "host_numa.data", "samples of memory nodes", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },
    [STREAM_HOST_ROCE]       = { "host_roce.data", "samples of RDMA ports", 0, PLACE_HOST, CUT_SAMPLES, true, false, false },

    [STREAM_STARS]         = { "stars_soc.data", "device tasks", 64, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
    [STREAM_PMU]           = { "ffts_profile.data", "counters of the cores", 128, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_TS_TRACK]      = { "ts_track.data", "stamps of the scheduler", 40, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_AICPU]         = { "aicpu.data", "AI CPU tasks", 256, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_L2]            = { "l2_cache.data", "cache counters", 0, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
    [STREAM_SMMU]          = { "socpmu.data", "address translation of tasks", 80, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
    [STREAM_LPM]           = { "lpmFreqConv.data", "frequencies", 0, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_MODULE_MEMORY] = { "npu_module_mem.data", "memory of modules", 0, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_NPU_MEMORY]    = { "npu_mem.data", "memory of the device", 0, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_HBM]           = { "hbm.data", "memory bandwidth", 0, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_NIC]           = { "nic.data", "samples of the network card", 0, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
    [STREAM_ROCE]          = { "roce.data", "samples of RoCE", 0, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
    [STREAM_PCIE]          = { "pcie.data", "samples of PCIe", 96, PLACE_DEVICE, CUT_ANYWHERE, true, false, false },
    [STREAM_HCCS]          = { "hccs.data", "samples of links between chips", 0, PLACE_DEVICE, CUT_BETWEEN, true, false, false },
};
/* clang-format on */
