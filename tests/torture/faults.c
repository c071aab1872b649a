/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - a library to be preloaded that makes one call of a program fail.
 *
 * The environment says which call, and how:
 *
 *   FAULT_CALL=write      the name of a group below: each counts by itself
 *   FAULT_AT=7            the seventh of them; without it nothing fails
 *   FAULT_ON=1            and all that come after it, too
 *   FAULT_HOW=28          with this errno; or "short" (half of the bytes are written or read), "end" (there is nothing more to read), "signal 9" (the program is
 *                         sent a signal before the call), "shrink" (the file is cut to nothing as soon as it is mapped),
 *                         "grow" (it gets longer then)
 *   FAULT_COUNT=path      at the end the number of calls of each group is written there, and whether the fault came
 *   FAULT_BOOK=path       what could not be read is noted there, a path a line; of a directory that could not be read to its end
 *                         the names that nobody has heard of
 *   FAULT_SHOW=1          where the call came from goes to stderr, as addresses for addr2line
 *   FAULT_TIME=seconds    what time() answers: names of results with a stamp in them can be compared
 *
 * What libc calls inside itself (the writes of stdio, the allocations of opendir) goes through here for memory only.
 */
#undef _FILE_OFFSET_BITS /* with it open() would be another name for open64(), and we need both */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum call {
    ALLOC,
    THREAD,
    WRITE,
    CREATE, /* open for writing */
    CLOSE,
    RENAME,
    MKDIR,
    TRUNCATE,
    SYNC,
    UNLINK,
    OPEN, /* for reading */
    STAT,
    OPENDIR,
    READDIR,
    MAP,
    READ,
    CALLS
};
static const char *const call_name[CALLS] = { "alloc",   "thread",   "write", "create", "close", "rename",
                                              "mkdir",   "truncate", "sync",  "unlink", "open",  "stat",
                                              "opendir", "readdir",  "map",   "read" };

enum how { FAIL, SHORT, END, SIGNAL, SHRINK, GROW };

static atomic_ulong n_calls[CALLS];
static atomic_bool came;
static struct {
    bool is_on;
    enum call call;
    unsigned long at;
    bool and_on;
    enum how how;
    int number; /* errno or signal */
    bool is_shown;
} fault;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

