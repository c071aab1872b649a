/* SPDX-License-Identifier: Apache-2.0 */
/* dpu.h - what data processing units of the host ran: processes of the timeline, a table. */
#ifndef ASCOPE_EXPORT_MSPROF_DPU_H
#define ASCOPE_EXPORT_MSPROF_DPU_H

#include "export/export.h"

bool dpu_track(const struct export *x, struct trace *t, struct error *e);
bool dpu_db(const struct export *x, struct db *db, struct error *e);

#endif
