/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_straight.h - a trace whose events come directly from a writer in this program, without JSON in between. */
#ifndef ASCOPE_LOAD_TRACE_CHROME_STRAIGHT_H
#define ASCOPE_LOAD_TRACE_CHROME_STRAIGHT_H

#include "load/trace/chrome_events.h"
#include "profile/chrome_sink.h"

/* A cache: a slot contains the last track with its hash. */
enum { STRAIGHT_TRACKS = 256 };
struct straight_track {
    uint32_t pid, track;
    int64_t tid;
    bool is_set;
};

struct chrome_straight {
    struct chrome_sink sink;
    struct chrome_events events;
    struct names_recent names;
    struct straight_track track[STRAIGHT_TRACKS];
};

/* `t` must be all zero; chrome_straight_finish() completes it. The addresses of both must not change. Call
 * chrome_straight_end() in any case. False: no memory. */
bool chrome_straight_begin(struct chrome_straight *s, struct chrome_trace *t, const char *path);
/* With the text of the arguments. False: no memory. */
bool chrome_straight_finish(struct chrome_straight *s, const char *text, size_t n_bytes);
void chrome_straight_end(struct chrome_straight *s);

#endif
