/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.h - a gzip file decoded into an unnamed file, for readers that map what they read.
 *
 * Memory is constant. The unnamed file is in $TMPDIR, or in /var/tmp: what is decoded may be twenty times as large. Decoding
 * stops while there is still some space left there, so that a file of zeros cannot fill a disk.
 */
#ifndef ASCOPE_BASE_GUNZIP_H
#define ASCOPE_BASE_GUNZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

bool gunzip_is(int fd); /* begins as a gzip file */

struct gunzipped {
    int fd; /* owner: the caller */
    uint64_t bytes;
    bool is_damaged;     /* the rest could not be decoded, or is missing */
    uint64_t damaged_at; /* where, in the compressed file */
};
bool gunzip(int fd, const char *name, struct gunzipped *out, struct error *e);

#endif
