/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_log.h - the pages of an SQLite database that are still in the write-ahead log beside it (-wal).
 *
 * A program that has opened a database, a viewer for example, leaves changes there until its connection ends, and for
 * good if it is killed. Here the log is only read: no lock is taken, nothing is merged. Frames count up to the last
 * commit whose checksums are right. A log that does not belong to the database is ignored; `trouble` has the reason.
 * The format is that of https://www.sqlite.org/fileformat2.html.
 */
#ifndef ASCOPE_BASE_SQLITE_SQLITE_LOG_H
#define ASCOPE_BASE_SQLITE_SQLITE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SQLITE_HEADER_BYTES = 100 };

struct sqlite_log {
    int fd;                       /* -1: no page is in a log */
    uint32_t page_bytes, n_pages; /* of the database after the last commit */
    uint32_t *frame_of;           /* by number of a page - 1: its frame + 1, or 0: the page is in the database */
    uint8_t salts[8];
    char trouble[160]; /* "": none */
};

/* Reads a log of `bytes`; takes fd. `header`: the first bytes of the database, which has db_bytes. False: no memory. */
bool sqlite_log_open(struct sqlite_log *l, int fd, uint64_t bytes, const uint8_t header[static SQLITE_HEADER_BYTES],
                     uint64_t db_bytes);
/* Bytes of a page that has a frame. False: cannot be read, or the log was written anew meanwhile. */
bool sqlite_log_read(const struct sqlite_log *l, uint32_t page, size_t at, void *to, size_t n);
void sqlite_log_close(struct sqlite_log *l);

#endif
