/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/sqlite_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/bytes.h"
#include "base/memory/growing.h"

enum {
    LOG_HEADER = 32,
    FRAME_HEADER = 24,
    MOST_PAGE_BYTES = 65536,
    MAGIC = 0x377f0682, /* + 1: checksums of big-endian words */
    VERSION = 3007000,
};

/* Where numbers are in the header of a database. */
enum { DB_PAGE_BYTES = 16, DB_WRITE_VERSION = 18, DB_READ_VERSION, DB_CHANGES = 24, DB_PAGES = 28, DB_PAGES_OF = 92 };
enum { WITH_LOG = 2 };

/* What is read of the log, frame by frame. */
struct sqlite_log_frames {
    int fd;
    uint64_t at, bytes;
    size_t page_bytes;
    bool is_big_endian;
    uint32_t sum[2];
    uint8_t salts[8];
    uint32_t *page; /* of each frame */
    size_t n, cap;
    size_t n_committed, n_without; /* frames; of this log, but behind the last commit */
    uint32_t n_pages;              /* of the last commit */
    uint32_t changes;              /* as the last page 1 in the log says */
    bool has_first, has_memory;
    uint8_t *frame;
};

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
    for (size_t got = 0; got < n;) {
        const ssize_t m = TEMP_FAILURE_RETRY(pread(fd, (char *)to + got, n - got, (off_t)(at + got)));
        if (m <= 0)
            return false;
        got += (size_t)m;
    }
    return true;
}

static void checksum(struct sqlite_log_frames *f, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        f->sum[0] += (f->is_big_endian ? be32(p + i) : le32(p + i)) + f->sum[1];
        f->sum[1] += (f->is_big_endian ? be32(p + i + 4) : le32(p + i + 4)) + f->sum[0];
    }
}

static bool checksum_is(const struct sqlite_log_frames *f, const uint8_t *wanted)
{
    return be32(wanted) == f->sum[0] && be32(wanted + 4) == f->sum[1];
}

static size_t page_bytes_of(const uint8_t *db)
{
    const size_t n = be16(db + DB_PAGE_BYTES);
    return n == 1 ? MOST_PAGE_BYTES : n;
}

static bool read_header(struct sqlite_log_frames *f)
{
    uint8_t h[LOG_HEADER];
    if (f->bytes < LOG_HEADER || !read_at(f->fd, h, LOG_HEADER, 0))
        return false;
    f->is_big_endian = be32(h) == MAGIC + 1;
    f->page_bytes = be32(h + 8);
    f->at = LOG_HEADER;
    memcpy(f->salts, h + 16, sizeof f->salts);
    checksum(f, h, 24);
    return (be32(h) == MAGIC || f->is_big_endian) && be32(h + 4) == VERSION && f->page_bytes >= 512 &&
           f->page_bytes <= MOST_PAGE_BYTES && (f->page_bytes & (f->page_bytes - 1)) == 0 && checksum_is(f, h + 24);
}

static bool keep_page(struct sqlite_log_frames *f, uint32_t page)
{
    f->has_memory = array_reserve(f->page, f->cap, f->n + 1, 1024);
    if (!f->has_memory)
        return false;
    f->page[f->n++] = page;
    return true;
}

static bool next_frame(struct sqlite_log_frames *f)
{
    const size_t size = FRAME_HEADER + f->page_bytes;
    if (f->bytes - f->at < size || !read_at(f->fd, f->frame, size, f->at) ||
        memcmp(f->frame + 8, f->salts, sizeof f->salts) != 0)
        return false;
    f->at += size;
    return true;
}

/* Counts the frames behind the last good one. Those of an earlier log in the same file have other salts. */
static void count_rest(struct sqlite_log_frames *f)
{
    const size_t size = FRAME_HEADER + f->page_bytes;
    for (; f->at < f->bytes; f->at += f->bytes - f->at < size ? f->bytes - f->at : size) {
        const size_t n = f->bytes - f->at < FRAME_HEADER ? (size_t)(f->bytes - f->at) : FRAME_HEADER;
        if (!read_at(f->fd, f->frame, n, f->at))
            return;
        f->n_without += n < FRAME_HEADER || memcmp(f->frame + 8, f->salts, sizeof f->salts) == 0;
    }
}

