/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/proc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/files/file.h"

enum { KEPT_WITHIN = 64, KEPT_OUTSIDE = 4096, SHARE_OF_LIMIT = 4 };

struct proc_files proc_files_limit(bool is_within)
{
    struct rlimit files = { .rlim_cur = 1024 };
    getrlimit(RLIMIT_NOFILE, &files);
    const size_t share = files.rlim_cur / SHARE_OF_LIMIT, most = is_within ? KEPT_WITHIN : KEPT_OUTSIDE;
    return (struct proc_files){ .most = share < most ? share : most };
}

size_t proc_file_read(struct proc_files *of, struct proc_file *f, int dir, const char *name, char *to, size_t room)
{
    const int fd = f->fd >= 0 ? f->fd : openat(dir, name, O_RDONLY | O_CLOEXEC);
    to[0] = '\0';
    if (fd < 0)
        return 0;
    const ssize_t n = pread(fd, to, room - 1, 0);
    const int why = errno;
    if (f->fd < 0 && n > 0 && of->n < of->most) {
        f->fd = fd;
        of->n++;
    } else if (f->fd < 0) {
        proc_close(fd);
    }
    errno = why;
    to[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

size_t proc_read(int dir, const char *name, char *to, size_t room)
{
    struct proc_files none = { 0 };
    struct proc_file f = PROC_FILE_CLOSED;
    return proc_file_read(&none, &f, dir, name, to, room);
}

void proc_close(int fd)
{
    struct statfs st;
    if (fd >= 0 && fstatfs(fd, &st) == 0 && (st.f_type == PROC_SUPER_MAGIC || st.f_type == SYSFS_MAGIC))
        close(fd);
}

void proc_file_close(struct proc_files *of, struct proc_file *f)
{
    const int fd = f->fd;
    f->fd = -1;
    if (fd < 0)
        return;
    proc_close(fd);
    of->n--;
}

static int proc_files_by_number(const void *a, const void *b)
{
    const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

pid_t *proc_numbers(int dir, const char *name, size_t *n)
{
    const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const list = fd >= 0 ? fdopendir(fd) : NULL;
    size_t room = 0;
    pid_t *all = NULL;
    int why = 0;
    *n = 0;
    for (const char *entry; list && (entry = dir_next(list, &why));) {
        char *end;
        const long number = strtol(entry, &end, 10);
        if (*end || number <= 0 || number > INT_MAX)
            continue;
        if (*n == room) {
            pid_t *const more = realloc(all, (room = room * 2 + 64) * sizeof *all);
            if (!more)
                break;
            all = more;
        }
        all[(*n)++] = (pid_t)number;
    }
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
    if (*n > 1)
        qsort(all, *n, sizeof *all, proc_files_by_number);
    if (fd >= 0)
        errno = 0;
    return all;
}
