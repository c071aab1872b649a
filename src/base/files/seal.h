/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h - ascope.files: the files that a recording consists of at its end, with their lengths and checksums.
 *
 * Made by whoever ends a recording, last but for ascope.json, which has the checksum of the list itself. An analysis
 * compares, so that whatever is lost or changed afterwards is counted. Only files of the recorder are listed: results,
 * logs and files that others add may change. A line each: length, checksum in 16 digits, path.
 */
#ifndef ASCOPE_BASE_FILES_SEAL_H
#define ASCOPE_BASE_FILES_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/bytes.h"
#include "base/files/durable.h"
#include "base/files/file_tree.h"

#define SEAL_NAME "ascope.files"

bool seal_lists(const char *path); /* in the collection */

/* Of the list itself, for ascope.json. */
struct seal {
    uint64_t bytes, sum;
};
/* Syncs all files of a collection and writes the list. `known` (NULL: none) adds checksums that somebody has; the other
 * files are read. 0 or an errno value. */
int seal_make(int dir, const struct new_owner *owner, void (*known)(struct file_tree *t), struct seal *out);

struct seal_line {
    uint64_t bytes, sum;
    const char *path; /* not terminated */
    size_t path_len;
};
bool seal_next(struct bytes *in, struct seal_line *line); /* false: that was all, or it is no such line */

#endif
