/* SPDX-License-Identifier: Apache-2.0 */
/* prof_outputs.h - registry: the outputs of a PROF directory. */
#ifndef ASCOPE_EXPORT_MSPROF_PROF_OUTPUTS_H
#define ASCOPE_EXPORT_MSPROF_PROF_OUTPUTS_H

#include "export/export.h"
#include "export/msprof/tracks/mark_tracks.h"

/* api_statistic.c: calls of the host's software stack by name: counts and durations. */
bool api_statistic_report(const struct export *x, struct table *out, struct error *e);

/* fusion.c: operators that a model's compiler fused from several: fusion_op. */
bool fusion_report(const struct export *x, struct table *out, struct error *e);

/* gpu_copies.c: the table of memory copies and sets of GPUs: size, kinds of memory, bandwidth. */
bool gpu_copies_report(const struct export *x, struct table *out, struct error *e);

/* marks_table.c: marks of the user as a table: msprof_tx.csv and MSTX_EVENTS. */
bool marks_report(const struct export *x, struct table *out, struct error *e);
bool marks_db(const struct export *x, struct db *db, struct error *e);

/* memory_tables.c: memory of operators: memory_record, operator_memory and static_op_mem, and NPU_OP_MEM of the
 * database. */
bool memory_record_report(const struct export *x, struct table *out, struct error *e);
bool operator_memory_report(const struct export *x, struct table *out, struct error *e);
bool static_memory_report(const struct export *x, struct table *out, struct error *e);
bool memory_db(const struct export *x, struct db *db, struct error *e);

/* op_statistic.c: operators by type: counts and durations. */
bool op_statistic_report(const struct export *x, struct table *out, struct error *e);

/* op_summary.c: one row for each operator that ran on a device: name, times, data, and the counters of the cores. */
bool op_summary_report(const struct export *x, struct table *out, struct error *e);

/* overlap_track.c: computing, communication and idle times of a device: a process of the timeline and
 * OVERLAP_ANALYSIS. */
bool overlap_track(const struct export *x, struct trace *t, struct error *e);
bool overlap_db(const struct export *x, struct db *db, struct error *e);

/* pmu_db.c: the metrics of tasks in the database: one row for each task and metric. */
bool pmu_db(const struct export *x, struct db *db, struct error *e);

/* step_trace.c: iterations and training steps as a table: step_trace.csv. step_track.h has them on the timeline. */
bool step_trace_report(const struct export *x, struct table *out, struct error *e);

/* step_track.c: iterations and training steps on the timeline. */
bool step_trace_track(const struct export *x, struct trace *t, struct error *e);

/* task_time.c: every task of a device: kernel, type, begin and duration. */
bool task_time_report(const struct export *x, struct table *out, struct error *e);

/* aicpu.c: kernels of the AI CPU, and the queue that feeds a model: aicpu, dp and aicpu_mi. */
bool aicpu_report(const struct export *x, struct table *out, struct error *e);
bool data_queue_report(const struct export *x, struct table *out, struct error *e);
bool queue_wait_report(const struct export *x, struct table *out, struct error *e);

/* hardware.c: the tasks of the devices on the timeline: the process Ascend Hardware. hardware_db.h has them in the
 * database. */
bool hardware_track(const struct export *x, struct trace *t, struct error *e);

#endif
