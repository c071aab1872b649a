/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/source_stamp.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/memory/hash.h"
#include "base/files/inside.h"

enum { DEEPEST = 8, MOST_ENTRIES = 20000 };

/* Directories of results. */
static bool is_result(const char *name)
{
    static const char *const results[] = { "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "analyze", "sqlite",
                                           "logs" };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (!strcmp(name, results[i]))
            return true;
    return false;
}

static uint64_t stamp_of(const struct stat *st)
{
    const uint64_t time = hash_more(hash_u64((uint64_t)st->st_mtim.tv_sec), (uint64_t)st->st_mtim.tv_nsec);
    return hash_more(hash_more(time, (uint64_t)st->st_size), (uint64_t)st->st_ino);
}

/* The sum over its files, which does not depend on the order in which a directory lists them. Closes d. */
static uint64_t stamp_of_directory(DIR *d, int depth, size_t *n_left)
{
    uint64_t sum = 0;
    int why;
    for (const char *name; d && *n_left > 0 && (name = dir_next(d, &why)) != NULL;) {
        struct stat st;
        if (is_result(name) || fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        --*n_left;
        if (S_ISREG(st.st_mode))
            sum += stamp_of(&st);
        if (S_ISDIR(st.st_mode) && depth < DEEPEST)
            sum += stamp_of_directory(dir_below(d, name), depth + 1, n_left);
    }
    if (d)
        closedir(d);
    return sum;
}

uint64_t source_stamp(const char *path)
{
    struct stat st;
    size_t n_left = MOST_ENTRIES;
    uint64_t stamp;
    if (inside_stat(path, &st) != 0)
        return SOURCE_GONE;
    if (S_ISDIR(st.st_mode)) {
        DIR *d = inside_list(path);
        if (!d)
            return SOURCE_GONE;
        stamp = stamp_of_directory(d, 0, &n_left);
    } else {
        stamp = stamp_of(&st);
    }
    return stamp == SOURCE_GONE ? 1 : stamp;
}
