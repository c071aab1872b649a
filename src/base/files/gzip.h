/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h - text into a compressed file, piece by piece.
 *
 * Text is added to `text`: when it is full, it is compressed and written; gzip_pass() now and then keeps it small. As
 * with out.h, errors are reported by the close, and the file is renamed to its final name only when it is complete. The
 * same text gives the same bytes: the header has no time.
 */
#ifndef ASCOPE_BASE_FILES_GZIP_H
#define ASCOPE_BASE_FILES_GZIP_H

#include "base/files/out.h"

struct gzip {
    struct out text; /* in memory: what was not yet compressed */
    struct out to;
    void *deflate; /* of zlib */
    bool failed;
};

bool gzip_open(struct gzip *g, const char *name, struct error *e); /* as out_open_named() */
void gzip_pass(struct gzip *g);                                    /* compresses the text if there is enough of it */
bool gzip_close(struct gzip *g, struct error *e);
void gzip_discard(struct gzip *g);

#endif
