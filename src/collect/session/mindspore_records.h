/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_records.h - what record.h records, as the files of MindSpore 2.6 and later have it (layout mindspore).
 *
 * A range that the user named is Python::PythonObserved::{name}, an operator PynativeFramework::RunOp::{name}. One
 * whose `modules` is "A;B" is A::B::{name}: that is how ranges of the dataset pipeline and of marks are named. `more`
 * is its custom_info. Memory of devices is recorded, that of the host is not; the queue, garbage collections and
 * parameters of modules have no place in these files.
 */
#ifndef ASCOPE_COLLECT_SESSION_MINDSPORE_RECORDS_H
#define ASCOPE_COLLECT_SESSION_MINDSPORE_RECORDS_H

#include <string.h>

#include "ascope/record.h"
#include "collect/ring/record_bytes.h"

/* A text behind the fixed part of a record, also an empty one. Returns where the next one goes. */
static inline uint8_t *ms_text_put(uint8_t *at, uint16_t type, struct ascope_text text)
{
    const struct tlv_bytes head = { type, text.n };
    memcpy(at, &head, sizeof head);
    if (text.n > 0)
        memcpy(at + sizeof head, text.at, text.n);
    return at + sizeof head + text.n;
}

void ms_op_put(const struct ascope_op *op, uint64_t end, uint32_t recorded);
void ms_memory_put(const struct ascope_memory *m);
void ms_memory_begin(void); /* of a recording: the peak is counted from here */

#endif
