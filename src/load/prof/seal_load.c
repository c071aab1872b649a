/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/checksum.h"
#include "base/files/file.h"
#include "base/files/seal.h"
#include "base/process/pool.h"

enum { LIST_MOST = 256 << 20, READ_BYTES = 1 << 17 };

struct seal_load_listed {
    const char *path; /* in the collection */
    uint64_t bytes, sum;
    bool is_wrong;
    enum loss why;
};

struct checking {
    const char *dir;
    bool is_short; /* lengths alone */
    struct arena *mem;
    LIST(struct seal_load_listed) file;
};

/* A file that cannot be opened at all is counted by whoever needs it. */
static void file_check(void *context, size_t i)
{
    const struct checking *c = context;
    struct seal_load_listed *f = &c->file.at[i];
    char path[PATH_MAX];
    struct stat st;
    struct checksum sum;
    int why;
    const int fd = snprintf(path, sizeof path, "%s/%s", c->dir, f->path) < (int)sizeof path
                       ? file_open(AT_FDCWD, path, &st, &why)
                       : (why = ENAMETOOLONG, -1);
    if (fd < 0) {
        f->is_wrong = why == ENOENT || why == ENOTDIR;
        f->why = LOSS_FILE_GONE;
        return;
    }
    uint8_t *const block = c->is_short ? NULL : malloc(READ_BYTES);
    size_t got = READ_BYTES;
    bool is_read = block != NULL;
    f->why = (uint64_t)st.st_size != f->bytes ? LOSS_FILE_LENGTH : LOSS_FILE_CHANGED;
    f->is_wrong = f->why == LOSS_FILE_LENGTH;
    checksum_begin(&sum);
    while (!f->is_wrong && is_read && got == READ_BYTES) {
        is_read = file_read(fd, block, READ_BYTES, &got, &why);
        checksum_add(&sum, block, got);
    }
    f->is_wrong = f->is_wrong || (is_read && checksum_end(&sum) != f->sum);
    free(block);
    close(fd);
}

/* False: the list is not the one that the recorder has made. */
static bool list_read(struct checking *c, const struct collector *of, const char *part, struct losses *lost)
{
    const char *const path = arena_printf(c->mem, "%s/" SEAL_NAME, c->dir);
    struct stat st;
    int why;
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    uint8_t *text = NULL;
    size_t n = 0;
    if (fd >= 0 && st.st_size <= LIST_MOST)
        text = arena_take(c->mem, (size_t)st.st_size + 1, 1);
    const bool is_read = text && file_read(fd, text, (size_t)st.st_size, &n, &why);
    if (fd >= 0)
        close(fd);
    if (!is_read || n != of->seal_bytes || checksum_of(text, n) != of->seal_sum) {
        losses_add(lost,
                   fd < 0                ? LOSS_FILE_GONE
                   : n != of->seal_bytes ? LOSS_FILE_LENGTH
                                         : LOSS_FILE_CHANGED,
                   1, SEAL_NAME, 0);
        return false;
    }
    struct bytes in = { text, n, 0 };
    for (struct seal_line line; seal_next(&in, &line);) {
        const char *file = arena_text(c->mem, line.path, line.path_len);
        const bool is_asked = file && seal_lists(file) && strncmp(file, part, strlen(part)) == 0;
        struct seal_load_listed *f = is_asked ? list_add(&c->file, c->mem) : NULL;
        if (f)
            *f = (struct seal_load_listed){ .path = file, .bytes = line.bytes, .sum = line.sum };
    }
    return true;
}

bool seal_load(const struct collector *c, const char *path, unsigned scope, unsigned n_threads, struct arena *mem,
               struct losses *lost, struct error *e)
{
    const char *const slash = strrchr(path, '/');
    struct checking check = { .dir = path, .is_short = scope & SEAL_LENGTHS, .mem = mem };
    const char *part = "";
    if (!c->is_sealed)
        return true;
    if (scope & SEAL_PART) {
        check.dir = slash ? arena_text(mem, path, (size_t)(slash - path)) : ".";
        part = arena_printf(mem, "%s/", slash ? slash + 1 : path);
    }
    if (check.dir && part && list_read(&check, c, part, lost)) {
        pool_run(check.file.n, n_threads, file_check, &check);
        for (size_t i = 0; i < check.file.n; i++)
            if (check.file.at[i].is_wrong)
                losses_add(lost, check.file.at[i].why, 1, check.file.at[i].path, 0);
    }
    return !arena_failed(mem) || error_no_memory(e, path);
}
