/* SPDX-License-Identifier: Apache-2.0 */
/* task_counters.h - counters of tasks outside of the cores: L2 cache, address translation, page faults. */
#ifndef ASCOPE_EXPORT_SAMPLERS_TASK_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_TASK_COUNTERS_H

#include "export/export.h"

bool l2_cache_report(const struct export *x, struct table *out, struct error *e);
bool soc_pmu_report(const struct export *x, struct table *out, struct error *e);
bool page_fault_report(const struct export *x, struct table *out, struct error *e);

#endif
