/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - one file that several threads write, in an order that does not depend on them.
 *
 * Each part is written into its own buffer. The part that is next goes straight to the file; later ones wait in memory,
 * a few MB for each thread. The bytes are the same for any number of threads.
 */
#ifndef ASCOPE_BASE_MEMORY_PARTS_H
#define ASCOPE_BASE_MEMORY_PARTS_H

#include "base/files/out.h"

struct parts_job {
    size_t n;
    void (*write)(void *context, size_t i, struct out *o); /* part i, from 0 to n - 1 */
    void *context;
    unsigned n_threads;
    bool gzips; /* the parts together become one gzip file; nothing else may be written into it */
};

/* Puts all parts behind what is in `to`. Errors are remembered by `to`, as those of its own writes. */
void parts_write(struct out *to, const struct parts_job *job);

#endif
