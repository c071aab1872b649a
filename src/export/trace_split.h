/* SPDX-License-Identifier: Apache-2.0 */
/* trace_split.h - registry: a timeline in files that viewers can open: compressed, or split by time.
 *
 * Each piece is a complete timeline: it has the names of all processes and threads, and the events that begin in its
 * time. Each event is in one piece only. A cut is made where the fewest flows and slices cross it, within the last
 * tenth of the size of a piece. The events of a flow that crosses a cut are in different pieces, each with the slice
 * that it belongs to.
 */
#ifndef ASCOPE_EXPORT_TRACE_SPLIT_H
#define ASCOPE_EXPORT_TRACE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/out.h"
#include "base/memory/arena.h"
#include "base/memory/names.h"

struct trace_piece {
    const char *path;
    uint64_t n_events; /* without the names that all pieces have */
    uint64_t n_text;   /* bytes before they are compressed */
};

struct trace_split {
    uint64_t max_bytes; /* of the text of a piece; 0: one piece */
    bool gzips;
    const char *before, *after; /* parts of the file names: BEFORE_slice_0AFTER, of a single piece BEFOREAFTER */
    bool is_named;              /* the user gave the name: see out_open_named() */
    unsigned n_threads;
    LIST(struct trace_piece) pieces; /* the result: the files that were written; in `mem` */
    struct arena *mem;
};

/* Writes the pieces of `whole`, the plain text of a timeline, and ends it like out_close() or out_discard(): it becomes
 * the only piece, or is read back and discarded. False: e has the reason, and no piece is left. */
bool trace_split(struct trace_split *s, struct out *whole, struct error *e);

/* Removes the files of an earlier export of the same name that this one has not replaced: pieces beyond the last one,
 * or the whole file beside pieces. Only regular files are removed. */
void trace_split_sweep(const struct trace_split *s);

/* A warning about a timeline with this many bytes of text, for which viewers are too small; NULL: they can open it. */
const char *trace_size_advice(uint64_t n_text);
static const uint64_t INSIGHT_MOST = UINT64_C(20) << 30; /* bytes of a file that MindStudio Insight opens */

/* trace_scan.c: iterates over the events of a timeline that this program has just written.
 *
 * It reads only what trace_split.c needs. It never reads behind the text, also of a damaged one. */

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

/* trace_scan.c: names as JSON strings, escaped once instead of each time they are written.
 *
 * A timeline contains the same few names and call stacks a million times. Those that fit into a bounded amount of
 * memory are kept; the others are escaped as they are written. The output is the same. */

struct escaped;

struct escaped *escaped_new(
    const struct names *names);       /* of the names that exist now; owner: the caller; NULL: no memory */
void escaped_free(struct escaped *e); /* NULL is fine */

/* Writes a name without the quotes around it. Several threads may call it at once. `e` NULL: nothing was kept. */
void escaped_write(const struct escaped *e, const struct names *names, name_id name, struct out *o);

#endif
