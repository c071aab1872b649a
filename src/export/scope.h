/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - the part of a collection that is exported: all of it, some steps, or some iterations of a model. */
#ifndef ASCOPE_EXPORT_SCOPE_H
#define ASCOPE_EXPORT_SCOPE_H

#include "export/export.h"

/* Fills scope, window and presentation, as the options ask. False when what was asked for does not exist: e says what does. */
bool scope_resolve(struct export *x, struct error *e);

/* The index of the wanted iteration that ran on a device at some time, or of the first one. */
uint64_t scope_iteration_at(const struct export *x, const struct device *d, int64_t at_ns);

/* Devices run their iterations at different times: from now on the timeline keeps what lies in the window of this device
 * (by its place in the profile), or of the host, which works for all of them. */
static const size_t SCOPE_HOST = SIZE_MAX;
void scope_look_at(const struct export *x, struct trace *t, size_t device);

/* True when a call of the host belongs to the wanted part of a device, or with SCOPE_HOST of any: it ended during the
 * collection, and it touches the time from the end of the device's iteration before to the end of the wanted ones. What
 * a device runs was called a while before. */
bool scope_has_call(const struct export *x, size_t device, size_t row);
/* True when a device ran some of what is wanted. */
bool scope_has_device(const struct export *x, size_t device);
/* True when what a device began then lies in the wanted part. */
bool scope_has_time(const struct export *x, const struct device *d, int64_t begin_ns);
/* The same for a task. */
bool scope_has_task(const struct export *x, const struct tasks *t, size_t row);
/* The host's half of a task, or NO_ROW: when the iterations of one model are wanted, work of others that runs at the same
 * time is shown as the device saw it. */
uint32_t scope_task_host(const struct export *x, const struct tasks *t, size_t row);

/* True when a collective is shown at all, and lies in the wanted part. */
bool scope_has_collective(const struct export *x, const struct device *d, size_t op);

#endif
