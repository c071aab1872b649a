/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/inside.h"
#include "base/memory/ascending.h"

int file_open(int dir, const char *path, struct stat *st, int *why)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; /* a FIFO would wait for its writer */
    const int fd = dir == AT_FDCWD ? inside_open(path, flags) : (int)TEMP_FAILURE_RETRY(openat(dir, path, flags));
    if (fd < 0) {
        *why = errno == ENXIO ? NOT_A_FILE : errno; /* a socket */
        return -1;
    }
    const bool is_known = fstat(fd, st) == 0;
    if (is_known && S_ISREG(st->st_mode))
        return fd;
    *why = is_known ? NOT_A_FILE : errno;
    close(fd);
    return -1;
}

bool file_read(int fd, void *to, size_t size, size_t *got, int *why)
{
    for (*got = 0; *got < size;) {
        const ssize_t n = TEMP_FAILURE_RETRY(read(fd, (char *)to + *got, size - *got));
        if (n < 0) {
            *why = errno;
            return false;
        }
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return true;
}

DIR *dir_below(DIR *above, const char *name)
{
    const int fd = (int)TEMP_FAILURE_RETRY(openat(dirfd(above), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const int why = errno;
    if (!dir && fd >= 0)
        close(fd);
    errno = why;
    return dir;
}

const char *dir_next(DIR *dir, int *why)
{
    for (;;) {
        errno = 0;
        const struct dirent *d = readdir(dir);
        *why = d ? 0 : errno;
        if (!d || (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0))
            return d ? d->d_name : NULL;
    }
}

static void walk(DIR *dir, const char *path, unsigned depth, file_visitor *visit, void *context)
{
    enum { DEPTH_MOST = 16 }; /* each level holds a descriptor */
    int why;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        char *full = NULL;
        struct stat st;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0 || asprintf(&full, "%s/%s", path, name) < 0)
            continue;
        if (S_ISREG(st.st_mode))
            visit(context, full, &st);
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MOST)
            walk(dir_below(dir, name), full, depth + 1, visit, context);
        free(full);
    }
    if (dir)
        closedir(dir);
}

void dir_walk(const char *path, file_visitor *visit, void *context)
{
    walk(inside_list(path), path, 0, visit, context);
}

bool dir_names_read(struct dir_names *l, const char *path, bool (*is_wanted)(const char *name), int *why)
{
    *l = (struct dir_names){ 0 };
    DIR *dir = inside_list(path);
    *why = dir ? 0 : errno;
    for (const char *name; dir && (name = dir_next(dir, why));) {
        if (!is_wanted(name))
            continue;
        char **more = reallocarray(l->at, l->n + 1, sizeof *more);
        l->at = more ? more : l->at;
        if (!more || !(l->at[l->n] = strdup(name))) {
            *why = ENOMEM;
            break;
        }
        l->n++;
    }
    if (dir)
        closedir(dir);
    if (*why)
        dir_names_free(l);
    else if (l->n > 0)
        qsort(l->at, l->n, sizeof *l->at, compare_texts);
    return *why == 0;
}

void dir_names_free(struct dir_names *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i]);
    free(l->at);
    *l = (struct dir_names){ 0 };
}

bool name_is_visible(const char *name)
{
    return name[0] != '.';
}

enum { READING, WRITING };
static char elsewhere[32]; /* " with --out", for remedies that end with this word */
static const char ROOM[] = "free disk space there, or write elsewhere";
static const char RIGHT[] = "obtain write permission, or write elsewhere";
static const struct {
    int why;
    const char *remedy[2];
} known[] = {
    { ENOSPC, { ROOM, ROOM } },
    { EDQUOT, { ROOM, ROOM } },
    { EFBIG, { NULL, "allow larger files (ulimit -f), or write elsewhere" } },
    { EROFS, { NULL, "write elsewhere" } },
    { EACCES, { "ask its owner for read permission", RIGHT } },
    { EPERM, { "ask its owner for read permission", RIGHT } },
    { EMFILE, { "allow more open files (ulimit -n)", "allow more open files (ulimit -n)" } },
    { ENFILE,
      { "the whole system has too many files open: try again",
        "the whole system has too many files open: try again" } },
    { ENOMEM, { "free some memory and try again", "free some memory and try again" } },
    { EIO, { "the disk may be failing: see the system log", "the disk may be failing: see the system log" } },
    { ESTALE,
      { "another directory has taken its place: try again", "another directory has taken its place: try again" } },
    { ELOOP, { "links are not followed: copy what it points to", "links are not followed: write elsewhere" } },
    { ENAMETOOLONG, { "move it to a shorter path", "the path is too long: write elsewhere" } },
    { ENOENT, { NULL, "create its parent directory, or write elsewhere" } },
    { ENOTDIR, { NULL, "a file is where a directory should be: write elsewhere" } },
    { EEXIST, { NULL, "something else has that name: write elsewhere" } },
};

static const char *trouble(int why, int doing)
{
    static _Thread_local char text[160];
    if (why == NOT_A_FILE)
        return "it is not a regular file";
    const char *remedy = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !remedy; i++)
        remedy = known[i].why == why ? known[i].remedy[doing] : NULL;
    snprintf(text, sizeof text, "%s%s%s%s", strerror(why), remedy ? "; " : "", remedy ? remedy : "",
             remedy && strstr(remedy, "elsewhere") ? elsewhere : "");
    return text;
}

void write_trouble_names(const char *option)
{
    snprintf(elsewhere, sizeof elsewhere, " with %s", option);
}

const char *read_trouble(int why)
{
    return trouble(why, READING);
}

const char *write_trouble(int why)
{
    return trouble(why, WRITING);
}
