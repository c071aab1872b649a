/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/framework_outputs.h"
#include "export/framework/collection_export.h"
#include "export/framework/framework_files.h"

static bool is_level1(const struct collection *s)
{
    return s->settings.level >= PROFILER_LEVEL1;
}

static bool is_level2(const struct collection *s)
{
    return s->settings.level == PROFILER_LEVEL2;
}

static bool has_tasks(const struct collection *s)
{
    return s->settings.level != PROFILER_LEVEL_NONE;
}

static bool has_device(const struct collection *s)
{
    return s->has_device;
}

static bool wants_l2_cache(const struct collection *s)
{
    return s->settings.l2_cache;
}

static bool wants_io(const struct collection *s)
{
    return s->settings.sys_io;
}

static bool wants_links(const struct collection *s)
{
    return s->settings.sys_interconnection;
}

static bool has_gpu(const struct collection *s)
{
    return s->profile.chip->task_log == TASK_LOG_CUDA;
}

/* A collective of a GPU is one kernel: the bytes between pairs of ranks are unknown. */
static bool has_parts(const struct collection *s)
{
    return collection_has_kernels(s) && !has_gpu(s);
}

static bool wants_memory(const struct collection *s)
{
    return s->has_device && s->settings.profile_memory;
}

static bool wants_operator_memory(const struct collection *s)
{
    return s->settings.profile_memory && collection_has_framework(s);
}

static bool wants_shapes(const struct collection *s)
{
    return s->settings.record_shapes && collection_has_framework(s);
}

static bool wants_pipeline(const struct collection *s)
{
    return s->settings.data_process;
}

/* Every file of ASCEND_PROFILER_OUTPUT. The large ones come first, so that no thread ends up alone with one of them. */
/* clang-format off */
static const struct framework_output pt_outputs[] = {
    { .file = "trace_view.json", .about = "the whole timeline, for Perfetto, Chrome or MindStudio Insight",
      .is_timeline = true, .write = trace_view_write },
    { .file = "ascend_pytorch_profiler%s.db", .about = "everything as tables, for SQL and MindStudio Insight",
      .is_db = true, .write = pytorch_db_write },
    { .file = "analysis.db", .about = "steps and communication as tables", .is_db = true,
      .is_wanted = collection_has_kernels, .write = analysis_db_write },
    { .file = "communication.json", .about = "time of each collective by step, and bytes by kind of link",
      .is_wanted = collection_has_kernels, .write = communication_json_write },
    { .file = "communication_matrix.json", .about = "bytes of collectives by pair of ranks, by step",
      .is_wanted = has_parts, .write = communication_matrix_write },
    { .file = "memory_record.csv", .about = "memory of the devices over time, by component",
      .build = framework_memory_record, .time = "Timestamp(us)" },
    { .file = "operator_memory.csv", .about = "memory blocks of each operator, and how long it held them",
      .build = framework_operator_memory, .time = "Allocation Time(us)" },
    { .file = "npu_module_mem.csv", .about = "memory that the components of the system software held over time",
      .is_wanted = has_tasks, .build = framework_module_memory, .time = "Timestamp(us)", .is_of_device = true },
    { .file = "gpu_memory.csv", .about = "GPU memory allocated and freed, event by event",
      .report = "gpu_memory" },
    { .file = "operator_details.csv", .about = "operators: time on the host and on the device",
      .is_wanted = collection_has_framework, .build = operator_details_table },
    { .file = "kernel_details.csv", .about = "kernels of the device, with times, shapes, counters and step",
      .is_wanted = collection_has_kernels, .build = kernel_details_table },
    { .file = "step_trace_time.csv", .about = "where the time of each step went: computing, communication, waiting",
      .is_wanted = collection_has_kernels, .build = step_trace_time_table },
    { .file = "op_statistic.csv", .about = "operators by type and core: count and time",
      .is_wanted = is_level1, .report = "op_statistic" },
    { .file = "communication_statistic.csv", .about = "collectives by kind: count and time",
      .is_wanted = has_gpu, .report = "communication_statistic" },
    { .file = "api_statistic.csv", .about = "calls of the host's software stack by name: count and time",
      .is_wanted = is_level1, .report = "api_statistic" },
    { .file = "task_time.csv", .about = "every task of a device: kernel, start and duration",
      .is_new = true, .is_wanted = has_tasks, .report = "task_time" },
    { .file = "data_preprocess.csv", .about = "AI CPU kernels, and how they spent their time",
      .is_wanted = is_level2, .report = "aicpu" },
    { .file = "l2_cache.csv", .about = "L2 cache hits of tasks",
      .is_wanted = wants_l2_cache, .report = "l2_cache" },
    { .file = "soc_pmu.csv", .about = "address translation hits of tasks",
      .is_new = true, .is_wanted = wants_l2_cache, .report = "soc_pmu" },
    { .file = "nic.csv", .about = "network ports: load, packets, errors", .is_wanted = wants_io, .report = "nic" },
    { .file = "roce.csv", .about = "RoCE ports: load, packets, errors", .is_wanted = wants_io, .report = "roce" },
    { .file = "pcie.csv", .about = "traffic and latency of the PCIe link", .is_wanted = wants_links, .report = "pcie" },
    { .file = "hccs.csv", .about = "traffic of the links between devices", .is_wanted = wants_links, .report = "hccs" },
    { .file = "gpu_copies.csv", .about = "copies and sets of a GPU: bytes, from where to where, and how fast",
      .is_wanted = has_gpu, .report = "gpu_copies" },
    { .file = "gpu_counters.csv", .about = "GPUs over time: clocks, power, temperature, memory, load, PCIe and NVLink",
      .is_wanted = has_device, .report = "gpu_counters" },
};

