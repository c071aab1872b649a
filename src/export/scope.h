/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - the part of a collection that is exported: all of it, some steps, or some iterations of a model. */
#ifndef ASCOPE_EXPORT_SCOPE_H
#define ASCOPE_EXPORT_SCOPE_H

#include "export/export.h"

/* Fills scope, windows and presentation from the options. False: the requested part does not exist, and e lists what
 * does. */
bool scope_resolve(struct export *x, struct error *e);

/* The index of the exported iteration that ran on a device at this time; the first exported one when none did. */
uint64_t scope_iteration_at(const struct export *x, const struct device *d, int64_t at_ns);

/* Devices run their iterations at different times: from now on trace_wants() accepts what lies in the window of this
 * device (an index into the profile's devices), or with SCOPE_HOST in that of any device, because the host works for
 * all of them. */
static const size_t SCOPE_HOST = SIZE_MAX;
void scope_set_window(const struct export *x, struct trace *t, size_t device);

/* True when a call of the host belongs to the exported part of a device, or with SCOPE_HOST of any device: it ended
 * during the collection, and it overlaps the time from the end of the device's previous iteration to the end of the
 * exported ones. Calls are earlier than what they launch, hence the previous iteration. */
bool scope_has_call(const struct export *x, size_t device, size_t row);
/* True when a device ran some of the exported iterations. */
bool scope_has_device(const struct export *x, size_t device);
/* True when work of a device that began at this time belongs to the exported part. */
bool scope_has_time(const struct export *x, const struct device *d, int64_t begin_ns);
/* The same for a row of its tasks. */
bool scope_has_task(const struct export *x, const struct tasks *t, size_t row);
/* The row of host_tasks that launched a task; NO_ROW: none is known, or only one model is exported and the task belongs
 * to another one, which is then shown with what the device knows of it. */
uint32_t scope_task_host(const struct export *x, const struct tasks *t, size_t row);

/* True when a collective is shown at all, and belongs to the exported part. */
bool scope_has_collective(const struct export *x, const struct device *d, size_t op);

#endif
