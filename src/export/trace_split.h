/* SPDX-License-Identifier: Apache-2.0 */
/* trace_split.h - a timeline in files that viewers can open: compressed, or split by time.
 *
 * Each piece is a complete timeline: it has all names of processes and threads, and the events that begin in its time, each
 * event in one piece only. It is split where the fewest flows and slices cross, within the last tenth of the size of a piece.
 * A flow that still crosses has one end in each of two pieces, beside the slices that it connects.
 */
#ifndef ASCOPE_EXPORT_TRACE_SPLIT_H
#define ASCOPE_EXPORT_TRACE_SPLIT_H

#include "base/arena.h"
#include "base/out.h"

struct trace_piece {
    const char *path;
    uint64_t n_events; /* without the names that all pieces have */
    uint64_t n_text;   /* bytes before they are compressed */
};

struct trace_split {
    uint64_t max_bytes; /* of the text of a piece; 0: one piece */
    bool gzips;
    const char *before, *after; /* of the names: BEFORE_slice_0AFTER, and of a single piece BEFOREAFTER */
    bool is_named;              /* they are the user's: see out_open_named() */
    unsigned n_threads;
    LIST(struct trace_piece) pieces; /* of `mem`; what became of it */
    struct arena *mem;
};

/* Ends `whole`, the plain text of a timeline, as out_close() or out_discard(): it becomes the only piece, or is read back. */
bool trace_split(struct trace_split *s, struct out *whole, struct error *e);

/* Removes what an earlier export under the same name left and this one did not write: pieces beyond the last, or the whole file
 * beside pieces. Only regular files. */
void trace_split_sweep(const struct trace_split *s);

/* What viewers make of a timeline of so many bytes of text, and what to do; NULL: they open it. */
const char *trace_size_advice(uint64_t n_text);

#endif
