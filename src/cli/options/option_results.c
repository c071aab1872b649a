/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option_results.h"

#include <string.h>

/* Names in the documented dialect. */
/* clang-format off */
static const struct option_result results[] = {
    { KEY_OUTPUT, NULL, "AI Core Freq", "msprof_*.json", false },
    { KEY_TASK_TIME, "on l0 l1 l2 l3", "CANN, Ascend Hardware, HCCL, Overlap Analysis",
      "op_summary_*.csv, task_time_*.csv, api_statistic_*.csv", false },
    { KEY_TASK_TIME, "on l1 l2 l3", "", "op_statistic_*.csv, hccl_statistic_*.csv, fusion_op_*.csv (of fused operators)", false },
    { KEY_TRAINING_TRACE, "on", "Ascend Hardware (Step Trace)", "step_trace_*.csv, step_trace_*.json", false },
    { KEY_ASCENDCL, "on", "CANN", "api_statistic_*.csv", false },
    { KEY_RUNTIME_API, "on", "CANN (Runtime)", "api_statistic_*.csv", false },
    { KEY_GE_API, "l0 l1", "CANN (graph engine)", "api_statistic_*.csv", false },
    { KEY_HCCL, "on", "CANN (HCCL)", "api_statistic_*.csv", false },
    { KEY_AICPU, "on", "", "aicpu_*.csv, dp_*.csv (of data queues)", false },
    { KEY_AIC_METRICS, NULL, "", "op_summary_*.csv (columns of counters)", true },
    { KEY_L2, "on", "", "l2_cache_*.csv, soc_pmu_*.csv (on some chips)", true },
    { KEY_MSPROFTX, "on", "the program's name", "msprof_tx_*.csv, msprof_tx_*.json", false },
    { KEY_TASK_MEMORY, "on", "", "memory_record_*.csv, operator_memory_*.csv, static_op_mem_*.csv (of loaded graphs)", false },
    { KEY_HARDWARE_MEM_FREQ, NULL, "LLC, HBM, NPU MEM",
      "hbm_*.csv (ddr_*.csv on some chips), llc_read_write_*.csv, npu_mem_*.csv, npu_module_mem_*.csv", false },
    { KEY_IO_FREQ, NULL, "NIC, RoCE", "nic_*.csv, roce_*.csv", false },
    { KEY_INTERCONNECTION_FREQ, NULL, "PCIe, HCCS", "pcie_*.csv, hccs_*.csv", false },
    { KEY_CPU_FREQ, NULL, "", "ai_cpu_pmu_events_*.csv, ctrl_cpu_pmu_events_*.csv, ts_cpu_pmu_events_*.csv, *_top_function_*.csv", false },
    { KEY_DVPP_FREQ, NULL, "", "dvpp_*.csv", false },
    { KEY_HOST_SYS, "cpu", "CPU Usage", "host_cpu_usage_*.csv", false },
    { KEY_HOST_SYS, "mem", "Memory Usage", "host_mem_usage_*.csv", false },
    { KEY_HOST_SYS, "disk", "Disk Usage", "host_disk_usage_*.csv", false },
    { KEY_HOST_SYS, "network", "Network Usage", "host_network_usage_*.csv", false },
    { KEY_HOST_SYS, "osrt", "OS Runtime API", "os_runtime_statistic_*.csv", false },
    { KEY_HOST_USAGE, "cpu", "", "cpu_usage_*.csv, process_cpu_usage_*.csv", false },
    { KEY_HOST_USAGE, "mem", "", "sys_mem_*.csv, process_mem_*.csv", false },
};
/* clang-format on */

/* Whether `list` (separated by commas) contains one of `words` (separated by blanks). */
static bool has_one(const char *list, const char *words)
{
    for (const char *w = words; *w; w += strspn(w, " ")) {
        const size_t n = strcspn(w, " ");
        for (const char *at = list; *at; at += strspn(at, ",")) {
            const size_t m = strcspn(at, ",");
            if (m == n && memcmp(at, w, n) == 0)
                return true;
            at += m;
        }
        w += n;
    }
    return false;
}

static bool holds(const struct options_json *j, const struct option_result *r)
{
    const char *const value = j->key[r->key].value;
    if (r->key == KEY_TRAINING_TRACE && j->front_end == ASCOPE_FRONT_END_ACL_JSON)
        return true; /* always on there */
    if (r->key == KEY_ASCENDCL && j->front_end == ASCOPE_FRONT_END_TENSORFLOW)
        return true; /* always on there */
    if (!value || !*value || j->key[r->key].has_no_effect)
        return false;
    if (r->needs_tasks && strcmp(j->key[KEY_TASK_TIME].value, "off") == 0)
        return false;
    return r->values ? has_one(value, r->values) : strcmp(value, "off") != 0 && strcmp(value, "none") != 0;
}

const struct option_result *option_result_next(const struct options_json *j, size_t *at)
{
    while (j->is_on && *at < sizeof results / sizeof *results) {
        const struct option_result *const r = &results[(*at)++];
        if (holds(j, r))
            return r;
    }
    return NULL;
}
