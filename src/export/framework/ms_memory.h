/* SPDX-License-Identifier: Apache-2.0 */
/* ms_memory.h - memory of a collection of MindSpore: memory_record.csv, operator_memory.csv. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_MEMORY_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_MEMORY_H

#include "export/framework/collection_export.h"

bool ms_memory_record(const struct collection_export *x, struct table *out, struct error *e);
/* Older releases wrote the table themselves: then it is a copy. */
bool ms_operator_memory_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

#endif