__attribute__((constructor)) static void read_environment(void)
{
    const char *call = getenv("FAULT_CALL"), *at = getenv("FAULT_AT"), *on = getenv("FAULT_ON"),
               *how = getenv("FAULT_HOW");
    for (int i = 0; call && at && i < CALLS; i++)
        if (strcmp(call, call_name[i]) == 0) {
            fault.call = (enum call)i;
            fault.at = strtoul(at, NULL, 10);
            fault.is_on = fault.at > 0;
        }
    fault.is_shown = getenv("FAULT_SHOW") != NULL;
    if (fault.is_shown)
        backtrace((void *[1]){ NULL }, 1); /* it takes memory the first time */
    fault.and_on = on && *on == '1';
    fault.number = ENOMEM;
    if (how && strcmp(how, "short") == 0)
        fault.how = SHORT;
    else if (how && strcmp(how, "end") == 0)
        fault.how = END;
    else if (how && strcmp(how, "shrink") == 0)
        fault.how = SHRINK;
    else if (how && strcmp(how, "grow") == 0)
        fault.how = GROW;
    else if (how && strncmp(how, "signal ", 7) == 0) {
        fault.how = SIGNAL;
        fault.number = atoi(how + 7);
    } else if (how)
        fault.number = atoi(how);
    for (int i = 0; i < CALLS; i++)
        atomic_store(&n_calls[i], 0); /* what happened before main() is not the program's */
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("FAULT_COUNT");
    const int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    char text[512];
    int n = snprintf(text, sizeof text, "came %d\n", atomic_load(&came));
    for (int i = 0; i < CALLS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %lu\n", call_name[i], atomic_load(&n_calls[i]));
    syscall(SYS_write, fd, text, n);
    syscall(SYS_close, fd);
}

/* True: this is the call that the fault is meant for. A signal is sent here, and the call then goes on. */
static bool is_hit(enum call call)
{
    const unsigned long n = atomic_fetch_add(&n_calls[call], 1) + 1;
    if (!fault.is_on || call != fault.call || n < fault.at || (n > fault.at && !fault.and_on))
        return false;
    if (fault.is_shown && !atomic_load(&came)) {
        void *from[32];
        backtrace_symbols_fd(from, backtrace(from, 32), STDERR_FILENO);
    }
    atomic_store(&came, true);
    if (fault.how == SIGNAL)
        kill(getpid(), fault.number);
    return fault.how != SIGNAL;
}

static bool fails(enum call call)
{
    const bool hit = is_hit(call) && fault.how == FAIL;
    if (hit)
        errno = fault.number;
    return hit;
}

static bool path_of(int fd, char path[static 4096])
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, self, path, 4095);
    path[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The name of what could not be read, below a directory; "" is the thing behind the descriptor itself. */
static void note(int dir, const char *name)
{
    const int why = errno;
    const char *book = getenv("FAULT_BOOK");
    char path[4096] = "", line[8400];
    const int fd = book ? (int)syscall(SYS_openat, AT_FDCWD, book, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0) {
        if (dir != AT_FDCWD && name[0] != '/')
            path_of(dir, path);
        const int n = snprintf(line, sizeof line, "%s%s%s\n", path, path[0] && name[0] ? "/" : "", name);
        syscall(SYS_write, fd, line, n);
        syscall(SYS_close, fd);
    }
    errno = why;
}

static bool fails_at(enum call call, int dir, const char *name)
{
    const bool hit = fails(call);
    if (hit)
        note(dir, name);
    return hit;
}

/* ---- memory and threads ---------------------------------------------------------------------------------------- */

void *malloc(size_t size)
{
    return fails(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    void *got = fails(ALLOC) ? NULL : __libc_memalign(align, size);
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    return fails(THREAD) ? EAGAIN : real(thread, attr, start, arg);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static size_t shortened(enum call call, int fd, size_t n, bool *is_failed)
{
    const bool hit = is_hit(call);
    *is_failed = hit && fault.how == FAIL;
    if (hit && call == READ)
        note(fd, "");
    if (*is_failed)
        errno = fault.number;
    return hit && fault.how == END ? 0 : hit && fault.how == SHORT && n > 1 ? n / 2 : n;
}

ssize_t write(int fd, const void *p, size_t n)
{
    bool failed;
    n = shortened(WRITE, fd, n, &failed);
    return failed ? -1 : syscall(SYS_write, fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    bool failed;
    n = shortened(WRITE, fd, n, &failed);
    return failed ? -1 : syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
    return pwrite(fd, p, n, at);
}

ssize_t writev(int fd, const struct iovec *part, int n)
{
    return fails(WRITE) ? -1 : syscall(SYS_writev, fd, part, n);
}

/* What the program asks the system about itself comes at moments that are never the same. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0;
}

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
    const bool is_writing = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    if (is_of_system(path))
        return (int)syscall(SYS_openat, dir, path, flags, mode);
    const bool failed = is_writing ? fails(CREATE) : fails_at(OPEN, dir, path);
    return failed ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

static mode_t mode_given(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN_LIKE(name, declared, dir)                                                                                 \
    int name(declared const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        const mode_t mode = mode_given(flags, args);                                                                   \
        va_end(args);                                                                                                  \
        return open_any(dir, path, flags, mode);                                                                       \
    }
#define NO_ARGUMENT
#define DIR_ARGUMENT int dir,
OPEN_LIKE(open, NO_ARGUMENT, AT_FDCWD)
OPEN_LIKE(open64, NO_ARGUMENT, AT_FDCWD)
OPEN_LIKE(openat, DIR_ARGUMENT, dir)
OPEN_LIKE(openat64, DIR_ARGUMENT, dir)

/* openat2() has no function of its own in libc. Everything else, ours above all, goes on to the real one. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_openat2) {
        const char *path = (const char *)a[1];
        const uint64_t flags = *(const uint64_t *)a[2];
        const bool is_writing = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
        if (is_writing ? fails(CREATE) : fails_at(OPEN, (int)a[0], path))
            return -1;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* As the kernel does: the descriptor is gone whatever close() says. */
int close(int fd)
{
    const bool failed = fails(CLOSE);
    const int why = errno, done = (int)syscall(SYS_close, fd);
    if (failed)
        errno = why;
    return failed ? -1 : done;
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int ftruncate(int fd, off_t size)
{
    return fails(TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return ftruncate(fd, size);
}

int fsync(int fd)
{
    return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails(SYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int unlink(const char *path)
{
    return fails(UNLINK) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
    return fails(UNLINK) ? -1 : (int)syscall(SYS_unlinkat, dir, path, flags);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return fails_at(STAT, dir, path) ? -1 : (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

int fstat(int fd, struct stat *st)
{
    return fstatat(fd, "", st, AT_EMPTY_PATH);
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

int fstat64(int fd, struct stat64 *st)
{
    return fstat(fd, (struct stat *)st);
}

int stat64(const char *path, struct stat64 *st)
{
    return stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
    return lstat(path, (struct stat *)st);
}

DIR *opendir(const char *path)
{
    static DIR *(*real)(const char *);
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "opendir");
    return fails_at(OPENDIR, AT_FDCWD, path) ? NULL : real(path);
}

DIR *fdopendir(int fd)
{
    static DIR *(*real)(int);
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "fdopendir");
    return fails_at(OPENDIR, fd, "") ? NULL : real(fd);
}

struct dirent *readdir(DIR *dir)
{
    static struct dirent *(*real)(DIR *);
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "readdir");
    if (!fails(READDIR))
        return real(dir);
    const int why = errno;
    for (struct dirent *d; (d = real(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            note(dirfd(dir), d->d_name);
    errno = why;
    return NULL;
}

struct dirent64 *readdir64(DIR *dir)
{
    return (struct dirent64 *)readdir(dir);
}

/* What another process may do to a file that we have mapped. */
static void change_file(int fd)
{
    char path[4096];
    if (!path_of(fd, path))
        return;
    const int again = (int)syscall(SYS_openat, AT_FDCWD, path, fault.how == GROW ? O_WRONLY | O_APPEND : O_WRONLY);
    if (again < 0)
        return;
    static const char more[5000];
    if (fault.how == GROW)
        syscall(SYS_write, again, more, sizeof more);
    else
        syscall(SYS_ftruncate, again, 0);
    syscall(SYS_close, again);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    const bool is_file = fd >= 0, hit = is_file && is_hit(MAP);
    if (hit)
        note(fd, "");
    if (hit && fault.how == FAIL) {
        errno = fault.number;
        return MAP_FAILED;
    }
    void *p = (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
    if (hit)
        change_file(fd);
    return p;
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return mmap(at, n, protection, flags, fd, offset);
}

ssize_t read(int fd, void *p, size_t n)
{
    bool failed;
    n = shortened(READ, fd, n, &failed);
    return failed ? -1 : syscall(SYS_read, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    char path[4096];
    bool failed;
    if (path_of(fd, path) && is_of_system(path))
        return syscall(SYS_pread64, fd, p, n, at);
    n = shortened(READ, fd, n, &failed);
    return failed ? -1 : syscall(SYS_pread64, fd, p, n, at);
}

ssize_t pread64(int fd, void *p, size_t n, off_t at)
{
    return pread(fd, p, n, at);
}

time_t time(time_t *out)
{
    const char *fixed = getenv("FAULT_TIME");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const time_t t = fixed ? (time_t)strtoll(fixed, NULL, 10) : now.tv_sec;
    if (out)
        *out = t;
    return t;
}
