/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/family.h"

#include <string.h>

/* Exact names precede the patterns that match them, too. */
static const struct family families[] = {
    { "api_event.data", 40, "calls of the host's software stack" },
    { "compact.node_basic_info", 64, "operators: type, task type, blocks" },
    { "compact.node_attr_info", 64, "operators: attributes" },
    { "compact.task_track", 64, "tasks as they were launched" },
    { "compact.memcpy_info", 64, "memory copies" },
    { "compact.hccl_op_info", 64, "collective operators" },
    { "compact.capture_stream_info", 64, "streams of captured graphs" },
    { "compact.memset_info", 64, "memory that was set; no report shows it" },
    { "compact.mem_mng_info", 64, "memory management; no report shows it" },
    { "compact.stream_sq_info", 64, "queues of streams; no report shows it" },
    { "compact.expand_stream_spec", 64, "streams of other numbers" },
    { "compact.dpu_track", 64, "tasks of data processing units" },
    { "compact.*", 64, "host records" },
    { "additional.hash_dic", 0, "names of the hashes" },
    { "additional.type_info_dic", 0, "names of the record types" },
    { "additional.tensor_info", 256, "shapes, types and formats of tensors" },
    { "additional.context_id_info", 256, "contexts of tasks" },
    { "additional.fusion_op_info", 256, "fused operators" },
    { "additional.graph_id_map", 256, "names of models" },
    { "additional.hccl_info", 256, "parts of collectives" },
    { "additional.msproftx", 256, "marks of the user" },
    { "additional.task_memory_info", 256, "memory of operators" },
    { "additional.static_op_mem", 256, "memory of static graphs" },
    { "additional.mc2_comm_info", 256, "groups of collectives that the AI CPU runs" },
    { "additional.Multi_Thread", 256, "helper threads; no report shows it" },
    { "additional.memory_application", 256, "memory of the framework; no report shows it" },
    { "additional.diagnostic", 256, "what the collector says about itself; no report shows it" },
    { "additional.logic_stream_info", 256, "streams as reports number them" },
    { "additional.capture_op_info", 256, "operators of captured graphs" },
    { "additional.dpu_hccl_info", 256, "communication of data processing units" },
    { "additional.ccu_task_info", 256, "tasks of communication units; no report shows it" },
    { "additional.ccu_group_info", 256, "groups of loops of communication units" },
    { "additional.ccu_wait_signal_info", 256, "waits of communication units" },
    { "additional.*", 256, "host records" },
    { "variable.capture_op_info", 0, "operators of captured graphs" },
    { "host_cpu.data", 0, "CPU use of the process" },
    { "host_mem.data", 0, "memory use of the process" },
    { "host_network.data", 0, "network use of the host" },
    { "host_disk.data", 0, "disk use of the process" },
    { "host_numa.data", 0, "memory nodes of the host" },
    { "host_roce.data", 0, "RDMA ports of the host" },
    { "host_syscall.data", 0, "system calls" },
    { "host_pthreadcall.data", 0, "thread library calls" },
    { "host_sys_cpu.data", 0, "CPU use of the host" },
    { "host_sys_mem.data", 0, "memory use of the host" },
    { "SystemCpuUsage.data", 0, "CPU use of the device" },
    { "Memory.data", 0, "memory use of the device" },
    { "*-CpuUsage.data", 0, "CPU use of one process" },
    { "*-Memory.data", 0, "memory use of one process" },
    { "stars_soc.data", 64, "begin and end of tasks" },
    { "ffts_profile.data", 0, "counters of the cores" },
    { "stars_soc_profile.data", 64, "counters of the chip" },
    { "ts_track.data", 40, "steps and task scheduler" },
    { "aicpu.data", 256, "AI CPU" },
    { "DATA_PREPROCESS.AICPU", 0, "AI CPU" },
    { "DATA_PREPROCESS.DP", 0, "data queues" },
    { "DATA_PREPROCESS.*", 0, "AI CPU and data queues" },
    { "ascope_cuda.data", 112, "kernels, copies and sets" },
    { "ascope_cuda_memory.data", 80, "memory that was asked of a GPU, and its pools" },
    { "ascope_gpu.data", 80, "counters of a GPU" },
    { "hwts.data", 64, "begin and end of tasks" },
    { "hwts.aiv_data", 64, "tasks of the vector cores" },
    { "aicore.data", 0, "counters of the cores" },
    { "aiVectorCore.data", 0, "counters of the vector cores" },
    { "l2_cache.data", 72, "L2 cache of tasks" },
    { "socpmu.data", 80, "address translation of tasks" },
    { "hbm.data", 0, "on-chip memory" },
    { "ddr.data", 20, "memory of the chip" },
    { "llc.data", 24, "last level cache" },
    { "qos.data", 64, "quality of service" },
    { "pcie.data", 96, "PCIe" },
    { "hccs.data", 0, "links between chips" },
    { "nic.data", 0, "network card" },
    { "roce.data", 0, "RoCE" },
    { "netdev_stats.data", 0, "network statistics" },
    { "dvpp.*", 0, "image and video engines" },
    { "npu_mem.data", 32, "memory of the device" },
    { "npu_mem.app", 32, "memory of the process on the device" },
    { "npu_module_mem.data", 24, "memory of components" },
    { "tscpu.data", 304, "samples of the scheduler's CPU" },
    { "ai_ctrl_cpu.data", 0, "samples of the device's CPUs" },
    { "lpmFreqConv.data", 888, "core frequency" },
    { "lpmInfoConv.data", 888, "core voltage" },
    { "instr.biu_perf_group*", 0, "what the units of cores did" },
    { "instr.*", 0, "instruction samples" },
    { "ccu0.instr", 64, "instructions of a communication unit" },
    { "ccu1.instr", 64, "instructions of a communication unit" },
    { "ccu0.stat", 2816, "channels of a communication unit" },
    { "ccu1.stat", 2816, "channels of a communication unit" },
    { "stars_block.data", 0, "blocks of tasks, which the counters of the cores have, too; no report shows it" },
    { "nano_stars_profile.data", 0, "tasks and their counters" },
    { "ub.data", 128, "unified bus" },
    { "Framework.*", 0, "operators, of CANN before 7.0" },
    { "AclModule.*", 0, "calls of ACL, of CANN before 7.0" },
    { "HCCL.hcom_*", 0, "collectives, of CANN before 7.0" },
    { "runtime.*", 0, "calls of the runtime, of CANN before 7.0" },
};

