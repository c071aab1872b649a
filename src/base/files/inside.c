/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- from a directory downwards, without links ---- */

#ifndef SYS_openat2
#define SYS_openat2 437 /* the same number on all architectures */
#endif
enum { FILE_MODE = 0640, UNNAMED_MODE = 0600, DIR_MODE = 0750, PLACE = O_PATH | O_DIRECTORY | O_CLOEXEC };
static const uint64_t BENEATH = 0x08, NO_SYMLINKS = 0x04, NO_MAGICLINKS = 0x02; /* RESOLVE_* of linux/openat2.h */

static mode_t mode_of(int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE ? UNNAMED_MODE : FILE_MODE;
}

static int open_at_once(int dir, const char *path, int flags)
{
    const bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    const struct {
        uint64_t flags, mode, resolve;
    } how = { (uint64_t)(unsigned)flags, creates ? mode_of(flags) : 0, BENEATH | NO_SYMLINKS | NO_MAGICLINKS };
    return (int)TEMP_FAILURE_RETRY(syscall(SYS_openat2, dir, path, &how, sizeof how));
}

/* One part of a path. O_DIRECTORY makes ENOTDIR of a link, which has to be distinguished from a file. */
static int open_part(int dir, const char *name, int flags)
{
    struct stat st;
    const int fd = (int)TEMP_FAILURE_RETRY(openat(dir, name, flags | O_NOFOLLOW, mode_of(flags)));
    if (fd < 0 && errno == ENOTDIR && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return fd;
}

static int open_by_parts(int dir, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    int at = dir;
    for (;;) {
        const size_t len = strcspn(path, "/");
        const char *next = path + len + strspn(path + len, "/");
        const bool is_last = !*next;
        if (len >= sizeof name)
            errno = ENAMETOOLONG;
        else
            *(char *)mempcpy(name, path, len) = 0;
        const int fd = len < sizeof name ? open_part(at, name, is_last ? flags : PLACE) : -1, why = errno;
        if (at != dir)
            close(at);
        errno = why;
        if (fd < 0 || is_last)
            return fd;
        at = fd;
        path = next;
    }
}

static bool leads_up(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2)
        if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == 0))
            return true;
    return false;
}

static int open_below(int dir, const char *path, int flags)
{
    static atomic_bool is_missing; /* the kernel is too old */
    if (leads_up(path) || strlen(path) >= PATH_MAX) {
        errno = leads_up(path) ? EXDEV : ENAMETOOLONG;
        return -1;
    }
    if (!(flags & O_PATH) || (flags & O_DIRECTORY))
        flags &= ~O_NOFOLLOW; /* so that a link is always ELOOP; with O_PATH alone it is opened itself */
    if (!atomic_load_explicit(&is_missing, memory_order_relaxed)) {
        const int fd = open_at_once(dir, path, flags);
        /* seccomp filters return ENOSYS or EPERM */
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN))
            return fd;
        if (errno == ENOSYS)
            atomic_store_explicit(&is_missing, true, memory_order_relaxed);
    }
    return open_by_parts(dir, path, flags);
}

/* ---- roots ---- */

enum { HELD_MOST = 32 }; /* open roots: a process may have 1024 descriptors, and a job thousands of ranks */

struct root {
    char *path; /* without a slash at its end: "/" is "" */
    size_t len;
    dev_t device;
    ino_t inode;
    int fd;           /* -1: closed, because other roots are used more */
    unsigned n_users; /* threads that need fd at this moment */
    uint64_t used_at;
};

static struct {
    pthread_mutex_t lock;
    struct root **at; /* sorted */
    atomic_size_t n;  /* 0: no lock is taken, so that a child of fork() can open files */
    size_t n_held;
    uint64_t now; /* counts uses */
} roots = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t trimmed(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] == '/')
        len--;
    return len;
}

