/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.h - a gzip file decoded into an unnamed file, for readers that map what they read.
 *
 * Memory is constant. The unnamed file is in $TMPDIR, or in /var/tmp: what is decoded may be twenty times as large.
 * Decoding stops while there is still some space left there, so that a file of zeros cannot fill a disk.
 */
#ifndef ASCOPE_BASE_FILES_GUNZIP_H
#define ASCOPE_BASE_FILES_GUNZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"

bool gunzip_is(int fd); /* begins as a gzip file */

struct gunzipped {
    int fd; /* owner: the caller */
    uint64_t bytes;
    bool is_damaged;     /* the rest could not be decoded, or is missing */
    uint64_t damaged_at; /* where, in the compressed file */
};
/* Decodes about `most_bytes`: it stops after the block of the compressed file (256 KiB) in which they end. */
bool gunzip(int fd, const char *name, uint64_t most_bytes, struct gunzipped *out, struct error *e);
uint64_t gunzip_size(int fd, uint64_t file_bytes); /* the decoded size, as the file says, or estimated */

#endif
