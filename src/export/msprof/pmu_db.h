/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_db.h - the metrics of tasks in the database: one row for each task and metric. */
#ifndef ASCOPE_EXPORT_MSPROF_PMU_DB_H
#define ASCOPE_EXPORT_MSPROF_PMU_DB_H

#include "export/export.h"

bool pmu_db(const struct export *x, struct db *db, struct error *e);

#endif
