/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"

enum {
    LINKS_MOST = 40,        /* as the kernel */
    MAGIC_OF_PROC = 0x9fa0, /* PROC_SUPER_MAGIC, for which some C libraries have no header */
};

static bool destination_fail(struct error *e, const char *name, int why)
{
    return error_set(e, FAULT_IO, "%s: cannot be created: %s", name, write_trouble(why));
}

static const char *kind_text(mode_t mode)
{
    return S_ISLNK(mode)    ? "a link"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

bool destination_is_plain(const char *path, struct error *e)
{
    struct stat st;
    if (inside_stat(path, &st) != 0)
        return errno == ENOENT || destination_fail(e, path, errno);
    return S_ISREG(st.st_mode) || error_set(e, FAULT_IO, "%s: is %s, not a regular file; remove it, or use --out", path,
                                            kind_text(st.st_mode));
}

/* A folder and the name in it: "a/b" is "a" and "b". */
struct destination_place {
    int dir;
    const char *base; /* in the path that was split */
};

static int place_open(struct destination_place *p, char *path)
{
    char *slash = strrchr(path, '/');
    p->base = slash ? slash + 1 : path;
    if (!*p->base)
        return EISDIR;
    const char was = slash ? slash[1] : 0;
    if (slash)
        slash[1] = 0; /* keeps the slash: "/" is the directory of "/a" */
    p->dir = (int)TEMP_FAILURE_RETRY(open(slash ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    const int why = p->dir < 0 ? errno : 0;
    if (slash)
        slash[1] = was;
    return why;
}

static bool is_proc(int dir)
{
    struct statfs fs;
    return fstatfs(dir, &fs) == 0 && fs.f_type == MAGIC_OF_PROC;
}

static bool is_own_descriptors(int dir)
{
    struct stat here, own;
    return fstat(dir, &here) == 0 && stat("/proc/self/fd", &own) == 0 && here.st_dev == own.st_dev &&
           here.st_ino == own.st_ino;
}

/* In a directory that everybody can write to, such as /tmp, a link or FIFO of another user would redirect our
 * output. */
static bool is_trap(int dir, const struct stat *st)
{
    struct stat above;
    const mode_t shared = S_ISVTX | S_IWOTH;
    return fstat(dir, &above) == 0 && (above.st_mode & shared) == shared && st->st_uid != geteuid() &&
           st->st_uid != above.st_uid;
}

bool destination_is_trap(const char *path)
{
    char name[PATH_MAX];
    struct destination_place p;
    struct stat st;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') /* the system would follow "link/" */
        n--;
    if (n >= sizeof name)
        return false;
    memcpy(name, path, n);
    name[n] = 0;
    if (place_open(&p, name) != 0)
        return false;
    const bool is_it =
        fstatat(p.dir, p.base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) && is_trap(p.dir, &st);
    close(p.dir);
    return is_it;
}

static int follow(struct destination *d, const struct destination_place *p)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    const ssize_t n = readlinkat(p->dir, p->base, target, sizeof target);
    if (n <= 0 || n == sizeof target)
        return n < 0 ? errno : ENAMETOOLONG;
    const int folder = *target == '/' ? 0 : (int)(p->base - d->path);
    const int len = snprintf(joined, sizeof joined, "%.*s%.*s", folder, d->path, (int)n, target);
    if ((size_t)len >= sizeof d->path)
        return ENAMETOOLONG;
    memcpy(d->path, joined, (size_t)len + 1);
    return 0;
}

/* Finds out what d->path is. *is_link: a symbolic link, which the caller follows. Returns 0 or an errno value. */
static int classify(struct destination *d, const struct destination_place *p, bool *is_link)
{
    struct stat st;
    if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    if (S_ISREG(st.st_mode))
        return 0;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (S_ISLNK(st.st_mode) && is_proc(p->dir) && strspn(p->base, "0123456789") == strlen(p->base)) {
        d->kind = is_own_descriptors(p->dir) ? DESTINATION_DESCRIPTOR : DESTINATION_OTHER_FD;
        d->descriptor = atoi(p->base);
        return 0;
    }
    if ((S_ISLNK(st.st_mode) || S_ISFIFO(st.st_mode)) && is_trap(p->dir, &st))
        return EACCES;
    *is_link = S_ISLNK(st.st_mode);
    if (!*is_link)
        d->kind = DESTINATION_THROUGH;
    return 0;
}

bool destination_look(struct destination *d, const char *name, struct error *e)
{
    *d = (struct destination){ .descriptor = -1 };
    if (strcmp(name, "-") == 0) {
        d->kind = DESTINATION_DESCRIPTOR;
        d->descriptor = STDOUT_FILENO;
        return true;
    }
    if (strlen(name) >= sizeof d->path)
        return destination_fail(e, name, ENAMETOOLONG);
    memcpy(d->path, name, strlen(name) + 1);
    for (int n = 0; n < LINKS_MOST; n++) {
        struct destination_place p = { .dir = -1 };
        bool is_link = false;
        int why = place_open(&p, d->path);
        why = why ? why : classify(d, &p, &is_link);
        why = !why && is_link ? follow(d, &p) : why;
        if (p.dir >= 0)
            close(p.dir);
        if (why)
            return destination_fail(e, name, why);
        if (!is_link)
            return true;
    }
    return destination_fail(e, name, ELOOP);
}

bool destination_is_stdout(const char *name)
{
    struct destination d;
    struct error unused = { 0 };
    return destination_look(&d, name, &unused) && d.kind == DESTINATION_DESCRIPTOR && d.descriptor == STDOUT_FILENO;
}

int destination_dir(const struct destination *d)
{
    char path[PATH_MAX];
    struct destination_place p = { .dir = -1 };
    memcpy(path, d->path, sizeof path);
    errno = place_open(&p, path);
    return p.dir;
}

int destination_open(const struct destination *d)
{
    struct stat st;
    if (d->kind == DESTINATION_DESCRIPTOR)
        return fcntl(d->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    if (d->kind == DESTINATION_OTHER_FD) /* a file is appended to: that process writes to it as well */
        return (int)TEMP_FAILURE_RETRY(open(d->path, flags | O_APPEND));
    const int fd = (int)TEMP_FAILURE_RETRY(open(d->path, flags | O_NOFOLLOW));
    if (fd < 0 || (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    errno = EEXIST; /* another process has replaced it by a regular file in the meantime */
    return -1;
}
