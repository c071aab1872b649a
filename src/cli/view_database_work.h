/* SPDX-License-Identifier: Apache-2.0 */
/* view_database_work.h - the work of the kernels in a database of results, for the roofline. */
#ifndef ASCOPE_CLI_VIEW_DATABASE_WORK_H
#define ASCOPE_CLI_VIEW_DATABASE_WORK_H

#include "view/db_reader.h"
#include "view/view_input.h"

/* Of COMPUTE_TASK_INFO and TASK; what the device can do is in no database, and files beside it are not read. False: e says why. */
bool view_database_work(struct view_input *in, struct db_reader *r, struct error *e);

#endif
