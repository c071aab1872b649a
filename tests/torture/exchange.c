/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - a library to be preloaded that exchanges a directory for a link at a chosen moment.
 *
 *   EXCHANGE_DIR=path     the directory, and
 *   EXCHANGE_LINK=path    the link in whose place it is put, at once (RENAME_EXCHANGE)
 *   EXCHANGE_AT=7         before the seventh call whose path has the last part of EXCHANGE_DIR in it
 *   EXCHANGE_BACK=1       and back after that call; without it they stay exchanged
 *   EXCHANGE_COUNT=path   at the end the number of such calls is written there
 *   EXCHANGE_PLAIN=1      openat2() is not there
 */
#undef _FILE_OFFSET_BITS /* with it open() would be another name for open64(), and we need both */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    const char *dir, *link, *name;
    unsigned long at, n;
    bool is_back, is_plain;
    pthread_mutex_t lock;
} swap = { .lock = PTHREAD_MUTEX_INITIALIZER };

static long (*real)(long, ...);

__attribute__((constructor)) static void read_environment(void)
{
    const char *at = getenv("EXCHANGE_AT"), *slash;
    real = (__typeof__(real))dlsym(RTLD_NEXT, "syscall");
    swap.dir = getenv("EXCHANGE_DIR");
    swap.link = getenv("EXCHANGE_LINK");
    swap.is_back = getenv("EXCHANGE_BACK") != NULL;
    swap.is_plain = getenv("EXCHANGE_PLAIN") != NULL;
    slash = swap.dir ? strrchr(swap.dir, '/') : NULL;
    swap.name = slash && swap.link ? slash + 1 : NULL;
    swap.at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("EXCHANGE_COUNT");
    const int fd = path ? (int)real(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    char text[40];
    const int n = snprintf(text, sizeof text, "%lu", swap.n);
    if (fd >= 0) {
        real(SYS_write, fd, text, n);
        real(SYS_close, fd);
    }
}

static void exchange(void)
{
    enum { EXCHANGE = 2 };
    const int why = errno;
    real(SYS_renameat2, AT_FDCWD, swap.dir, AT_FDCWD, swap.link, EXCHANGE);
    errno = why;
}

/* True: they are exchanged for this call alone, and end() has to follow. */
static bool begin(const char *path)
{
    if (!swap.name || !path || !strstr(path, swap.name))
        return false;
    pthread_mutex_lock(&swap.lock);
    const bool is_it = ++swap.n == swap.at;
    if (is_it)
        exchange();
    if (is_it && swap.is_back)
        return true;
    pthread_mutex_unlock(&swap.lock);
    return false;
}

static void end(bool was_begun)
{
    if (!was_begun)
        return;
    exchange();
    pthread_mutex_unlock(&swap.lock);
}

static long call(const char *path, long number, long a, long b, long c, long d, long e)
{
    const bool is_begun = begin(path);
    const long result = real(number, a, b, c, d, e);
    end(is_begun);
    return result;
}

#define CALL(path, number, a, b, c, d, e) (int)call(path, number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number != SYS_openat2)
        return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (swap.is_plain) {
        errno = ENOSYS;
        return -1;
    }
    return call((const char *)a[1], number, a[0], a[1], a[2], a[3], 0);
}

#define OPEN_LIKE(name, declared, dir)                                                                                 \
    int name(declared const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                                  \
        va_end(args);                                                                                                  \
        return CALL(path, SYS_openat, dir, path, flags, mode, 0);                                                      \
    }
#define NO_ARGUMENT
#define DIR_ARGUMENT int dir,
OPEN_LIKE(open, NO_ARGUMENT, AT_FDCWD)
OPEN_LIKE(open64, NO_ARGUMENT, AT_FDCWD)
OPEN_LIKE(openat, DIR_ARGUMENT, dir)
OPEN_LIKE(openat64, DIR_ARGUMENT, dir)

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return CALL(path, SYS_newfstatat, dir, path, st, flags, 0);
}

int stat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
    return fstatat(dir, path, (struct stat *)st, flags);
}

int stat64(const char *path, struct stat64 *st)
{
    return stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
    return lstat(path, (struct stat *)st);
}

int access(const char *path, int mode)
{
    return CALL(path, SYS_faccessat, AT_FDCWD, path, mode, 0, 0);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return CALL(path, SYS_mkdirat, dir, path, mode, 0, 0);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
    return CALL(path, SYS_unlinkat, dir, path, flags, 0, 0);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return CALL(from, SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

DIR *opendir(const char *path)
{
    static DIR *(*next)(const char *);
    if (!next)
        next = (__typeof__(next))dlsym(RTLD_NEXT, "opendir");
    const bool is_begun = begin(path);
    DIR *dir = next(path);
    end(is_begun);
    return dir;
}

char *realpath(const char *path, char *to)
{
    static char *(*next)(const char *, char *);
    if (!next)
        next = (__typeof__(next))dlvsym(RTLD_NEXT, "realpath", "GLIBC_2.3");
    if (!next)
        next = (__typeof__(next))dlsym(RTLD_NEXT, "realpath");
    const bool is_begun = begin(path);
    char *found = next(path, to);
    end(is_begun);
    return found;
}
