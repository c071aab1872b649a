/* SPDX-License-Identifier: Apache-2.0 */
/* framework_db.h - the databases of a collection of a framework.
 *
 * ascend_pytorch_profiler_{rank}.db has the tables of the device's database and the data of the framework. Texts are
 * ids of STRING_IDS, numbered from 0 in the order of their first use. (The reference numbers those of the framework
 * from 2^28 and those of memory from 2^29, but readers look ids up in the table.) An empty text is NO_STRING, which is
 * not in the table.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_DB_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_DB_H

#include "export/framework/collection_export.h"

bool pytorch_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ascend_mindspore_profiler_{rank}.db has the tables of the device's database, and of the framework its steps. */
bool ms_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* Their tables, to any database. */
bool pytorch_tables(const struct collection_export *x, struct db *db, struct error *e);
bool ms_tables(const struct collection_export *x, struct db *db, struct error *e);

enum { NO_STRING = UINT32_MAX };

/* The cell of a text of the framework in a column of ids. */
static inline struct cell cell_string(name_id name)
{
    return name == NAME_EMPTY ? cell_uint(NO_STRING) : cell_name(name);
}

#endif
