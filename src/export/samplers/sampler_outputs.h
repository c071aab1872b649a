/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_outputs.h - registry: the outputs of samplers. */
#ifndef ASCOPE_EXPORT_SAMPLERS_SAMPLER_OUTPUTS_H
#define ASCOPE_EXPORT_SAMPLERS_SAMPLER_OUTPUTS_H

#include "export/export.h"
#include "export/samplers/counter_tracks.h"

/* Reports and tracks about operating systems and their CPUs, and the frame that their tables share. */

typedef bool report_build(const struct export *x, struct table *out, struct error *e);
report_build host_cpu_usage_table, host_mem_usage_table, host_network_usage_table, host_disk_usage_table;
report_build os_runtime_statistic_table;
report_build cpu_usage_table, process_cpu_usage_table, sys_mem_table, process_mem_table;
report_build ai_cpu_events_table, ctrl_cpu_events_table, ts_cpu_events_table;
report_build ai_cpu_functions_table, ctrl_cpu_functions_table, ts_cpu_functions_table;
report_build dvpp_table;

typedef bool track_write(const struct export *x, struct trace *t, struct error *e);
track_write cpu_usage_track, memory_usage_track, network_usage_track, disk_usage_track, os_runtime_track;

/* A table is a grid, filled from one device after the other and then from the host; this is what `fill` gets of
 * each. */
struct usage_part {
    const struct source *source;
    const struct usage *usage;
    struct grid *grid; /* rows are added here; grid->mem is the memory for everything else */
    struct names *names;
    enum sampled_cpu cpu; /* of the report */
};
struct usage_report {
    const struct column *column;
    size_t n_columns;
    bool (*fill)(const struct usage_part *p); /* false: no memory */
    enum sampled_cpu cpu;                     /* of reports about one kind of CPU; else SAMPLED_CPUS */
};

/* count_tables.c: reports about NUMA nodes and RDMA ports of the host. */
report_build host_numa_usage_table, host_roce_usage_table;

/* gpu_counters.c: counters of a GPU (clocks, power, temperature, memory, load, links): report, track and table. */
extern const struct counter_process gpu_process;
extern const struct family_table gpu_tables[];
extern const size_t n_gpu_tables;

bool gpu_counters_report(const struct export *x, struct table *out, struct error *e);

/* gpu_memory.c: memory that a program allocated from CUDA, and CUDA's memory pools: report, track and table. */
extern const struct counter_process gpu_memory_process;
extern const struct family_table gpu_memory_tables[];
extern const size_t n_gpu_memory_tables;

bool gpu_memory_report(const struct export *x, struct table *out, struct error *e);

/* power_counters.c: frequency and voltage of the AI cores on the timeline and in the database. */
bool freq_track(const struct export *x, struct trace *t, struct error *e);
bool voltage_track(const struct export *x, struct trace *t, struct error *e);
bool freq_db(const struct export *x, struct db *db, struct error *e);

/* soc_counters.c: traffic inside a chip (QoS, SIO, SoC, accelerators): tracks and tables. */
extern const struct counter_process soc_process, chip_trans_process, acc_process, sio_process, qos_process;
extern const struct family_table soc_tables[];
extern const size_t n_soc_tables;

/* task_counters.c: counters of tasks outside of the cores: L2 cache, address translation, page faults. */
bool l2_cache_report(const struct export *x, struct table *out, struct error *e);
bool soc_pmu_report(const struct export *x, struct table *out, struct error *e);
bool page_fault_report(const struct export *x, struct table *out, struct error *e);

/* usage_tables.c: utilisation of operating systems and their CPUs, as reports. */
bool usage_table(const struct export *x, const struct usage_report *r, struct table *out, struct error *e);
struct cell usage_source(const struct usage_part *p); /* the first cell of a row: the device's number, or "host" */

/* usage_tracks.c: utilisation of operating systems, on the timeline and in the database. */
bool usage_db(const struct export *x, struct db *db, struct error *e);

/* ccu_tables.c: the collective communication units of a device: reports, a process of the timeline, a table. */

bool ccu_mission_report(const struct export *x, struct table *out, struct error *e);
bool ccu_channel_report(const struct export *x, struct table *out, struct error *e);
bool ccu_db(const struct export *x, struct db *db, struct error *e);
extern const struct counter_process ccu_process;

/* link_counters.c: links and ports of a device (HCCS, NIC, RoCE, PCIe): reports, tracks and tables. */

extern const struct counter_process pcie_process, hccs_process, nic_process, roce_process, ub_process;
extern const struct family_table link_tables[];
extern const size_t n_link_tables;

bool pcie_report(const struct export *x, struct table *out, struct error *e);
bool hccs_report(const struct export *x, struct table *out, struct error *e);
bool nic_report(const struct export *x, struct table *out, struct error *e);
bool ub_report(const struct export *x, struct table *out, struct error *e);
bool roce_report(const struct export *x, struct table *out, struct error *e);

/* core_samples.c: sampled AI cores: reports, tracks and tables. */

extern const struct counter_process core_process;
extern const struct family_table core_tables[];
extern const size_t n_core_tables;

bool core_report(const struct export *x, struct table *out, struct error *e);
bool vector_core_report(const struct export *x, struct table *out, struct error *e);

bool core_db(const struct export *x, struct db *db, struct error *e);

/* memory_counters.c: memory of a device (DDR, HBM, LLC, by module and process): reports, tracks and tables. */

extern const struct counter_process hbm_process, ddr_process, llc_process, npu_mem_process;
extern const struct family_table memory_tables[];
extern const size_t n_memory_tables;

bool hbm_report(const struct export *x, struct table *out, struct error *e);
bool ddr_report(const struct export *x, struct table *out, struct error *e);
bool llc_report(const struct export *x, struct table *out, struct error *e);
bool npu_mem_report(const struct export *x, struct table *out, struct error *e);
bool module_mem_report(const struct export *x, struct table *out, struct error *e);

#endif
