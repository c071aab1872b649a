/* SPDX-License-Identifier: Apache-2.0 */
/* flow_events.h - flow events from the host's calls to what they started on a device.
 *
 * A flow starts on the CANN process and has one or more ends on a device. Viewers draw it only if there is a slice at
 * both ends. Both processes therefore ask here which flows exist before they write their ends.
 */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_FLOW_EVENTS_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_FLOW_EVENTS_H

#include "analyse/flow/flows.h"
#include "export/export.h"

enum { FLOW_ID_BYTES = 48 };

/* The flows of analyse/flow/flows.h, if both of their ends belong to the exported part. */
enum flow_kind flow_to_task(const struct export *x, const struct device *d, size_t row);
bool flow_to_collective(const struct export *x, const struct device *d, size_t op);

/* For each row of calls: whether a FLOW_OF_CALL starts there. In x->mem; NULL: no memory. */
const bool *flow_starts(const struct export *x);

/* Ids as text, in `text`. All that a call started shares one flow; a flow of a task has one end. */
const char *flow_call_id(const struct export *x, uint32_t call, char text[FLOW_ID_BYTES]);
const char *flow_task_id(const struct device *d, size_t row, char text[FLOW_ID_BYTES]);

#endif
