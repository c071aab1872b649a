/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_db.h - analysis.db: communication and steps of a collection as tables. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_ANALYSIS_DB_H
#define ASCOPE_EXPORT_FRAMEWORK_ANALYSIS_DB_H

#include "export/framework/framework_db.h"

bool analysis_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
/* Its tables, to any database. */
bool analysis_tables(const struct collection_export *x, struct db *db, struct error *e);
/* Parts of them: communication; StepTraceTime. */
bool communication_tables(const struct collection_export *x, struct db *db, struct error *e);
bool step_times_db(const struct collection_export *x, struct db *db, struct error *e);

#endif
