/* SPDX-License-Identifier: Apache-2.0 */
/* api_statistic.h - calls of the host's software stack by name: counts and durations. */
#ifndef ASCOPE_EXPORT_MSPROF_API_STATISTIC_H
#define ASCOPE_EXPORT_MSPROF_API_STATISTIC_H

#include "export/export.h"

bool api_statistic_report(const struct export *x, struct table *out, struct error *e);

#endif
