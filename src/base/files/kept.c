/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* of every architecture */
#endif

/* The kernel's table grows with the highest number, so no higher ones are used. */
enum { NUMBERS_MOST = 4096, OPEN_TRIES = 8 };

static int number_least(void)
{
    struct rlimit limit;
    const rlim_t most =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < NUMBERS_MOST ? limit.rlim_cur : NUMBERS_MOST;
    return (int)(most / 4 * 3);
}

static bool kept_is_same(int fd, const struct kept *k)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_dev == k->device && (uint64_t)st.st_ino == k->inode;
}

/* Closes what is still ours. */
static bool number_close(int fd, const struct kept *k)
{
    return !kept_is_same(fd, k) || close(fd) == 0 || errno == EINTR; /* interrupted, it is closed all the same */
}

/* Gives the descriptor a high number, or leaves it where it is when there is none. False: the program has closed it
 * meanwhile. */
static bool number_move(struct kept *k, int fd)
{
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, number_least());
    if (high >= 0 && kept_is_same(high, k))
        number_close(fd, k);
    k->fd = high >= 0 ? high : fd;
    if (kept_is_same(k->fd, k))
        return true;
    if (high >= 0)
        close(high); /* a copy of what the program has put there */
    k->fd = -1;
    errno = EBADF;
    return false;
}

/* The file is identified by its name; its number may be used by another file already. */
bool kept_open(struct kept *k, int dir, const char *name, int flags, mode_t mode)
{
    const bool is_known = k->inode != 0;
    struct kept now = KEPT_NONE;
    k->fd = -1;
    for (int i = 0; i < OPEN_TRIES; i++) {
        struct stat st;
        const int fd = openat(dir, name, flags | O_CLOEXEC, mode);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0 || fstatat(dir, name, &st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) != 0)
            return false;
        now.device = st.st_dev;
        now.inode = st.st_ino;
        if (is_known && (now.device != k->device || now.inode != k->inode)) {
            number_close(fd, &now);
            errno = ESTALE;
            return false;
        }
        flags &= ~(O_CREAT | O_EXCL); /* the first open has created the file */
        if (number_move(&now, fd)) {
            *k = now;
            return true;
        }
    }
    errno = EBADF;
    return false;
}

bool kept_take(struct kept *k, int fd)
{
    struct stat st;
    *k = (struct kept)KEPT_NONE;
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    k->device = st.st_dev;
    k->inode = st.st_ino;
    return number_move(k, fd);
}

int kept_fd(const struct kept *k)
{
    if (kept_is_same(k->fd, k))
        return k->fd;
    errno = EBADF;
    return -1;
}

bool kept_close(struct kept *k)
{
    const int fd = k->fd;
    k->fd = -1;
    return number_close(fd, k);
}

/* There in programs under ThreadSanitizer, which knows descriptors by their numbers alone and would report races
 * between two tables. */
extern void __tsan_init(void) __attribute__((weak));

/* Of a table that was just copied. Locks of the program stay: they belong to the other table. */
static void numbers_close(void)
{
    close(STDIN_FILENO); /* frees a number, because the table may be full */
    DIR *const all = opendir("/proc/thread-self/fd");
    for (struct dirent *d; all && (d = readdir(all));)
        if (atoi(d->d_name) != dirfd(all))
            close(atoi(d->d_name));
    if (all)
        closedir(all);
}

bool descriptors_apart(void)
{
    enum { UNSHARE = 2, STANDARD = 3 };
    if (__tsan_init)
        return false;
    if (syscall(SYS_close_range, 0, ~0U, UNSHARE) != 0) {
        if (unshare(CLONE_FILES) != 0)
            return false;
        numbers_close();
    }
    for (int i = 0; i < STANDARD; i++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            break;
    return true;
}
