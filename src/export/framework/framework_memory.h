/* SPDX-License-Identifier: Apache-2.0 */
/* framework_memory.h - memory of a PyTorch collection: memory_record.csv, operator_memory.csv, npu_module_mem.csv.
 * framework_memory_db.h has it in the database. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_H

#include "export/framework/collection_export.h"

bool framework_memory_record(const struct collection_export *x, struct table *out, struct error *e);
bool framework_operator_memory(const struct collection_export *x, struct table *out, struct error *e);
bool framework_module_memory(const struct collection_export *x, struct table *out, struct error *e);

#endif
