/* SPDX-License-Identifier: Apache-2.0 */
/* flows.h - registry: flow events from calls of the host to what they started on a device. */
#ifndef ASCOPE_ANALYSE_FLOW_FLOWS_H
#define ASCOPE_ANALYSE_FLOW_FLOWS_H

#include "profile/chrome_trace.h"
#include "profile/collection.h"
#include "profile/profile.h"

/* FLOW_OF_CALL: all tasks that a call started share one flow. FLOW_OF_TASK: the task has its own flow, which begins
 * when the host launched it. `is_generic`: as in the older of the reference's two presentations. */
enum flow_kind { FLOW_NONE, FLOW_OF_CALL, FLOW_OF_TASK };
enum flow_kind flow_of_task(const struct profile *p, const struct device *d, size_t row, bool is_generic);
bool flow_of_collective(const struct profile *p, const struct device *d, size_t op);

/* chrome_flows.c: flow events of a Chrome trace as pairs of slices.
 *
 * A flow event is bound to a slice of its track by its time: a begin, and an end with binds_enclosing, to the
 * innermost slice around it; any other end to the next slice that begins. Events with the same category, name and id
 * are one flow. Events without a slice and ends without a begin, of which many files have thousands, are ignored. Ties
 * of the trace become pairs, too. */

struct chrome_flow_pairs {
    size_t n;
    uint32_t *from, *to; /* rows of slices; by from, then as in time */
};

/* False only without memory. */
bool chrome_flows_bind(struct chrome_flow_pairs *out, const struct chrome_trace *t, struct arena *mem);

/* chrome_flows.c: own times of the slices of a Chrome trace, and which slice is inside which.
 *
 * A slice is inside another one of its track only if that one contains it. Each moment of a track belongs to one
 * slice, that which began last: of two slices that overlap in part, the first one counts until the second one begins.
 * So own times are never negative, and their sum is the time in which the track is busy. */

enum { CHROME_NO_PARENT = UINT32_MAX };

struct chrome_rows {
    size_t first, end;        /* slices; of whole tracks */
    const bool *counts;       /* by slice - first: others are as if they were not there; NULL: all count */
    int64_t begin_ns, end_ns; /* only what lies in this range counts */
};

/* Both by slice - first. self_ns: 0 for slices that do not count. parent: the innermost slice that counts and contains
 * this one, or CHROME_NO_PARENT. */
void chrome_self(int64_t *self_ns, uint32_t *parent, const struct chrome_slices *s, const struct chrome_rows *rows);

/* kernels.c: the events on a device at which the flow events from the host end. */

/* After profile_analyse(). False only without memory. */
bool kernels_collect(struct kernels *k, const struct profile *p, struct arena *mem);

/* Sorts the rows as struct kernels says. */
bool kernels_sort(struct kernels *k, struct arena *mem);
bool kernels_take(struct kernels *k, size_t n, struct arena *mem); /* room for n rows, of which there are none yet */

/* flows.c: the name of a task in reports and on the timeline. */

/* The name and type of a task in outputs. `host` is its row of host_tasks; with NO_ROW, only data of the device is
 * used. */
struct task_label {
    name_id name, type;
};
struct task_label task_label(const struct profile *p, const struct tasks *t, size_t row, uint32_t host,
                             bool is_generic);

#endif
