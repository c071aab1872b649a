/* SPDX-License-Identifier: Apache-2.0 */
#include "view/source_stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

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

/* The sum over its files, which does not depend on the order in which a directory lists them. Takes fd. */
static uint64_t stamp_of_directory(int fd, int depth, size_t *n_left)
{
    DIR *d = fdopendir(fd);
    uint64_t sum = 0;
    if (!d) {
        close(fd);
        return 0;
    }
    for (struct dirent *e; *n_left > 0 && (e = readdir(d)) != NULL;) {
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || is_result(e->d_name) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        --*n_left;
        if (S_ISREG(st.st_mode))
            sum += stamp_of(&st);
        if (!S_ISDIR(st.st_mode) || depth >= DEEPEST)
            continue;
        const int inner = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0)
            sum += stamp_of_directory(inner, depth + 1, n_left);
    }
    closedir(d);
    return sum;
}

uint64_t source_stamp(const char *path)
{
    struct stat st;
    size_t n_left = MOST_ENTRIES;
    uint64_t stamp;
    if (stat(path, &st) != 0)
        return SOURCE_GONE;
    if (S_ISDIR(st.st_mode)) {
        const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return SOURCE_GONE;
        stamp = stamp_of_directory(fd, 0, &n_left);
    } else {
        stamp = stamp_of(&st);
    }
    return stamp == SOURCE_GONE ? 1 : stamp;
}