/* Where the root is in the list, or would be. */
static size_t root_at(const char *path, size_t len, bool *is_there)
{
    size_t low = 0, high = roots.n;
    *is_there = false;
    while (low < high && !*is_there) {
        const size_t middle = low + (high - low) / 2;
        const struct root *r = roots.at[middle];
        int order = strncmp(path, r->path, len);
        order = order ? order : len < r->len ? -1 : 0;
        *is_there = order == 0;
        if (order <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* The longest root that is the path, or above it. */
static struct root *root_of(const char *path)
{
    size_t len = trimmed(path, strlen(path));
    for (;;) {
        bool is_there;
        const size_t i = root_at(path, len, &is_there);
        if (is_there)
            return roots.at[i];
        if (len == 0)
            return NULL;
        while (len > 0 && path[len - 1] != '/')
            len--;
        if (len == 0) /* of a relative path; "" is the root of absolute ones */
            return NULL;
        len = trimmed(path, len);
    }
}

static int root_open(const struct root *r)
{
    return (int)TEMP_FAILURE_RETRY(open(r->len > 0 ? r->path : "/", PLACE));
}

static void hold(struct root *r, int fd)
{
    struct root *oldest = NULL;
    for (size_t i = 0; i < roots.n && roots.n_held >= HELD_MOST; i++) {
        struct root *k = roots.at[i];
        if (k->fd >= 0 && k->n_users == 0 && (!oldest || k->used_at < oldest->used_at))
            oldest = k;
    }
    if (oldest) {
        close(oldest->fd);
        oldest->fd = -1;
        roots.n_held--;
    }
    r->fd = fd;
    roots.n_held++;
}

/* Its descriptor, to be given back by root_give(). -1: errno. */
static int root_take(struct root *r)
{
    struct stat st;
    if (r->fd < 0) {
        const int fd = root_open(r);
        if (fd < 0)
            return -1;
        if (fstat(fd, &st) != 0 || st.st_dev != r->device || st.st_ino != r->inode) {
            close(fd);
            errno = ESTALE;
            return -1;
        }
        hold(r, fd);
    }
    r->n_users++;
    r->used_at = ++roots.now;
    return r->fd;
}

static void root_give(struct root *r)
{
    pthread_mutex_lock(&roots.lock);
    r->n_users--;
    pthread_mutex_unlock(&roots.lock);
}

static struct root *root_new(const char *path, size_t len)
{
    struct stat st;
    struct root *r = calloc(1, sizeof *r);
    char *copy = r ? strndup(path, len) : NULL;
    struct root **more = copy ? reallocarray(roots.at, roots.n + 1, sizeof *more) : NULL;
    if (more) {
        roots.at = more;
        *r = (struct root){ .path = copy, .len = len, .fd = -1 };
        const int fd = root_open(r);
        if (fd >= 0 && fstat(fd, &st) == 0) {
            r->device = st.st_dev;
            r->inode = st.st_ino;
            hold(r, fd);
            return r;
        }
        const int why = errno;
        if (fd >= 0)
            close(fd);
        errno = why;
    }
    free(copy);
    free(r);
    return NULL;
}

bool inside_enter(const char *path)
{
    const size_t len = trimmed(path, strlen(path));
    bool is_there;
    pthread_mutex_lock(&roots.lock);
    const size_t i = root_at(path, len, &is_there);
    struct root *r = is_there ? roots.at[i] : root_new(path, len);
    if (r && !is_there) {
        memmove(roots.at + i + 1, roots.at + i, (roots.n - i) * sizeof *roots.at);
        roots.at[i] = r;
        roots.n++;
    }
    pthread_mutex_unlock(&roots.lock);
    return r != NULL;
}

static void root_renew(struct root *r)
{
    struct stat st = { 0 };
    const int fd = root_open(r);
    const bool is_there = fd >= 0 && fstat(fd, &st) == 0;
    const bool is_same = is_there && st.st_dev == r->device && st.st_ino == r->inode;
    r->device = st.st_dev;
    r->inode = st.st_ino;
    if (!is_same && r->fd >= 0) {
        close(r->fd);
        r->fd = -1;
        roots.n_held--;
    }
    if (fd >= 0 && r->fd < 0)
        hold(r, fd);
    else if (fd >= 0)
        close(fd);
}

void inside_again(void)
{
    pthread_mutex_lock(&roots.lock);
    for (size_t i = 0; i < roots.n; i++)
        if (roots.at[i]->n_users == 0)
            root_renew(roots.at[i]);
    pthread_mutex_unlock(&roots.lock);
}

bool inside_is_below(const char *path)
{
    pthread_mutex_lock(&roots.lock);
    const struct root *r = root_of(path);
    const bool is_below = r && trimmed(path, strlen(path)) > r->len;
    pthread_mutex_unlock(&roots.lock);
    return is_below;
}

/* ---- what callers use ---- */

int inside_open(const char *path, int flags)
{
    struct root *r = NULL;
    int dir = AT_FDCWD;
    if (roots.n > 0) {
        pthread_mutex_lock(&roots.lock);
        r = root_of(path);
        dir = r ? root_take(r) : AT_FDCWD;
        pthread_mutex_unlock(&roots.lock);
    }
    if (!r)
        return (int)TEMP_FAILURE_RETRY(open(path, flags, mode_of(flags)));
    if (dir < 0)
        return -1;
    const char *below = path + r->len + strspn(path + r->len, "/");
    const int fd = open_below(dir, *below ? below : ".", flags), why = errno;
    root_give(r);
    errno = why;
    return fd;
}

DIR *inside_list(const char *path)
{
    const int fd = inside_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const int why = errno;
    if (!dir && fd >= 0)
        close(fd);
    errno = why;
    return dir;
}

/* A root itself is not looked up: that would take the right to search it. */
static int root_stat(const char *path, struct stat *st)
{
    int failed = -1;
    errno = ENOENT;
    pthread_mutex_lock(&roots.lock);
    struct root *r = root_of(path);
    const int fd = r && trimmed(path, strlen(path)) == r->len ? root_take(r) : -1;
    if (fd >= 0) {
        failed = fstat(fd, st);
        r->n_users--;
    }
    pthread_mutex_unlock(&roots.lock);
    return failed;
}

int inside_stat(const char *path, struct stat *st)
{
    if (roots.n > 0 && root_stat(path, st) == 0)
        return 0;
    const int fd = inside_open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const int failed = fd < 0 ? -1 : fstat(fd, st), why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return failed;
}

int inside_parent(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX] = ".";
    *name = slash ? slash + 1 : path;
    const size_t len = (size_t)(*name - path);
    if (len >= sizeof dir) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (len > 0)
        *(char *)mempcpy(dir, path, len) = 0;
    return inside_open(dir, PLACE);
}

/* Does something with a name in its directory. */
static int at_parent(const char *path, int (*act)(int dir, const char *name, int flags), int flags)
{
    const char *name;
    const int dir = inside_parent(path, &name);
    if (dir < 0)
        return -1;
    const int failed = act(dir, name, flags), why = errno;
    close(dir);
    errno = why;
    return failed;
}

static int make(int dir, const char *name, int flags)
{
    (void)flags;
    return mkdirat(dir, name, DIR_MODE);
}

int inside_make(const char *path)
{
    return at_parent(path, make, 0);
}

int inside_remove(const char *path, int flags)
{
    return at_parent(path, unlinkat, flags);
}
