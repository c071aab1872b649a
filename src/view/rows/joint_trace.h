/* SPDX-License-Identifier: Apache-2.0 */
/* joint_trace.h - several traces as one: the ranks of a job, or two runs, below each other on one clock.
 *
 * Parts are added one after the other and taken over; joint_finish() makes one trace of them, in which the processes of
 * a part follow each other, have its title before their names, and are shifted by its time. Flow events stay within
 * their part; the caller adds ties between parts.
 */
#ifndef ASCOPE_VIEW_ROWS_JOINT_TRACE_H
#define ASCOPE_VIEW_ROWS_JOINT_TRACE_H

#include "profile/chrome_trace.h"

struct joint_part {
    const char *title; /* "Rank 3" */
    int64_t shift_ns;  /* is added to all of its times */
    uint64_t at;       /* of its text in the joint one */
    struct chrome_trace trace;
    struct mapped drawn; /* its text, where it is not mapped by the trace itself */
};

struct joint {
    LIST(struct joint_part *) parts; /* pointers: a mapping must stay where it is */
    int fd;                          /* the joint text; -1 in the beginning */
    uint64_t n_bytes;
    struct arena *mem; /* the caller's */
};

/* The next part, to be filled by the caller: title, trace, drawn. NULL: no memory. */
struct joint_part *joint_add(struct joint *j);
/* After filling: copies the text of the part to an unnamed file in `dir` or in a temporary directory, and releases
 * it. */
bool joint_take(struct joint *j, struct joint_part *p, const char *dir, struct error *e);
/* A part that could not be filled: it is left out. */
void joint_drop(struct joint *j, struct joint_part *p);
/* Makes one trace of all parts and maps its text; `out` and `text` are zero before. The caller releases them with
 * chrome_trace_free() and memory_unmap(), also after a failure. */
bool joint_finish(struct joint *j, struct chrome_trace *out, struct mapped *text, const char *path, struct error *e);
void joint_close(struct joint *j); /* in any case */

#endif
