/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: logs what it does to files below POWER_CUT_ROOT, in order, into the file POWER_CUT_LOG, for
 * power_states.py.
 *
 * A line for each call, fields separated by tabs: what, device:inode, numbers, absolute paths; behind "write" the
 * bytes. What goes through a mapping is not seen. The calls are made directly, so that the order in the log is the one
 * in which they were made. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char log_path[PATH_MAX], root[PATH_MAX];
static size_t root_len;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    const char *const path = getenv("POWER_CUT_LOG"), *const below = getenv("POWER_CUT_ROOT");
    if (!path || !below || strlen(path) >= sizeof log_path || strlen(below) >= sizeof root)
        return;
    strcpy(log_path, path);
    strcpy(root, below);
    root_len = strlen(root);
}

static int is_below(const char *path)
{
    return root_len > 0 && strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || !path[root_len]);
}

/* The absolute path of a name in a directory. */
static int path_of(int dir, const char *name, char out[2 * PATH_MAX])
{
    char of[64];
    ssize_t n = 0;
    if (*name != '/') {
        snprintf(of, sizeof of, dir == AT_FDCWD ? "/proc/thread-self/cwd" : "/proc/thread-self/fd/%d", dir);
        n = readlink(of, out, PATH_MAX - 1);
        n = n < 0 ? 0 : n;
        out[n++] = '/';
    }
    snprintf(out + n, PATH_MAX, "%s", name);
    return is_below(out);
}

static int file_is_below(int fd, struct stat *st)
{
    char of[64], path[PATH_MAX];
    snprintf(of, sizeof of, "/proc/thread-self/fd/%d", fd);
    const ssize_t n = root_len > 0 ? readlink(of, path, sizeof path - 1) : -1;
    if (n < 0)
        return 0;
    path[n] = '\0';
    return is_below(path) && fstat(fd, st) == 0 && st->st_nlink > 0; /* nothing is left of a file without a name */
}

