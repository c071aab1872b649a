#include "base/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static const char MARK[] = ".part-";

static struct {
    pthread_mutex_t lock;
    struct leftover *first;
} list = { .lock = PTHREAD_MUTEX_INITIALIZER };

char *leftover_name(const char *path)
{
    const size_t size = strlen(path) + sizeof MARK + 24;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s%s%ld", path, MARK, (long)getpid());
    return name;
}

int leftover_make(struct leftover *l, int (*make)(const char *path))
{
    pthread_mutex_lock(&list.lock);
    const int made = make(l->path);
    if (made >= 0) {
        l->next = list.first;
        list.first = l;
    }
    const int why = errno;
    pthread_mutex_unlock(&list.lock);
    errno = why;
    return made;
}

/* Without memory, which may be the reason why something is left over: opendir() and nftw() need some. */
static void remove_inside(int dir)
{
    _Alignas(struct dirent64) char names[2048];
    for (ssize_t n; (n = getdents64(dir, names, sizeof names)) > 0;) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *d = (const struct dirent64 *)(const void *)(names + at);
            at += d->d_reclen;
            if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || unlinkat(dir, d->d_name, 0) == 0)
                continue;
            const int below = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            if (below >= 0) {
                remove_inside(below);
                close(below);
            }
            unlinkat(dir, d->d_name, AT_REMOVEDIR);
        }
    }
}

/* Most are files. */
static void remove_all(const char *path)
{
    if (unlink(path) == 0 || errno != EISDIR)
        return;
    /* Whoever still fills it finds it no longer. */
    char aside[5000];
    snprintf(aside, sizeof aside, "%s-", path);
    if (rename(path, aside) == 0)
        path = aside;
    const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0)
        return;
    remove_inside(dir);
    close(dir);
    rmdir(path);
}

int leftover_settle(struct leftover *l, const char *final)
{
    pthread_mutex_lock(&list.lock);
    struct leftover **at = &list.first;
    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
    const int why = final && rename(l->path, final) != 0 ? errno : 0;
    if (!final || why)
        remove_all(l->path);
    pthread_mutex_unlock(&list.lock);
    return why;
}

void leftovers_abandon(void)
{
    pthread_mutex_lock(&list.lock);
    for (const struct leftover *l = list.first; l; l = l->next)
        remove_all(l->path);
}

/* Whose it is, or 0 when it is no name that this program makes: others may have parts of something, too. */
static pid_t owner_of(const char *name)
{
    static const char *const ending[] = { ".csv", ".json", ".db", ".txt" };
    const char *part = strstr(name, MARK);
    char *end = NULL;
    const long pid = part ? strtol(part + strlen(MARK), &end, 10) : 0;
    bool is_ours = part && strncmp(name, "PROF_", 5) == 0;
    for (size_t i = 0; i < sizeof ending / sizeof *ending && part; i++) {
        const size_t len = strlen(ending[i]);
        is_ours = is_ours || ((size_t)(part - name) > len && strncmp(part - len, ending[i], len) == 0);
    }
    return is_ours && *end == 0 && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

void leftovers_sweep(const char *dir)
{
    DIR *d = opendir(dir);
    int why = 0;
    for (const char *name; d && (name = dir_next(d, &why));) {
        const pid_t pid = owner_of(name);
        char path[5000];
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH &&
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path)
            remove_all(path);
    }
    if (d)
        closedir(d);
}
