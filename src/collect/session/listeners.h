/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.h - registry: notifies listeners (ascope_listen) that recording begins and ends. */
#ifndef ASCOPE_COLLECT_SESSION_LISTENERS_H
#define ASCOPE_COLLECT_SESSION_LISTENERS_H

#include <string.h>

#include "ascope/record.h"
#include "ascope/session.h"
#include "collect/os_calls/os_call.h"
#include "collect/ring/record_bytes.h"
#include "collect/write/prof_writer.h"

bool listeners_any(void); /* whether a framework is listening */
void listeners_started(const struct ascope_options *o);
void listeners_stopping(void); /* notifies in reverse order those that were notified of the start */

/* mindspore_calls.c: Python calls as MindSpore has them: ranges in mindspore.op_range, each with its begin, its end
 * and its name.
 *
 * During the recording, calls and returns are short records in one file and names are in another; commits include the
 * lengths of both. When the recording ends, or is recovered, ranges are made from them and appended to
 * mindspore.op_range. If the process is killed during that, recovery does it again from the start. A call that is
 * still open then ends with the last record. Returns without a call are counted as lost. */

/* The time of a record in the file. Without a PROF directory readers know no clock, and take a count for 10 ns since
 * 1970. */
struct ms_clock {
    bool is_wall; /* there is no counter: times of records are in ns (host_clock_follow()) */
    int64_t wall_less_raw_ns;
};
uint64_t ms_clock_time(const struct ms_clock *c, uint64_t count);

/* What was made of the calls. Errors of files are in the prof_writer. */
struct ms_calls_made {
    uint64_t n_ranges, n_bytes, n_lost;
};
struct ms_calls_made ms_calls_make(const struct slices *calls, const struct slices *names, const struct ms_clock *clock,
                                   struct slices *ranges);

/* mindspore_records.c: what record.h records, as the files of MindSpore 2.6 and later have it (layout mindspore).
 *
 * A range that the user named is Python::PythonObserved::{name}, an operator PynativeFramework::RunOp::{name}. One
 * whose `modules` is "A;B" is A::B::{name}: that is how ranges of the dataset pipeline and of marks are named. `more`
 * is its custom_info. Memory of devices is recorded, that of the host is not; the queue, garbage collections and
 * parameters of modules have no place in these files. */

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