static void put(const void *bytes, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void put(const void *bytes, size_t n, const char *fmt, ...)
{
    char line[6 * PATH_MAX];
    va_list more;
    va_start(more, fmt);
    const int len = vsnprintf(line, sizeof line, fmt, more);
    va_end(more);
    const struct iovec part[] = { { line, (size_t)len }, { (void *)(uintptr_t)bytes, n } };
    /* Opened each time: a thread may have a table of descriptors of its own. */
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (syscall(SYS_writev, fd, part, 2) != len + (ssize_t)n)
        abort(); /* a log with a gap proves nothing */
    syscall(SYS_close, fd);
}

#define ID(st) (unsigned long long)(st).st_dev, (unsigned long long)(st).st_ino

static int file_open(int dir, const char *name, int flags, int mode)
{
    char path[2 * PATH_MAX];
    struct stat st;
    pthread_mutex_lock(&lock);
    const int changes = (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH) && path_of(dir, name, path);
    const int was_there = changes && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    const int fd = (int)syscall(SYS_openat, dir, name, flags, mode);
    if (fd >= 0 && changes && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (flags & O_TMPFILE) != O_TMPFILE) {
        put(NULL, 0, "%s\t%llu:%llu\t%s\n", was_there ? "open" : "create", ID(st), path);
        if (was_there && flags & O_TRUNC)
            put(NULL, 0, "truncate\t%llu:%llu\t0\n", ID(st));
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPEN_MODE                                                                                                      \
    int mode = 0;                                                                                                      \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                                             \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, int);                                                                                      \
        va_end(more);                                                                                                  \
    }

int open(const char *path, int flags, ...)
{
    OPEN_MODE
    return file_open(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    OPEN_MODE
    return file_open(AT_FDCWD, path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...)
{
    OPEN_MODE
    return file_open(dir, path, flags, mode);
}
int openat64(int dir, const char *path, int flags, ...)
{
    OPEN_MODE
    return file_open(dir, path, flags, mode);
}

static ssize_t file_write(int fd, const void *bytes, size_t n, off_t at)
{
    struct stat st;
    pthread_mutex_lock(&lock);
    const int counts = file_is_below(fd, &st);
    off_t from = at;
    if (counts && at < 0)
        from = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
    const ssize_t done = at < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, at);
    if (counts && done > 0)
        put(bytes, (size_t)done, "write\t%llu:%llu\t%lld\t%lld\n", ID(st), (long long)from, (long long)done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return file_write(fd, bytes, n, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return file_write(fd, bytes, n, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return file_write(fd, bytes, n, at);
}

static int file_length(int fd, off_t length, const char *what, long done)
{
    struct stat st;
    if (done == 0 && file_is_below(fd, &st))
        put(NULL, 0, "%s\t%llu:%llu\t%lld\n", what, ID(st), (long long)length);
    pthread_mutex_unlock(&lock);
    return (int)done;
}

#define LOCKED(call) (pthread_mutex_lock(&lock), (call))

int ftruncate(int fd, off_t length)
{
    return file_length(fd, length, "truncate", LOCKED(syscall(SYS_ftruncate, fd, length)));
}
int ftruncate64(int fd, off64_t length)
{
    return file_length(fd, length, "truncate", LOCKED(syscall(SYS_ftruncate, fd, length)));
}
int posix_fallocate(int fd, off_t at, off_t n)
{
    return file_length(fd, at + n, "grow", LOCKED(syscall(SYS_fallocate, fd, 0, at, n))) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t at, off64_t n)
{
    return posix_fallocate(fd, at, n);
}

static int file_sync(int fd, long call)
{
    struct stat st;
    pthread_mutex_lock(&lock);
    const int counts = file_is_below(fd, &st);
    const int done = (int)syscall(call, fd);
    if (counts && done == 0)
        put(NULL, 0, "sync\t%llu:%llu\n", ID(st));
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int fd)
{
    return file_sync(fd, SYS_fsync);
}
int fdatasync(int fd)
{
    return file_sync(fd, SYS_fdatasync);
}

static int name_change(const char *what, int from_dir, const char *from, int to_dir, const char *to, long done)
{
    char a[2 * PATH_MAX], b[2 * PATH_MAX];
    const int counts = done == 0 && (path_of(from_dir, from, a) | (to ? path_of(to_dir, to, b) : 0));
    if (counts)
        put(NULL, 0, "%s\t%s%s%s\n", what, a, to ? "\t" : "", to ? b : "");
    pthread_mutex_unlock(&lock);
    return (int)done;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return name_change("rename", from_dir, from, to_dir, to,
                       LOCKED(syscall(SYS_renameat2, from_dir, from, to_dir, to, 0)));
}
int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int unlinkat(int dir, const char *name, int flags)
{
    return name_change("unlink", dir, name, 0, NULL, LOCKED(syscall(SYS_unlinkat, dir, name, flags)));
}
int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}
int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}
int remove(const char *name)
{
    return unlink(name) == 0 ? 0 : errno == EISDIR ? rmdir(name) : -1;
}
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return name_change("link", from_dir, from, to_dir, to,
                       LOCKED(syscall(SYS_linkat, from_dir, from, to_dir, to, flags)));
}
int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
    char path[2 * PATH_MAX];
    struct stat st;
    pthread_mutex_lock(&lock);
    const int done = (int)syscall(SYS_mkdirat, dir, name, mode);
    if (done == 0 && path_of(dir, name, path) && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        put(NULL, 0, "mkdir\t%llu:%llu\t%s\n", ID(st), path);
    pthread_mutex_unlock(&lock);
    return done;
}
int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

/* Nobody here uses them; whoever begins to adds them above. */
#define NOT_LOGGED(type, name, ...)                                                                                    \
    type name(__VA_ARGS__)                                                                                             \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
NOT_LOGGED(int, syncfs, int fd __attribute__((unused)))
NOT_LOGGED(void, sync, void)
