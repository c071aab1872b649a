/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/registry.h"
#include "export/msprof/prof_outputs.h"
#include "export/msprof/cann.h"
#include "export/samplers/ccu_tables.h"
#include "export/comm/communication.h"
#include "export/comm/communication_db.h"
#include "export/samplers/sampler_outputs.h"
#include "export/samplers/counter_tracks.h"
#include "export/msprof/db_identity.h"
#include "export/export.h"
#include "export/msprof/dpu.h"
#include "export/msprof/hardware_db.h"
#include "export/msprof/tracks/mark_tracks.h"
#include "export/msprof/part_tracks.h"
#include "export/samplers/core_samples.h"
#include "export/samplers/link_counters.h"
#include "export/samplers/memory_counters.h"
#include "export/samplers/usage_export.h"

/* One row per table file: its name, its name in the documented dialect if that differs, its description, its
 * function. */
/* clang-format off */
static const struct report reports[] = {
    { "op_summary", NULL, "operators: times, shapes and counters of the cores",
      op_summary_report },
    { "communication_statistic", "hccl_statistic", "collectives by kind: count and time",
      communication_statistic },
    { "op_statistic", NULL, "operators by type and core: count and time",
      op_statistic_report },
    { "task_time", NULL, "every task of a device: kernel, start and duration",
      task_time_report },
    { "api_statistic", NULL, "calls of the host's software stack by name: count and time",
      api_statistic_report },
    { "l2_cache", NULL, "L2 cache hits of tasks",
      l2_cache_report },
    { "soc_pmu", NULL, "address translation hits of tasks",
      soc_pmu_report },
    { "page_fault", NULL, "page faults of tasks",
      page_fault_report },
    { "host_cpu_usage", NULL, "CPUs of the host: how many the program used, and needs",
      host_cpu_usage_table },
    { "host_mem_usage", NULL, "memory of the host: total, the program's peak, and what it needs",
      host_mem_usage_table },
    { "host_network_usage", NULL, "network cards of the host: speed, peak, and what is needed",
      host_network_usage_table },
    { "host_disk_usage", NULL, "disk traffic of the program: peak, and what is needed",
      host_disk_usage_table },
    { "host_numa_usage", NULL, "memory of the program on each NUMA node, and the hits of each node",
      host_numa_usage_table },
    { "host_roce_usage", NULL, "RDMA ports of the host: traffic and errors",
      host_roce_usage_table },
    { "os_runtime_statistic", NULL, "system and pthread calls of the program, by name and thread",
      os_runtime_statistic_table },
    { "cpu_usage", NULL, "what the CPUs of the host and of each device spent their time on",
      cpu_usage_table },
    { "process_cpu_usage", NULL, "share of each process in the CPU time since boot",
      process_cpu_usage_table },
    { "sys_mem", NULL, "memory of the host and of each device, as their kernels see it",
      sys_mem_table },
    { "process_mem", NULL, "memory of each process",
      process_mem_table },
    { "ai_cpu_pmu_events", NULL, "hardware events of the CPUs that run AI CPU kernels",
      ai_cpu_events_table },
    { "ai_cpu_top_function", NULL, "functions in which those CPUs spent their cycles",
      ai_cpu_functions_table },
    { "ctrl_cpu_pmu_events", NULL, "hardware events of the CPUs that control a device",
      ctrl_cpu_events_table },
    { "ctrl_cpu_top_function", NULL, "functions in which those CPUs spent their cycles",
      ctrl_cpu_functions_table },
    { "ts_cpu_pmu_events", NULL, "hardware events of the CPU that schedules tasks",
      ts_cpu_events_table },
    { "ts_cpu_top_function", NULL, "addresses at which that CPU spent its cycles",
      ts_cpu_functions_table },
    { "dvpp", NULL, "units that encode and decode images and video",
      dvpp_table },
    { "hbm", NULL, "traffic of the high bandwidth memory: means of all its parts and of each",
      hbm_report },
    { "ddr", NULL, "traffic of the DDR memory",
      ddr_report },
    { "llc_read_write", NULL, "the last-level cache: hits and traffic",
      llc_report },
    { "npu_mem", NULL, "memory in use, of the program and of the whole device, over time",
      npu_mem_report },
    { "gpu_copies", NULL, "copies and sets of a GPU: bytes, from where to where, and how fast",
      gpu_copies_report },
    { "gpu_memory", NULL, "GPU memory allocated and freed, event by event",
      gpu_memory_report },
    { "npu_module_mem", NULL, "memory that each module of the system software holds, over time",
      module_mem_report },
    { "pcie", NULL, "traffic and latency of the PCIe link",
      pcie_report },
    { "hccs", NULL, "traffic of the links between devices",
      hccs_report },
    { "gpu_counters", NULL, "GPUs over time: clocks, power, temperature, memory, load, PCIe and NVLink",
      gpu_counters_report },
    { "nic", NULL, "network ports: load, packets, errors",
      nic_report },
    { "roce", NULL, "RoCE ports: load, packets, errors",
      roce_report },
    { "ccu_mission", NULL, "instructions of the collective communication units, and how long they waited for each rank",
      ccu_mission_report },
    { "ccu_channel", NULL, "channels of those units: bandwidth",
      ccu_channel_report },
    { "ub", NULL, "ports of the unified bus: traffic",
      ub_report },
    { "ai_core_utilization", NULL, "sampled AI cores: what they spent their time on",
      core_report },
    { "ai_vector_core_utilization", NULL, "sampled vector cores: what they spent their time on",
      vector_core_report },
    { "step_trace", NULL, "iterations and training steps: forward, backward, reductions", step_trace_report },
    { "msprof_tx", NULL, "marks of the user, on the host and on devices", marks_report },
    { "memory_record", NULL, "memory that operators allocated and freed, event by event", memory_record_report },
    { "operator_memory", NULL, "how long operators held their memory", operator_memory_report },
    { "static_op_mem", NULL, "memory that a graph planned for its operators", static_memory_report },
    { "fusion_op", NULL, "fused operators and their memory", fusion_report },
    { "aicpu", NULL, "AI CPU kernels, and how they spent their time", aicpu_report },
    { "dp", NULL, "what passed through the queue that feeds the model", data_queue_report },
    { "aicpu_mi", NULL, "how long the model waited for that queue", queue_wait_report },
    { 0 },
};

