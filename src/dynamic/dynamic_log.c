/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* As documented: scripts that look for lines find them. */
#define LOG_SOURCE "_dynamic_profiler_monitor.py"

static void file_open(struct dynamic_log *l)
{
    struct stat st;
    l->file = (struct kept)KEPT_NONE;
    l->is_open = kept_open(&l->file, AT_FDCWD, l->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0640);
    if (l->is_open && (fstat(l->file.fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        kept_close(&l->file);
        l->is_open = false;
    }
    l->size = l->is_open ? (uint64_t)st.st_size : 0;
}

void dynamic_log_open(struct dynamic_log *l, const char *config_dir, const char *prefix, int32_t rank)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++)
        if (*p == '/')
            *p = '_';
    pthread_mutex_lock(&l->lock);
    const int n = snprintf(l->path, sizeof l->path, "%s/log/%s_%s_%ld_rank_%d.log", config_dir, prefix, host,
                           (long)getpid(), (int)rank);
    if (!l->is_open && n + 2 < (int)sizeof l->path)
        file_open(l);
    pthread_mutex_unlock(&l->lock);
}

static void rotate(struct dynamic_log *l)
{
    char before[PATH_MAX + 2];
    snprintf(before, sizeof before, "%s.1", l->path);
    if (rename(l->path, before) != 0)
        return;
    kept_close(&l->file);
    file_open(l);
}

void dynamic_log_add(struct dynamic_log *l, enum ascope_severity severity, const char *text)
{
    static const char *const word[] = { "INFO", "WARNING", "ERROR" };
    char line[2048], when[40];
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    const int n = snprintf(line, sizeof line - 1, "%s,%03ld [%s] [%ld] " LOG_SOURCE ": %s", when, now.tv_nsec / 1000000,
                           word[severity], (long)getpid(), text);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 0; i < size; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[size++] = '\n';
    pthread_mutex_lock(&l->lock);
    if (l->is_open && l->size + size > LOG_BYTES_MOST)
        rotate(l);
    if (l->is_open && kept_fd(&l->file) < 0) /* the program has closed it */
        file_open(l);
    if (l->is_open && write(kept_fd(&l->file), line, size) == (ssize_t)size)
        l->size += size;
    pthread_mutex_unlock(&l->lock);
}

void dynamic_log_close(struct dynamic_log *l)
{
    pthread_mutex_lock(&l->lock);
    kept_close(&l->file);
    l->is_open = false;
    pthread_mutex_unlock(&l->lock);
}
