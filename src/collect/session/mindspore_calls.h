/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_calls.h - Python calls as MindSpore has them: ranges in mindspore.op_range, each with its begin, its end
 * and its name.
 *
 * During the recording, calls and returns are short records in one file and names are in another; commits include the
 * lengths of both. When the recording ends, or is recovered, ranges are made from them and appended to
 * mindspore.op_range. If the process is killed during that, recovery does it again from the start. A call that is still
 * open then ends with the last record. Returns without a call are counted as lost.
 */
#ifndef ASCOPE_COLLECT_SESSION_MINDSPORE_CALLS_H
#define ASCOPE_COLLECT_SESSION_MINDSPORE_CALLS_H

#include "collect/os_calls/os_call.h"
#include "collect/write/prof_writer.h"

/* The time of a record in the file. Without a PROF directory readers know no clock, and take a count for 10 ns since
 * 1970. */
struct ms_clock {
    bool is_wall; /* there is none; records count ns (host_clock_follow()) */
    int64_t wall_less_raw_ns;
};
uint64_t ms_clock_time(const struct ms_clock *c, uint64_t count);

/* What has become of them; what cannot be written or read is the writer's error (prof_writer.h). */
struct ms_calls_made {
    uint64_t n_ranges, n_bytes, n_lost;
};
struct ms_calls_made ms_calls_make(const struct slices *calls, const struct slices *names, const struct ms_clock *clock,
                                   struct slices *ranges);

#endif
