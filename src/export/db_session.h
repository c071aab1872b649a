/* db_session.h - the tables of the database that say what the others are about: session, machine, names of numbers. */
#ifndef ASCOPE_EXPORT_DB_SESSION_H
#define ASCOPE_EXPORT_DB_SESSION_H

#include "export/export.h"

/* SESSION_TIME_INFO, NPU_INFO, RANK_DEVICE_MAP, HOST_INFO, META_DATA. What was lost on the way stands in META_DATA, under
 * names that begin with ASCOPE_: the reference's readers look for names of their own. */
bool session_db(const struct export *x, struct db *db, struct error *e);
/* All ENUM_* tables. */
bool enums_db(const struct export *x, struct db *db, struct error *e);

#endif
