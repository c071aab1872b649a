/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.h - the timeline of a collection in memory, without writing and parsing its JSON text.
 *
 * The functions that write the text pass their events to a sink instead (chrome_sink.h); only the arguments of events
 * are text, in an unnamed file. The viewer and other formats therefore have the same contents as the exported file.
 */
#ifndef ASCOPE_PIPELINE_DRAWN_H
#define ASCOPE_PIPELINE_DRAWN_H

#include "export/output_options.h"
#include "profile/chrome_trace.h"
#include "profile/collection.h"

struct chrome_straight;
struct drawn {
    const char *of; /* path of the collection; NULL: drawn_begin() was not called */
    struct chrome_straight *events;
    int fd; /* unnamed file with the arguments of events */
};
/* Draws into a trace that is all zero. Afterwards the collection may be released, so that its memory is free for
 * drawn_finish(). `path` is lent to the trace, which must not be moved before chrome_trace_free(), also after a
 * failure. False: see e. */
bool drawn_begin(struct drawn *d, struct chrome_trace *trace, const char *path, const struct collection *collection,
                 const struct profile *profile, const struct output_options *options, struct error *e);
bool drawn_finish(struct drawn *d, struct mapped *text, struct error *e); /* `text`: see drawn_make() */
void drawn_end(struct drawn *d); /* after success and failure; may be all zero */

/* Begin and finish in one call. `text` and `trace` must be all zero and must not be moved before chrome_trace_free()
 * and memory_unmap(), in this order, also after a failure. `collection` is NULL for a PROF directory. False: see e. */
bool drawn_make(struct mapped *text, struct chrome_trace *trace, const struct collection *collection,
                const struct profile *profile, const struct output_options *options, struct error *e);

#endif
