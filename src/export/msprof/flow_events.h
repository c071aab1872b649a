/* SPDX-License-Identifier: Apache-2.0 */
/* flow_events.h - flow events from the host's calls to what they started on a device.
 *
 * A flow starts on the CANN process and has one or more ends on a device. Viewers draw it only if both ends are in slices that
 * exist; both processes therefore check here which flow events exist before they write their ends.
 */
#ifndef ASCOPE_EXPORT_MSPROF_FLOW_EVENTS_H
#define ASCOPE_EXPORT_MSPROF_FLOW_EVENTS_H

#include "analyse/flow/flows.h"
#include "export/export.h"

enum { FLOW_ID_BYTES = 48 };

/* Those of analyse/flow/flows.h whose both ends lie in the wanted part. */
enum flow_kind flow_to_task(const struct export *x, const struct device *d, size_t row);
bool flow_to_collective(const struct export *x, const struct device *d, size_t op);

/* The calls at which a FLOW_OF_CALL starts, by row; NULL: no memory. */
const bool *flow_starts(const struct export *x);

/* Ids, as text. A flow of a call is shared by all that the call started; one of a task is its own. */
const char *flow_call_id(const struct export *x, uint32_t call, char text[FLOW_ID_BYTES]);
const char *flow_task_id(const struct device *d, size_t row, char text[FLOW_ID_BYTES]);

#endif
