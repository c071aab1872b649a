/* SPDX-License-Identifier: Apache-2.0 */
/* framework_files.h - registry: the outputs of a collection, beyond those of its PROF directory. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_FILES_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_FILES_H

#include "export/framework/collection_export.h"
#include "export/framework/framework_db.h"
#include "export/framework/host_tracks.h"

/* framework_api_db.c: the framework's calls in the database: PYTORCH_API and its texts. */
/* PYTORCH_API, CONNECTION_IDS and PYTORCH_CALLCHAINS. */
bool pytorch_api_db(const struct collection_export *x, struct db *db, struct error *e);

/* framework_memory.c: memory of a PyTorch collection: memory_record.csv, operator_memory.csv, npu_module_mem.csv.
 * framework_memory_db.h has it in the database. */
bool framework_memory_record(const struct collection_export *x, struct table *out, struct error *e);
bool framework_operator_memory(const struct collection_export *x, struct table *out, struct error *e);
bool framework_module_memory(const struct collection_export *x, struct table *out, struct error *e);

/* framework_memory_db.c: memory of a PyTorch collection in the database: MEMORY_RECORD and OP_MEMORY. */
bool framework_memory_db(const struct collection_export *x, struct db *db, struct error *e);

/* framework_tracks.c: the data of PyTorch on the timeline: operators, the task queue, Python calls, garbage
 * collections. */
extern const struct host_tracks torch_host_tracks;

/* kernel_details.c: kernel_details.csv: op_summary with the framework's names of columns, and the step of each row. */
bool collection_has_kernels(const struct collection *s); /* a device was recorded, at a level that has kernels */
bool kernel_details_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_memory.c: memory of a collection of MindSpore: memory_record.csv, operator_memory.csv. */
bool ms_memory_record(const struct collection_export *x, struct table *out, struct error *e);
/* Older releases wrote the table themselves: then it is a copy. */
bool ms_operator_memory_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ms_pipeline_tables.c: the dataset pipeline of MindSpore: its nodes as a table, and a summary with advice. */
bool ms_pipeline_raw_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_pipeline_summary_csv(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool ms_pipeline_summary_json(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ms_step_trace.c: step_trace_time.csv of MindSpore: the time of each step on the device, by kind.
 *
 * A step is the time of its range on the host. Work that began in it counts as a whole; free time is cut at the ends of
 * the step. */
bool ms_step_trace_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_tables.c: tables of what MindSpore records of its operators and datasets: dataset.csv, operator_details.csv. */
bool ms_dataset_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_tracks.c: the data of MindSpore on the timeline: ranges, Python calls, operators of the CPU, flow events, layers
 * of scopes. */
extern const struct host_tracks ms_host_tracks;

/* operator_details.c: operator_details.csv: host and device time of each operator, own and with everything that it
 * called. */
bool collection_has_framework(const struct collection *s);
bool operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
