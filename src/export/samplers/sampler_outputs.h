/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_outputs.h - registry: the outputs of samplers. */
#ifndef ASCOPE_EXPORT_SAMPLERS_SAMPLER_OUTPUTS_H
#define ASCOPE_EXPORT_SAMPLERS_SAMPLER_OUTPUTS_H

#include "export/export.h"
#include "export/samplers/counter_tracks.h"
#include "export/samplers/usage_export.h"

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

#endif
