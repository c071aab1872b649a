/* SPDX-License-Identifier: Apache-2.0 */
/* trace_scan.h - iterates over the events of a timeline that this program has just written.
 *
 * It reads only what trace_split.c needs. It never reads behind the text, also of a damaged one.
 */
#ifndef ASCOPE_EXPORT_TRACE_SCAN_H
#define ASCOPE_EXPORT_TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_scan {
    const char *text;
    size_t size, at; /* at: where the next event is looked for; start with 0 */
};

struct trace_event {
    size_t at, len; /* its text, from brace to brace */
    char phase;     /* the value of "ph"; 0: it has none */
    bool has_time;
    int64_t ns, dur_ns; /* as written: since 1970, or since the start of the timeline */
    uint64_t flow;      /* the same number for all events of one flow; 0: no flow event */
};

bool trace_scan_next(struct trace_scan *s, struct trace_event *e); /* false: there are no more */

#endif
