/* SPDX-License-Identifier: Apache-2.0 */
/* usage_tables.h - utilisation of operating systems and their CPUs, as reports. */
#ifndef ASCOPE_EXPORT_SAMPLERS_USAGE_TABLES_H
#define ASCOPE_EXPORT_SAMPLERS_USAGE_TABLES_H

#include "export/samplers/usage_export.h"

bool usage_table(const struct export *x, const struct usage_report *r, struct table *out, struct error *e);
struct cell usage_source(const struct usage_part *p); /* the first cell of a row: the device's number, or "host" */

#endif
