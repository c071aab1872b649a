/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h - the time in which a device computes, communicates, does both, or waits. */
#ifndef ASCOPE_ANALYSE_DEVICE_OVERLAP_H
#define ASCOPE_ANALYSE_DEVICE_OVERLAP_H

#include "profile/profile.h"
#include "profile/task_types.h"

/* Which rows count. NULL: all of them. */
struct overlap_part {
    const bool *task; /* of the device's tasks */
    const bool *op;   /* of the tasks that are operators */
    const bool *comm; /* of the communication operators */
    bool is_by_type;  /* tasks that task_does() knows by their types compute, too: no file of the vendor's form has
                       that */
};

/* False: out of memory. The intervals are in `mem`. */
bool overlap_build(const struct profile *p, const struct device *d, const struct overlap_part *part, struct arena *mem,
                   struct overlap *out);
/* For tasks with an operator. False: it is a collective on vector cores, or schedules one. */
bool task_is_computing(const struct profile *p, const struct tasks *t, size_t row);
/* What a task does. Where nothing of the host was recorded, by the type that the device gave it; then it has no
 * operator. */
enum task_does task_does(const struct profile *p, const struct tasks *t, size_t row);
bool overlap_analyse(struct profile *p, struct device *d, struct error *e);

#endif
