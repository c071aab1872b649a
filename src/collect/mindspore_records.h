/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_records.h - what record.h records, as the files of MindSpore 2.6 and later have it (layout mindspore).
 *
 * A range that the user named is Python::PythonObserved::{name}, an operator PynativeFramework::RunOp::{name}. One whose `modules` is
 * "A;B" is A::B::{name}: that is how ranges of the dataset pipeline and of marks are named. `more` is its custom_info. Memory of
 * devices is recorded, that of the host is not; the queue, garbage collections and parameters of modules have no place in these files.
 */
#ifndef ASCOPE_COLLECT_MINDSPORE_RECORDS_H
#define ASCOPE_COLLECT_MINDSPORE_RECORDS_H

#include "ascope/record.h"

void ms_op_put(const struct ascope_op *op, uint64_t end, uint32_t recorded);
void ms_memory_put(const struct ascope_memory *m);
void ms_memory_begin(void); /* of a recording: the peak is counted from here */

#endif
