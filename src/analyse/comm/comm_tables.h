/* SPDX-License-Identifier: Apache-2.0 */
/* comm_tables.h - allocates and sorts the tables of collectives. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_TABLES_H
#define ASCOPE_ANALYSE_COMM_COMM_TABLES_H

#include "base/memory/arena.h"
#include "profile/comm.h"

/* Changes the number of rows to n, which is not smaller than before; new rows are zeroed. False: no memory, and the
 * table is unchanged. */
bool comm_ops_resize(struct comm_ops *o, size_t n, struct arena *mem);
bool comm_tasks_resize(struct comm_tasks *t, size_t n, struct arena *mem);

/* By begin; equal ones stay in their order. */
bool comm_tasks_sort(struct comm_tasks *t, struct arena *scratch);

#endif
