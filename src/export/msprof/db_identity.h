/* SPDX-License-Identifier: Apache-2.0 */
/* db_identity.h - the tables of the database that describe the others: collection, machine, names of numbers. */
#ifndef ASCOPE_EXPORT_MSPROF_DB_IDENTITY_H
#define ASCOPE_EXPORT_MSPROF_DB_IDENTITY_H

#include "export/export.h"

/* The tables of all db writers of the registry. */
bool device_db(const struct export *x, struct db *db, struct error *e);
/* SESSION_TIME_INFO, NPU_INFO, HOST_INFO. */
bool identity_db(const struct export *x, struct db *db, struct error *e);
/* RANK_DEVICE_MAP and META_DATA of a database without a framework, written last. Losses are rows of META_DATA whose
 * names begin with ASCOPE_; readers of the reference's databases ignore such names. */
bool about_db(const struct export *x, struct db *db, int64_t rank, struct error *e);
/* All ENUM_* tables. */
bool enums_db(const struct export *x, struct db *db, struct error *e);

/* Parts of the same, for the database of a framework. */
/* rank -1: unknown, but for what the device says */
bool ranks_db(const struct export *x, struct db *db, int64_t rank, struct error *e);
bool host_info_db(struct db *db, const char *uid, const char *name, struct arena *mem, struct error *e);
void metadata_schema(struct grid *g);
void metadata_losses(struct grid *g, const struct losses *lost);
void metadata_simulated(struct grid *g);
bool metadata_db(struct db *db, const struct grid *g, struct error *e);

/* Writes a small table that was filled row by row. Without rows the database has no such table. */
bool grid_db(struct db *db, const char *name, const struct db_column *column, const struct grid *g, struct error *e);

#endif
