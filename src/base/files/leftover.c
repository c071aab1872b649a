/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/file_tree.h"
#include "base/text/framework_names.h"
#include "base/files/inside.h"
#include "base/text/path_name.h"

static const char MARK[] = ".part-";
static const char ASIDE = '-'; /* ends the name of a directory while it is removed */
enum {
    MARK_BYTES = sizeof MARK - 1,
    RANDOM_DIGITS = 16,
    STEM_MOST = 100, /* bytes of the final name in a temporary one, which must fit into a directory entry (NAME_MAX) */
};

static struct {
    pthread_mutex_t lock;
    struct leftover *first;
} list = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The part of a final name that its temporary name begins with: all of it, or its end, by which is_result() knows
 * it. */
static const char *stem_of(const char *base)
{
    const size_t len = strlen(base);
    const char *stem = len > STEM_MOST ? base + len - STEM_MOST : base;
    while (stem > base && ((unsigned char)*stem & 0xC0) == 0x80) /* some file systems refuse half of a character */
        stem++;
    return stem;
}

/* "NAME.part-0123456789abcdef". False: the system has no random numbers to give, or no memory. */
static bool name_make(struct leftover *l, const char *final)
{
    uint64_t random;
    const char *base = path_name(final), *stem = stem_of(base);
    const size_t size = (size_t)(base - final) + strlen(stem) + MARK_BYTES + RANDOM_DIGITS + 1;
    free(l->path);
    l->path = getrandom(&random, sizeof random, 0) == sizeof random ? malloc(size) : NULL;
    if (l->path)
        snprintf(l->path, size, "%.*s%s%s%016" PRIx64, (int)(base - final), final, stem, MARK, random);
    return l->path != NULL;
}

