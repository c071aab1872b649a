/* SPDX-License-Identifier: Apache-2.0 */
/* ccu_tables.h - the collective communication units of a device: reports, a process of the timeline, a table. */
#ifndef ASCOPE_EXPORT_SAMPLERS_CCU_TABLES_H
#define ASCOPE_EXPORT_SAMPLERS_CCU_TABLES_H

#include "export/export.h"
#include "export/samplers/counter_tracks.h"

bool ccu_mission_report(const struct export *x, struct table *out, struct error *e);
bool ccu_channel_report(const struct export *x, struct table *out, struct error *e);
bool ccu_db(const struct export *x, struct db *db, struct error *e);
extern const struct counter_process ccu_process;

#endif
