/* SPDX-License-Identifier: Apache-2.0 */
/* usage_export.h - reports and tracks about operating systems and their CPUs, and the frame that their tables share. */
#ifndef ASCOPE_EXPORT_SAMPLERS_USAGE_EXPORT_H
#define ASCOPE_EXPORT_SAMPLERS_USAGE_EXPORT_H

#include "export/export.h"

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

#endif
