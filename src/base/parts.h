/* parts.h - one file of texts that several threads make, in an order that does not depend on them.
 *
 * Each part is written into an out of its own. The part whose turn it is goes straight to the file; what comes later waits in
 * memory, a few MB for each thread. The bytes are the same for any number of threads.
 */
#ifndef ASCOPE_BASE_PARTS_H
#define ASCOPE_BASE_PARTS_H

#include "base/out.h"

/* Calls write(context, i, o) for i from 0 to n - 1, on up to n_threads threads, and puts what they write behind what is in
 * `to`. Trouble is remembered by `to`, as that of its own writes. */
void parts_write(struct out *to, size_t n, unsigned n_threads, void (*write)(void *context, size_t i, struct out *o),
                 void *context);

#endif
