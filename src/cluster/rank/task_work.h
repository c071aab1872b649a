/* SPDX-License-Identifier: Apache-2.0 */
/* task_work.h - the operations of the kernels of a rank: as the program recorded them, or by their shapes.
 *
 * Front ends record the operations of an operator as a range around its call, of the domain "mfu_flops": "48-mm". They
 * belong to those kernels launched in it that multiply matrices, by their time; what else the operator launched, such
 * as a transposition, has none of them.
 */
#ifndef ASCOPE_CLUSTER_RANK_TASK_WORK_H
#define ASCOPE_CLUSTER_RANK_TASK_WORK_H

#include "analyse/device/kernel_work.h"
#include "cluster/rank/rank.h"

struct task_work {
    double operations; /* 0: not known */
    enum number_kind numbers;
    name_id by;  /* the operator of the range, or the type of the kernel's */
    uint32_t op; /* that launched it: row of ops; NO_ROW: not known */
};

/* One for each task of the rank. NULL: no memory. */
struct task_work *task_work_find(const struct rank *r, struct arena *mem);

#endif
