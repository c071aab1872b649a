/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/inside.h"

static bool outdir_fail(struct error *e, const char *path, int why)
{
    return error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(why));
}

bool outdir_make(const char *path, struct error *e)
{
    struct stat st;
    if (destination_is_trap(path))
        return outdir_fail(e, path, EACCES);
    int why =
        /* after a power cut, its contents would be lost without its name */
        mkdir(path, 0750) == 0 ? durable_name(path) : errno;
    why = why == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? 0 : why;
    why = why == 0 && !inside_enter(path) ? errno : why;
    return why == 0 || outdir_fail(e, path, why);
}

bool outdir_settle(const char *path, struct error *e)
{
    const int why = durable_dir(AT_FDCWD, path);
    return why == 0 || durable_fail(e, path, why);
}

bool outdir_is_inside(const char *path, struct error *e)
{
    struct stat st;
    if (inside_stat(path, &st) != 0)
        return errno == ENOENT || outdir_fail(e, path, errno);
    if (S_ISLNK(st.st_mode))
        return error_set(e, FAULT_IO,
                         "%s: is a symbolic link, and results are not written through links; remove it, or use --out",
                         path);
    return S_ISDIR(st.st_mode) || outdir_fail(e, path, EEXIST);
}

bool outdir_make_inside(const char *path, struct error *e)
{
    const int why = inside_make(path) == 0 ? durable_name(path) : errno;
    return why == 0 || (why == EEXIST ? outdir_is_inside(path, e) : outdir_fail(e, path, why));
}

/* False: another process still holds the lock. */
static bool lock_wait(int fd, unsigned patience_ms)
{
    enum { STEP_MS = 50 };
    for (unsigned waited = 0;; waited += STEP_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true; /* or this file system has no locks */
        if (waited >= patience_ms)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
    }
}

/* False: a process that had nothing to write has removed the directory while we waited for its lock. */
static bool outdir_is_same(int fd, const char *path)
{
    struct stat held, now;
    return fstat(fd, &held) == 0 && inside_stat(path, &now) == 0 && held.st_dev == now.st_dev &&
           held.st_ino == now.st_ino;
}

int outdir_lock(const char *path, unsigned patience_ms, struct error *e)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        if (!outdir_make_inside(path, e))
            return -1;
        const int fd = inside_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0)
            return outdir_fail(e, path, errno) - 1;
        if (!lock_wait(fd, patience_ms)) {
            close(fd);
            return error_set(e, FAULT_IO,
                             "%s: another process is writing its results here; try again later, or use --out", path) -
                   1;
        }
        if (outdir_is_same(fd, path))
            return fd;
        close(fd);
    }
    return outdir_fail(e, path, ENOENT) - 1;
}
