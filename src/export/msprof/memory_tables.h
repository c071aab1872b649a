/* SPDX-License-Identifier: Apache-2.0 */
/* memory_tables.h - memory of operators: memory_record, operator_memory and static_op_mem, and NPU_OP_MEM of the
 * database. */
#ifndef ASCOPE_EXPORT_MSPROF_MEMORY_TABLES_H
#define ASCOPE_EXPORT_MSPROF_MEMORY_TABLES_H

#include "export/export.h"

bool memory_record_report(const struct export *x, struct table *out, struct error *e);
bool operator_memory_report(const struct export *x, struct table *out, struct error *e);
bool static_memory_report(const struct export *x, struct table *out, struct error *e);
bool memory_db(const struct export *x, struct db *db, struct error *e);

#endif
