/* SPDX-License-Identifier: Apache-2.0 */
/* trace_scan.h - iterates over the events of a timeline that was just written. */
#ifndef ASCOPE_EXPORT_TRACE_SCAN_H
#define ASCOPE_EXPORT_TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_scan {
    const char *text;
    size_t size, at; /* begin with at 0 */
};

struct trace_event {
    size_t at, len; /* its text, from brace to brace */
    char phase;     /* 0: none */
    bool has_time;
    int64_t ns, dur_ns; /* as written, so perhaps since the start of the timeline */
    uint64_t flow;      /* the same for all ends of one flow; of others 0 */
};

bool trace_scan_next(struct trace_scan *s, struct trace_event *e); /* false: that was all */

#endif
