/* SPDX-License-Identifier: Apache-2.0 */
#include "run/output_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES_MOST = 2 << 20 };

static int output_record_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Only a directory directly in the parent, and no link: the text is untrusted and must not lead out of the folder. */
static bool is_collection(int parent, const char *name)
{
    struct stat st;
    return strncmp(name, "PROF_", 5) == 0 && !strchr(name, '/') &&
           fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static char *text_read(int parent, const char *name)
{
    struct stat st;
    const int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_size <= RECORD_BYTES_MOST && (text = calloc(1, (size_t)st.st_size + 1))) {
        const ssize_t got = read(fd, text, (size_t)st.st_size);
        text[got > 0 ? got : 0] = '\0';
        unlinkat(parent, name, 0);
    }
    if (fd >= 0)
        close(fd);
    return text;
}

void output_record_take(const char *parent, void (*found)(void *user, const char *path), void *user)
{
    char name[64];
    snprintf(name, sizeof name, "%d_profiling_output_record", (int)getpid());
    const int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *const text = dir >= 0 ? text_read(dir, name) : NULL;
    char **lines = text ? calloc(strlen(text) + 1, sizeof *lines) : NULL;
    size_t n = 0;
    for (char *rest = text, *line; lines && (line = strsep(&rest, "\r\n"));)
        if (is_collection(dir, line))
            lines[n++] = line;
    if (n > 1)
        qsort(lines, n, sizeof *lines, output_record_by_name);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_MAX];
        if ((i == 0 || strcmp(lines[i], lines[i - 1]) != 0) &&
            snprintf(path, sizeof path, "%s/%s", parent, lines[i]) < (int)sizeof path)
            found(user, path);
    }
    free(lines);
    free(text);
    if (dir >= 0)
        close(dir);
}