/* One row per process of the timeline: its name in a -reports file, the file that it is also written to separately,
 * its function. */
static const struct track tracks[] = {
    { "cann", NULL, cann_track },
    { "ascend", NULL, hardware_track },
    { "dpu", NULL, dpu_track },
    { "communication", NULL, communication_track },
    { "overlap_analyse", NULL, overlap_track },
    { "step_trace", "step_trace", step_trace_track },
    { "cpu_usage", NULL, cpu_usage_track },
    { "memory_usage", NULL, memory_usage_track },
    { "network_usage", NULL, network_usage_track },
    { "disk_usage", NULL, disk_usage_track },
    { "os_runtime_api", NULL, os_runtime_track },
    { "fusion_task", NULL, fused_track },
    { "block_detail", NULL, block_track },
    { "freq", NULL, freq_track },
    { "freq", NULL, voltage_track },
    { "msproftx", "msprof_tx", marks_track },
    { "device_tx", "msprof_tx", device_marks_track },
    { 0 },
};

/* Groups of tables of the database. */
static const struct db_writer db_writers[] = {
    { cann_db, "CANN_API" },
    { hardware_db, "TASK COMPUTE_TASK_INFO" },
    { communication_db, "COMMUNICATION_OP COMMUNICATION_TASK_INFO" },
    { overlap_db, NULL },
    { pmu_db, NULL },
    { ccu_db, NULL },
    { dpu_db, NULL },
    { usage_db, NULL },
    { counters_db, NULL },
    { freq_db, "AICORE_FREQ" },
    { core_db, NULL },
    { marks_db, "MSTX_EVENTS" },
    { identity_db, "HOST_INFO" },
    { enums_db, "ENUM_API_TYPE ENUM_HCCL_DATA_TYPE" },
    { memory_db, NULL },
    { 0 },
};
/* clang-format on */

#define ROWS_OF(table) (sizeof(table) / sizeof *(table)-1) /* without the last, which is empty */
const struct registry prof_registry = {
    .report = reports,
    .n_reports = ROWS_OF(reports),
    .track = tracks,
    .n_tracks = ROWS_OF(tracks),
    .db_writer = db_writers,
    .n_db_writers = ROWS_OF(db_writers),
};
