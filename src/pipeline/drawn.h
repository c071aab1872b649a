/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.h - the timeline of a collection in memory: what reading its text would give, without the text.
 *
 * The functions that write the text hand their events over (chrome_sink.h); only arguments are text, in a file without a name.
 * What a viewer shows, and what it becomes in other formats, is therefore what the exported file has.
 */
#ifndef ASCOPE_PIPELINE_DRAWN_H
#define ASCOPE_PIPELINE_DRAWN_H

#include "export/output_options.h"
#include "profile/chrome_trace.h"
#include "profile/collection.h"

struct chrome_straight;
struct drawn {
    const char *of; /* the path; NULL: nothing was begun */
    struct chrome_straight *events;
    int fd; /* of the arguments */
};
/* Draws into a trace that is all zero; behind it the collection is not needed any more, and its memory may serve for the rest.
 * `path` is lent to the trace, which stays where it is until chrome_trace_free(), also after a failure. False: e says why. */
bool drawn_begin(struct drawn *d, struct chrome_trace *trace, const char *path, const struct collection *collection,
                 const struct profile *profile, const struct output_options *options, struct error *e);
bool drawn_finish(struct drawn *d, struct mapped *text, struct error *e); /* `text` as below */
void drawn_end(struct drawn *d); /* in any case; one that is all zero is fine */

/* Both at once. Both must be all zero, and stay where they are until chrome_trace_free() and memory_unmap(), in this order, also after a failure.
 * `collection` is NULL of a PROF directory. False: e says why. */
bool drawn_make(struct mapped *text, struct chrome_trace *trace, const struct collection *collection,
                const struct profile *profile, const struct output_options *options, struct error *e);

/* Its parts: a file without a name (beside `beside`, unless that is NULL; -1: errno says why), and reading the text in one. */
int drawn_file(const char *beside);
bool drawn_read(struct mapped *text, struct chrome_trace *trace, int fd, const char *of, struct error *e);

#endif
