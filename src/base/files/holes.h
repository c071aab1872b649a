/* SPDX-License-Identifier: Apache-2.0 */
/* holes.h - the parts of a file that were written.
 *
 * A file that was made long before it was filled, or that a crash cut off from its data, has holes: zeros that are on
 * no disk, up to terabytes of them. Whoever reads untrusted files walks from part to part instead, and counts the holes
 * as losses. Holes below HOLE_LEAST are parts: copies make them of zeros in the data. A file system that cannot tell
 * has files of one part.
 */
#ifndef ASCOPE_BASE_FILES_HOLES_H
#define ASCOPE_BASE_FILES_HOLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { HOLE_LEAST = 1 << 20 };

/* The end is that of the file, or a hole. The begin is a multiple of the size of pages. */
struct file_part {
    uint64_t begin, end;
};

bool file_has_holes(const struct stat *st); /* whether the file may have holes; false is certain */
/* The first part that begins at `from` or behind. False: there is only a hole. */
bool file_part_next(int fd, uint64_t from, uint64_t bytes, struct file_part *part);

#endif
