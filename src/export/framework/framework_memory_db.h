/* SPDX-License-Identifier: Apache-2.0 */
/* framework_memory_db.h - memory of a PyTorch collection in the database: MEMORY_RECORD and OP_MEMORY. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_DB_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_MEMORY_DB_H

#include "export/framework/framework_memory.h"

bool framework_memory_db(const struct collection_export *x, struct db *db, struct error *e);

#endif