/* The same for MindSpore. Tables of the device's export (is_copy) are written whatever was requested. */
static const struct framework_output ms_outputs[] = {
    { .file = "trace_view.json", .about = "the whole timeline, for Perfetto, Chrome or MindStudio Insight",
      .is_timeline = true, .write = trace_view_write },
    { .file = "ascend_mindspore_profiler%s.db", .about = "everything of the device as tables, for SQL and MindStudio Insight",
      .is_db = true, .write = ms_db_write },
    { .file = "communication_analyzer.db", .about = "communication as tables", .is_db = true,
      .is_wanted = has_device, .write = communication_analyzer_write },
    { .file = "communication.json", .about = "time of each collective by step, and bytes by kind of link",
      .is_wanted = has_device, .write = communication_json_write },
    { .file = "communication_matrix.json", .about = "bytes of collectives by pair of ranks, by step",
      .is_wanted = has_device, .write = communication_matrix_write },
    { .file = "memory_record.csv", .about = "memory of the device over time, by component", .is_wanted = wants_memory,
      .build = ms_memory_record, .time = "Timestamp(us)" },
    { .file = "operator_memory.csv", .about = "memory blocks of each operator, and how long it held them",
      .is_wanted = wants_operator_memory, .write = ms_operator_memory_write },
    { .file = "npu_module_mem.csv", .about = "memory that the components of the system software held over time",
      .is_wanted = wants_memory, .report = "npu_module_mem" },
    { .file = "dataset.csv", .about = "stages of the dataset pipeline: count and time",
      .is_wanted = collection_has_framework, .build = ms_dataset_table },
    { .file = "operator_details.csv", .about = "operators and the shapes of their inputs",
      .is_wanted = wants_shapes, .build = ms_operator_details_table },
    { .file = "minddata_pipeline_raw%s.csv", .about = "nodes of the dataset pipeline and how full their queues were", .is_of_dataset = true,
      .is_wanted = wants_pipeline, .build = ms_pipeline_raw_table },
    { .file = "minddata_pipeline_summary%s.csv", .about = "what the dataset pipeline spent its time on, and what to change", .is_of_dataset = true,
      .is_wanted = wants_pipeline, .write = ms_pipeline_summary_csv },
    { .file = "minddata_pipeline_summary%s.json", .about = "the same as JSON", .is_of_dataset = true, .is_wanted = wants_pipeline,
      .write = ms_pipeline_summary_json },
    { .file = "kernel_details.csv", .about = "kernels of the device, with times, shapes, counters and step",
      .is_wanted = collection_has_kernels, .build = kernel_details_table },
    { .file = "step_trace_time.csv", .about = "where the time of each step went: computing, communication, waiting",
      .is_wanted = collection_has_kernels, .build = ms_step_trace_table },
    { .file = "op_statistic.csv", .about = "operators by type and core: count and time",
      .report = "op_statistic", .is_copy = true },
    { .file = "communication_statistic.csv", .about = "collectives by kind: count and time",
      .is_wanted = has_gpu, .report = "communication_statistic" },
    { .file = "api_statistic.csv", .about = "calls of the host's software stack by name: count and time",
      .report = "api_statistic", .is_copy = true },
    { .file = "data_preprocess.csv", .about = "AI CPU kernels, and how they spent their time",
      .report = "aicpu", .is_copy = true },
    { .file = "l2_cache.csv", .about = "L2 cache hits of tasks",
      .report = "l2_cache", .is_copy = true },
    { .file = "static_op_mem.csv", .about = "memory that a graph planned for its operators",
      .report = "static_op_mem", .is_copy = true },
    { .file = "hbm.csv", .about = "bandwidth of the device's memory", .report = "hbm", .is_copy = true },
    { .file = "nic.csv", .about = "network ports: load, packets, errors", .report = "nic", .is_copy = true },
    { .file = "roce.csv", .about = "RoCE ports: load, packets, errors", .report = "roce", .is_copy = true },
    { .file = "pcie.csv", .about = "traffic and latency of the PCIe link", .report = "pcie", .is_copy = true },
    { .file = "hccs.csv", .about = "traffic of the links between devices", .report = "hccs", .is_copy = true },
    { .file = "gpu_copies.csv", .about = "copies and sets of a GPU: bytes, from where to where, and how fast",
      .is_wanted = has_gpu, .report = "gpu_copies" },
    { .file = "gpu_counters.csv", .about = "GPUs over time: clocks, power, temperature, memory, load, PCIe and NVLink",
      .is_wanted = has_device, .report = "gpu_counters" },
};
/* clang-format on */

struct output_rows framework_outputs(enum framework_id framework)
{
    static const struct output_rows of[FRAMEWORKS] = {
        [FRAMEWORK_PYTORCH] = { pt_outputs, sizeof pt_outputs / sizeof *pt_outputs },
        [FRAMEWORK_MINDSPORE] = { ms_outputs, sizeof ms_outputs / sizeof *ms_outputs },
    };
    return of[framework];
}
