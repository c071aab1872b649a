/* SPDX-License-Identifier: Apache-2.0 */
/* db_identity.h - the tables of the database that describe the others: collection, machine, names of numbers. */
#ifndef ASCOPE_EXPORT_MSPROF_DB_IDENTITY_H
#define ASCOPE_EXPORT_MSPROF_DB_IDENTITY_H

#include "export/export.h"

/* SESSION_TIME_INFO, NPU_INFO, HOST_INFO. */
bool identity_db(const struct export *x, struct db *db, struct error *e);
/* RANK_DEVICE_MAP and META_DATA: what a database that only knows the devices says of itself, in the end. What was lost on the way stands
 * in META_DATA, under names that begin with ASCOPE_: the reference's readers look for names of their own. */
bool about_db(const struct export *x, struct db *db, struct error *e);
/* All ENUM_* tables. */
bool enums_db(const struct export *x, struct db *db, struct error *e);

/* The same, piece by piece, for a database that knows more. */
bool ranks_db(const struct export *x, struct db *db, int64_t rank, struct error *e); /* -1: not known */
bool host_info_db(struct db *db, const char *uid, const char *name, struct arena *mem, struct error *e);
void metadata_schema(struct grid *g, const char *const version[static 3]);
void metadata_losses(struct grid *g, const struct losses *lost);
void metadata_simulated(struct grid *g);
bool metadata_db(struct db *db, const struct grid *g, struct error *e);

/* A small table, filled row by row and written at once. */
bool grid_db(struct db *db, const char *name, const struct db_column *column, const struct grid *g, struct error *e);

#endif
