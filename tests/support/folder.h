/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - an empty folder for one test, and looking into it. */
#ifndef ASCOPE_TESTS_FOLDER_H
#define ASCOPE_TESTS_FOLDER_H

#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static inline int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/ascope-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline int folder_remove(void **state)
{
    (void)state;
    return nftw(folder, folder_forget, 16, FTW_DEPTH | FTW_PHYS);
}

static inline unsigned folder_count(void)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        n += d->d_name[0] != '.';
    closedir(dir);
    return n;
}

static inline const char *folder_path(const char *file)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

/* A disk that is full after so many bytes: no file may grow beyond. 0 takes the limit away. */
static inline void folder_limit(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

#endif
