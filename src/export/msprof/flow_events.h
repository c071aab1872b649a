/* flow_events.h - from the host's calls to what they started on a device.
 *
 * An arrow has a start on the CANN process and one or more heads on a device. Viewers draw it only when both ends lie in
 * slices that are there, so the two processes ask here which arrows exist before they write their ends.
 */
#ifndef ASCOPE_EXPORT_MSPROF_FLOW_EVENTS_H
#define ASCOPE_EXPORT_MSPROF_FLOW_EVENTS_H

#include "analyse/flow/flows.h"
#include "export/export.h"

enum { ARROW_ID_BYTES = 48 };

/* Those of analyse/flow/flows.h whose both ends lie in the wanted part. */
enum arrow_kind arrow_to_task(const struct export *x, const struct device *d, size_t row);
bool arrow_to_collective(const struct export *x, const struct device *d, size_t op);

/* The calls at which an ARROW_OF_CALL starts, by row; NULL: no memory. */
const bool *arrow_starts(const struct export *x);

/* Ids, as text. An arrow of a call is shared by all that the call started; one of a task is its own. */
const char *arrow_call_id(const struct export *x, uint32_t call, char text[ARROW_ID_BYTES]);
const char *arrow_task_id(const struct device *d, size_t row, char text[ARROW_ID_BYTES]);

#endif