static int file_make(int dir, const char *name)
{
    return (int)TEMP_FAILURE_RETRY(openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
}

static int dir_make(int dir, const char *name)
{
    if (mkdirat(dir, name, 0750) != 0)
        return -1;
    const int fd = (int)TEMP_FAILURE_RETRY(openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (fd >= 0 && fchmod(fd, 0750) == 0)
        return fd;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    unlinkat(dir, name, AT_REMOVEDIR);
    errno = why;
    return -1;
}

/* Another process may remove it between creation and locking. On file systems without locks nothing is removed. */
static bool is_held(int fd)
{
    struct stat st;
    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && (fstat(fd, &st) != 0 || st.st_nlink > 0);
}

static int make_held(struct leftover *l, const char *final, int (*make)(int dir, const char *name))
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        if (!name_make(l, final)) {
            errno = ENOMEM;
            return -1;
        }
        const int fd = make(l->dir, path_name(l->path));
        if (fd >= 0 && is_held(fd))
            return fd;
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0)
            close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* Takes dir. */
static int leftover_make(int dir, struct leftover *l, const char *final, int (*make)(int dir, const char *name))
{
    *l = (struct leftover){ .dir = dir, .lock = -1 };
    if (dir < 0)
        return -1;
    pthread_mutex_lock(&list.lock);
    l->lock = make_held(l, final, make);
    const int why = errno;
    if (l->lock >= 0) {
        l->next = list.first;
        list.first = l;
    } else {
        close(dir);
        free(l->path);
        l->path = NULL;
    }
    pthread_mutex_unlock(&list.lock);
    errno = why;
    return l->lock;
}

int leftover_file_in(int dir, struct leftover *l, const char *final)
{
    if (leftover_make(dir, l, final, file_make) < 0)
        return -1;
    const int fd = fcntl(l->lock, F_DUPFD_CLOEXEC, 0); /* the lock outlives its close, which reports errors */
    if (fd >= 0)
        return fd;
    const int why = errno;
    leftover_settle(l, NULL);
    errno = why;
    return -1;
}

int leftover_file(struct leftover *l, const char *final)
{
    const char *unused;
    return leftover_file_in(inside_parent(final, &unused), l, final);
}

int leftover_dir(struct leftover *l, const char *final)
{
    const char *unused;
    return leftover_make(inside_parent(final, &unused), l, final, dir_make) < 0 ? -1 : 0;
}

/* Removes a file or a directory. */
static void remove_all(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno != EISDIR)
        return;
    /* Renames it first, so that a thread that still creates files in it by path fails. */
    char aside[NAME_MAX + 2];
    snprintf(aside, sizeof aside, "%s%c", name, ASIDE);
    if (renameat(parent, name, parent, aside) == 0)
        name = aside;
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        if (tree_remove(parent, name) != ENOTEMPTY)
            return;
        /* A thread with a descriptor of the directory has created another file in it. */
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

int leftover_settle(struct leftover *l, const char *final)
{
    if (!l->path)
        return 0;
    int why = final ? durable_file(l->lock) : 0; /* syncs the file, whichever descriptor was used to write it */
    pthread_mutex_lock(&list.lock);
    struct leftover **at = &list.first;
    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
    const char *name = path_name(l->path);
    if (!why && final && renameat(l->dir, name, l->dir, path_name(final)) != 0)
        why = errno;
    if (!final || why)
        remove_all(l->dir, name);
    pthread_mutex_unlock(&list.lock);
    close(l->dir);
    close(l->lock);
    free(l->path);
    *l = (struct leftover){ .lock = -1 };
    return why;
}

void leftovers_abandon(void)
{
    pthread_mutex_lock(&list.lock);
    for (const struct leftover *l = list.first; l; l = l->next)
        remove_all(l->dir, path_name(l->path));
}

/* Where the temporary part of a name begins; NULL: this program makes no such name. */
static const char *mark_of(const char *name)
{
    size_t len = strlen(name);
    if (len > 0 && name[len - 1] == ASIDE)
        len--;
    const size_t end = MARK_BYTES + RANDOM_DIGITS;
    const char *mark = len > end ? name + len - end : "";
    const bool is_one =
        strncmp(mark, MARK, MARK_BYTES) == 0 && strspn(mark + MARK_BYTES, "0123456789abcdef") == RANDOM_DIGITS;
    return is_one ? mark : NULL;
}

/* Other programs may use such names, too: only those of our results are removed. */
static bool is_result(const char *name, const char *mark)
{
    static const char *const ending[] = { ".csv", ".json", ".gz", ".db", ".txt", ".log", ".done", ".html" };
    bool is_ours = strncmp(name, "PROF_", 5) == 0 || framework_ends_name(name, (size_t)(mark - name));
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        const size_t len = strlen(ending[i]);
        is_ours = is_ours || ((size_t)(mark - name) > len && strncmp(mark - len, ending[i], len) == 0);
    }
    return is_ours;
}

/* Its writer holds the lock until the final rename. Another user may give such a name to anything. */
static void sweep_one(int dir, const char *name)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    struct stat st;
    int fd = openat(dir, name, O_RDWR | flags);
    if (fd < 0 && errno == EISDIR)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | flags);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (S_ISDIR(st.st_mode))
            tree_empty(fd);
        unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
    }
    close(fd);
}

/* Those of one stem, or (NULL) of all results. */
static void sweep(const char *dir, const char *stem)
{
    DIR *d = inside_list(dir);
    int why = 0;
    for (const char *name; d && (name = dir_next(d, &why));) {
        const char *mark = mark_of(name);
        const size_t len = mark ? (size_t)(mark - name) : 0;
        if (mark && (stem ? strlen(stem) == len && strncmp(name, stem, len) == 0 : is_result(name, mark)))
            sweep_one(dirfd(d), name);
    }
    if (d)
        closedir(d);
}

void leftovers_sweep(const char *dir)
{
    sweep(dir, NULL);
}

void leftovers_sweep_of(const char *final)
{
    const char *base = path_name(final);
    char *dir = base > final ? strndup(final, (size_t)(base - final)) : NULL;
    if (base == final || dir)
        sweep(dir ? dir : ".", stem_of(base));
    free(dir);
}