/* Families that neither ascope nor the reference reads. */
static const char *const needless[] = { "compact.memset_info",           "compact.mem_mng_info",
                                        "compact.stream_sq_info",        "additional.Multi_Thread",
                                        "additional.memory_application", "additional.diagnostic",
                                        "additional.ccu_task_info",      "stars_block.data" };

/* Families that this version does not read, by chip. */
enum { NOT_A_LOG = ON_EVERY & ~(ON_STARS | ON_950), NOT_STARS = ON_EVERY & ~ON_STARS, NOT_HWTS = ON_EVERY & ~ON_HWTS };
static const struct {
    const char *family;
    unsigned on;         /* groups of chips that write it in another form, or in an unknown one */
    unsigned of_task_on; /* the same where the cores count for each task */
} unread[] = {
    { "compact.*", ON_EVERY, 0 },
    { "additional.*", ON_EVERY, 0 },
    { "DATA_PREPROCESS.*", ON_EVERY, 0 },
    { "stars_soc.data", NOT_A_LOG, 0 },
    { "stars_soc_profile.data", NOT_A_LOG & ~(ON_UNKNOWN | ON_NANO), 0 },
    { "ffts_profile.data", NOT_A_LOG, 0 },
    { "ascope_cuda.data", ON_EVERY & ~(ON_CUDA | ON_MSPTI), 0 },
    { "ascope_cuda_memory.data", ON_EVERY & ~ON_CUDA, 0 },
    { "hwts.data", NOT_HWTS, 0 },
    { "hwts.aiv_data", NOT_HWTS, 0 },
    { "aicore.data", NOT_HWTS, ON_310 },
    { "aiVectorCore.data", NOT_HWTS, ON_310 },
    { "llc.data", ON_310, 0 },
    { "qos.data", ON_950, 0 },
    { "instr.biu_perf_group*", ON_EVERY & ~ON_950, 0 },
    { "instr.*", ON_EVERY, 0 },
    { "ccu0.instr", ON_EVERY & ~ON_950, 0 },
    { "ccu1.instr", ON_EVERY & ~ON_950, 0 },
    { "ccu0.stat", ON_EVERY & ~ON_950, 0 },
    { "ccu1.stat", ON_EVERY & ~ON_950, 0 },
    { "additional.ccu_group_info", ON_EVERY & ~ON_950, 0 },
    { "additional.ccu_wait_signal_info", ON_EVERY & ~ON_950, 0 },
    { "nano_stars_profile.data", ON_EVERY, 0 },
    { "Framework.*", ON_EVERY, 0 }, /* the reference does not make its reports of these four any more */
    { "AclModule.*", ON_EVERY, 0 },
    { "HCCL.hcom_*", ON_EVERY, 0 },
    { "runtime.*", ON_EVERY, 0 },
    { "ub.data", ON_EVERY & ~ON_950, 0 },
};

static bool matches(const char *pattern, const char *stream)
{
    const size_t len = strlen(pattern), stream_len = strlen(stream);
    if (pattern[len - 1] == '*')
        return strncmp(pattern, stream, len - 1) == 0;
    if (pattern[0] == '*')
        return stream_len >= len - 1 && strcmp(stream + stream_len - (len - 1), pattern + 1) == 0;
    return strcmp(pattern, stream) == 0;
}

const struct family *family_find(const char *stream)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (matches(families[i].name, stream))
            return &families[i];
    return NULL;
}

bool family_is_read(const char *stream, const struct chip *c, bool samples_cores)
{
    const struct family *f = family_find(stream);
    for (size_t i = 0; f && i < sizeof unread / sizeof *unread; i++)
        if (strcmp(unread[i].family, f->name) == 0)
            return !((unread[i].on | (samples_cores ? 0 : unread[i].of_task_on)) & c->group);
    return f != NULL;
}

bool family_is_needless(const char *stream)
{
    for (size_t i = 0; i < sizeof needless / sizeof *needless; i++)
        if (strcmp(needless[i], stream) == 0)
            return true;
    return false;
}
