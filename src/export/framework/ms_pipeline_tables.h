/* SPDX-License-Identifier: Apache-2.0 */
/* ms_pipeline_tables.h - the dataset pipeline of MindSpore: its nodes as a table, and a summary with advice. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_TABLES_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_TABLES_H

#include "export/framework/collection_export.h"

bool ms_pipeline_raw_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_pipeline_summary_csv(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool ms_pipeline_summary_json(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

#endif
