/* SPDX-License-Identifier: Apache-2.0 */
/* view_database_work.h - the work of the kernels in a database of results, for the roofline. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_DATABASE_WORK_H
#define ASCOPE_VIEW_INPUTS_VIEW_DATABASE_WORK_H

#include "load/trace/db_reader.h"
#include "view/rows/view_input.h"

/* Reads COMPUTE_TASK_INFO and TASK. Peak rates of the device are unknown: no database has them, and other files are
 * not read. False: see e. */
bool view_database_work(struct view_input *in, struct db_reader *r, struct error *e);

#endif