static void read_frames(struct sqlite_log_frames *f)
{
    uint32_t changes = 0;
    bool has_first = false;
    while (f->has_memory && next_frame(f)) {
        const uint32_t page = be32(f->frame), n_pages = be32(f->frame + 4);
        checksum(f, f->frame, 8);
        checksum(f, f->frame + FRAME_HEADER, f->page_bytes);
        f->n_without++;
        if (page == 0 || !checksum_is(f, f->frame + 16) || f->n == UINT32_MAX - 1)
            break;
        if (!keep_page(f, page))
            return;
        if (page == 1) {
            has_first = true;
            changes = be32(f->frame + FRAME_HEADER + DB_CHANGES);
        }
        if (n_pages == 0)
            continue;
        f->n_pages = n_pages;
        f->n_committed = f->n;
        f->n_without = 0;
        f->has_first = has_first;
        f->changes = changes;
    }
    count_rest(f);
}

/* Why the frames cannot be of this database; NULL: they may be. A database that becomes larger has a new first page. */
static const char *strange(const struct sqlite_log_frames *f, const uint8_t *db, uint64_t db_bytes)
{
    const bool has_size = be32(db + DB_CHANGES) == be32(db + DB_PAGES_OF);
    if (db[DB_WRITE_VERSION] != WITH_LOG || db[DB_READ_VERSION] != WITH_LOG)
        return "the database was written without it";
    if (f->page_bytes != page_bytes_of(db) || f->n_pages > db_bytes / f->page_bytes + f->n_committed)
        return "it is of another database";
    if (f->has_first && (int32_t)(f->changes - be32(db + DB_CHANGES)) < 0)
        return "the database is newer";
    if (!f->has_first && has_size && f->n_pages != be32(db + DB_PAGES))
        return "it is of another database";
    return NULL;
}

static void map_frames(struct sqlite_log *l, const struct sqlite_log_frames *f)
{
    for (size_t i = 0; i < f->n_committed; i++)
        if (f->page[i] <= f->n_pages) /* a database can become smaller */
            l->frame_of[f->page[i] - 1] = (uint32_t)i + 1;
}

bool sqlite_log_open(struct sqlite_log *l, int fd, uint64_t bytes, const uint8_t header[static SQLITE_HEADER_BYTES],
                     uint64_t db_bytes)
{
    struct sqlite_log_frames f = { .fd = fd, .bytes = bytes, .has_memory = true };
    *l = (struct sqlite_log){ .fd = -1 };
    const bool is_known = read_header(&f);
    f.frame = is_known ? malloc(FRAME_HEADER + f.page_bytes) : NULL;
    f.has_memory = !is_known || f.frame;
    if (f.frame)
        read_frames(&f);
    const char *why = !is_known ? "its header is damaged" : f.n_committed > 0 ? strange(&f, header, db_bytes) : NULL;
    if (bytes > 0 && why)
        snprintf(l->trouble, sizeof l->trouble, "ignored: %s", why);
    else if (f.n_without > 0)
        snprintf(l->trouble, sizeof l->trouble, "its last %zu pages are ignored: damaged, or without a commit",
                 f.n_without);
    if (f.has_memory && !why && f.n_committed > 0) {
        l->page_bytes = (uint32_t)f.page_bytes;
        l->n_pages = f.n_pages;
        memcpy(l->salts, f.salts, sizeof l->salts);
        l->frame_of = calloc(f.n_pages, sizeof *l->frame_of);
        f.has_memory = l->frame_of != NULL;
    }
    if (l->frame_of) {
        map_frames(l, &f);
        l->fd = fd;
    } else {
        close(fd);
    }
    free(f.page);
    free(f.frame);
    return f.has_memory;
}

bool sqlite_log_read(const struct sqlite_log *l, uint32_t page, size_t at, void *to, size_t n)
{
    const uint64_t begin = LOG_HEADER + (l->frame_of[page - 1] - 1) * (uint64_t)(FRAME_HEADER + l->page_bytes);
    uint8_t header[FRAME_HEADER];
    return read_at(l->fd, to, n, begin + FRAME_HEADER + at) && read_at(l->fd, header, sizeof header, begin) &&
           be32(header) == page && memcmp(header + 8, l->salts, sizeof l->salts) == 0;
}

void sqlite_log_close(struct sqlite_log *l)
{
    if (l->fd >= 0)
        close(l->fd);
    free(l->frame_of);
    *l = (struct sqlite_log){ .fd = -1 };
}
