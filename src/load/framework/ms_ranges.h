/* SPDX-License-Identifier: Apache-2.0 */
/* ms_ranges.h - reads the ranges that MindSpore records: operators, Python calls, stages of datasets, and flows between
 * them. */
#ifndef ASCOPE_LOAD_FRAMEWORK_MS_RANGES_H
#define ASCOPE_LOAD_FRAMEWORK_MS_RANGES_H

#include "load/framework/framework_load.h"

void ms_ranges_load(struct framework_loading *l, struct framework_file *file);     /* mindspore.op_range */
void ms_old_ranges_load(struct framework_loading *l, struct framework_file *file); /* op_range_{rank} */

#endif
