/* SPDX-License-Identifier: Apache-2.0 */
/* communication.h - collectives as a process of the timeline and as the table communication_statistic.
 * communication_db.h has them in the database. */
#ifndef ASCOPE_EXPORT_COMM_COMMUNICATION_H
#define ASCOPE_EXPORT_COMM_COMMUNICATION_H

#include "export/export.h"

bool communication_track(const struct export *x, struct trace *t, struct error *e);
bool communication_statistic(const struct export *x, struct table *out, struct error *e);

#endif
