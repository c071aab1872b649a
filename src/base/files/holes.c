/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/holes.h"

#include <errno.h>
#include <unistd.h>

bool file_has_holes(const struct stat *st)
{
    enum { BLOCK_BYTES = 512 }; /* unit of st_blocks, independent of st_blksize */
    return (uint64_t)st->st_size / BLOCK_BYTES >= (uint64_t)st->st_blocks + HOLE_LEAST / BLOCK_BYTES;
}

/* Where the next data (or hole) begins; the end of the file if there is none, or nobody knows. */
static uint64_t seek(int fd, uint64_t from, uint64_t bytes, int what)
{
    const off_t at = lseek(fd, (off_t)from, what);
    if (at < 0 && errno != ENXIO)
        return what == SEEK_DATA ? from : bytes;
    return at < 0 || (uint64_t)at > bytes ? bytes : (uint64_t)at;
}

bool file_part_next(int fd, uint64_t from, uint64_t bytes, struct file_part *part)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t data = from < bytes ? seek(fd, from, bytes, SEEK_DATA) : bytes;
    if (data >= bytes)
        return false;
    if (data - from < HOLE_LEAST)
        data = from;
    part->begin = data - data % page;
    part->end = seek(fd, data, bytes, SEEK_HOLE);
    while (part->end < bytes) {
        const uint64_t next = seek(fd, part->end, bytes, SEEK_DATA);
        if (next - part->end >= HOLE_LEAST)
            break;
        part->end = next < bytes ? seek(fd, next, bytes, SEEK_HOLE) : bytes;
    }
    return true;
}
