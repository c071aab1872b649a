/* SPDX-License-Identifier: Apache-2.0 */
/* communication.h - collectives: a process of the timeline, communication_statistic, COMMUNICATION_OP and
 * COMMUNICATION_TASK_INFO. */
#ifndef ASCOPE_EXPORT_COMM_COMMUNICATION_H
#define ASCOPE_EXPORT_COMM_COMMUNICATION_H

#include "export/export.h"

bool communication_track(const struct export *x, struct trace *t, struct error *e);
bool communication_statistic(const struct export *x, struct table *out, struct error *e);

#endif
