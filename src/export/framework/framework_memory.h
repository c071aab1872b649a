/* framework_memory.h - memory of a session: memory_record.csv, operator_memory.csv, npu_module_mem.csv, and the tables
 * MEMORY_RECORD and OP_MEMORY of its database. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_H

#include "export/framework/collection_export.h"

enum { LIFE_COLUMNS = 15 }; /* of operator_memory and OP_MEMORY */

bool session_memory_record(const struct session_export *x, struct table *out, struct error *e);
bool session_operator_memory(const struct session_export *x, struct table *out, struct error *e);
bool session_module_memory(const struct session_export *x, struct table *out, struct error *e);
bool session_memory_db(const struct session_export *x, struct db *db, struct error *e);

#endif
