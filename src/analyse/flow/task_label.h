/* SPDX-License-Identifier: Apache-2.0 */
/* task_label.h - the name of a task in reports and on the timeline. */
#ifndef ASCOPE_ANALYSE_FLOW_TASK_LABEL_H
#define ASCOPE_ANALYSE_FLOW_TASK_LABEL_H

#include "profile/profile.h"

/* The name and type of a task in outputs. `host` is its row of host_tasks; with NO_ROW, only data of the device is
 * used. */
struct task_label {
    name_id name, type;
};
struct task_label task_label(const struct profile *p, const struct tasks *t, size_t row, uint32_t host,
                             bool is_generic);

#endif
