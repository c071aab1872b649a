/* SPDX-License-Identifier: Apache-2.0 */
/* host_gaps.h - when the device had nothing to do because of the host, and which launch ended that.
 *
 * Only steps that count (advise.h), and only time that no other kind of time covers: not the host's waiting for data or
 * for requests, not garbage collections, not allocations of device memory. A recording without a device has no gaps.
 */
#ifndef ASCOPE_ANSWERS_CHECKS_HOST_GAPS_H
#define ASCOPE_ANSWERS_CHECKS_HOST_GAPS_H

#include "answers/run/rank_spans.h"

/* One interval in which the device had nothing to do. */
struct host_gap {
    int64_t begin_ns, end_ns;
    uint32_t step;
    bool is_kernel;          /* a kernel ended the gap */
    bool has_launch;         /* the device's work that ended the gap has a known launch */
    struct rank_span launch; /* the call */
    int64_t delay_ns;        /* from the end of that call to the work; below 0: the work began before */
};

struct host_gaps {
    size_t n; /* by begin */
    struct host_gap *at;
    struct busy_times free; /* the same intervals */
    double *step_ns;        /* their sum by row of the series */
    double sum_ns;
};

/* The threads of the host that work, by how many operators (or calls, if there are none) they have. Others mostly wait
 * for queues, locks and processes, or load data ahead. */
struct working_threads {
    struct keys key; /* tracks */
    LIST(size_t) n;
    size_t most;
};
bool threads_count(struct working_threads *w, const struct rank_spans *v, struct arena *mem); /* false: no memory */
bool thread_works(const struct working_threads *w, uint32_t track); /* true if no thread has any */

/* `first_step`: row of the first step that counts; `counts`: by step, which of those behind it do; NULL: all. False: no
 * memory. */
bool host_gaps_find(struct host_gaps *out, const struct rank_spans *v, size_t first_step, const bool *counts,
                    struct arena *mem);

/* A call of the vendor's libraries by name, without the prefix of trace_view.json ("AscendCL@"). */
const char *call_name(const char *name);
bool call_is_launch(const char *name);
bool call_is_synchronisation(const char *name);

#endif
