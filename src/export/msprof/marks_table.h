/* SPDX-License-Identifier: Apache-2.0 */
/* marks_table.h - marks of the user as a table: msprof_tx.csv and MSTX_EVENTS. */
#ifndef ASCOPE_EXPORT_MSPROF_MARKS_TABLE_H
#define ASCOPE_EXPORT_MSPROF_MARKS_TABLE_H

#include "export/msprof/mark_tracks.h"

bool marks_report(const struct export *x, struct table *out, struct error *e);
bool marks_db(const struct export *x, struct db *db, struct error *e);

#endif
