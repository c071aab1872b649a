/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/host_sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "collect/host_clock.h"
#include "collect/ring.h"

enum { SAMPLE_NS = 20000000, SHARE_OF_CPU = 5, TEXT_MOST = 16 << 10 };

struct host_sampler {
    uint32_t what;
    pid_t pid;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, begun;
    bool has_begun; /* the first samples are taken */
    bool ends;
    uint64_t disk_from_ns, disk_lines, disk_read, disk_written; /* bytes that lines were written for */
    char text[TEXT_MOST];
};

static void put(enum stream_id stream, const char *text, size_t n)
{
    const struct ring_slot slot = ring_put(stream, 0, n);
    if (!slot.at)
        return;
    memcpy(slot.at, text, n);
    ring_done(slot);
}

/* What a file of /proc says, behind what is in the text already; it ends with a line feed. 0: it says nothing. */
static size_t proc_read(struct host_sampler *h, size_t n, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t got = read(fd, h->text + n, sizeof h->text - n - 1);
    close(fd);
    if (got <= 0)
        return 0;
    n += (size_t)got;
    if (h->text[n - 1] != '\n')
        h->text[n++] = '\n';
    return n;
}

static size_t time_line(struct host_sampler *h, const char *format)
{
    return (size_t)snprintf(h->text, sizeof h->text, format, (unsigned long long)host_clock_raw_ns());
}

static void sample_cpu(struct host_sampler *h)
{
    size_t n = proc_read(h, time_line(h, "time %llu\n"), "/proc/uptime");
    char tasks[64];
    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)h->pid);
    DIR *const dir = opendir(tasks);
    int why = 0;
    if (n > 0 && dir)
        put(STREAM_HOST_CPU, h->text, n);
    for (const char *name; n > 0 && dir && (name = dir_next(dir, &why));) {
        char path[300];
        snprintf(path, sizeof path, "%s/%.200s/stat", tasks, name);
        const size_t bytes = proc_read(h, 0, path);
        if (bytes > 0) /* a thread may be gone */
            put(STREAM_HOST_CPU, h->text, bytes);
    }
    if (dir)
        closedir(dir);
}

static void sample_memory(struct host_sampler *h)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)h->pid);
    const size_t n = proc_read(h, time_line(h, "%llu "), path);
    if (n > 0)
        put(STREAM_HOST_MEMORY, h->text, n);
}

/* Without the two lines that say what the columns are. */
static void sample_network(struct host_sampler *h)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/net/dev", (int)h->pid);
    const size_t head = time_line(h, "time %llu\n"), n = proc_read(h, head, path);
    const char *at = h->text + head, *const end = h->text + n;
    for (int line = 0; n > 0 && line < 2 && at; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (n == 0 || !at)
        return;
    memmove(h->text + head, at, (size_t)(end - at));
    put(STREAM_HOST_NETWORK, h->text, head + (size_t)(end - at));
}

static bool number_after(const char *text, const char *key, uint64_t *out)
{
    const char *const at = strstr(text, key);
    if (at)
        *out = strtoull(at + strlen(key), NULL, 10);
    return at;
}

/* What iotop would print of this process. Whether it waits for the disk (two percentages) few kernels know. */
static int disk_line(const struct host_sampler *h, char *line, size_t room, uint64_t bytes_read, uint64_t bytes_written,
                     uint64_t periods)
{
    enum { PER_S = 1000000000 / SAMPLE_NS };
    const uint64_t hundredths_of_kb = 100 * PER_S; /* whole numbers: no locale has a say in them */
    const unsigned long long in = bytes_read * hundredths_of_kb / 1024 / periods,
                             out = bytes_written * hundredths_of_kb / 1024 / periods;
    const time_t now = time(NULL);
    struct tm day = { 0 };
    localtime_r(&now, &day);
    return snprintf(line, room, "%02d:%02d:%02d %d be/4 %u %llu.%02llu K/s %llu.%02llu K/s ?unavailable? %.60s\n",
                    day.tm_hour, day.tm_min, day.tm_sec, (int)h->pid, (unsigned)getuid(), in / 100, in % 100, out / 100,
                    out % 100, program_invocation_short_name);
}

/* Lines have no time of their own: there is one for each period since the start, however seldom it is looked. */
static void sample_disk(struct host_sampler *h)
{
    uint64_t bytes_read, bytes_written;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/io", (int)h->pid);
    const size_t n = proc_read(h, 0, path);
    h->text[n] = '\0';
    if (!number_after(h->text, "\nread_bytes:", &bytes_read) ||
        !number_after(h->text, "\nwrite_bytes:", &bytes_written))
        return;
    const uint64_t now = host_clock_raw_ns();
    if (h->disk_from_ns == 0) {
        h->disk_from_ns = now;
        put(STREAM_HOST_DISK, h->text, time_line(h, "start_time %llu\n"));
    } else {
        const uint64_t periods = (now - h->disk_from_ns) / SAMPLE_NS - h->disk_lines;
        if (periods == 0)
            return;
        const int used =
            disk_line(h, h->text, sizeof h->text, bytes_read - h->disk_read, bytes_written - h->disk_written, periods);
        for (uint64_t i = 0; i < periods; i++)
            put(STREAM_HOST_DISK, h->text, (size_t)used);
        h->disk_lines += periods;
    }
    h->disk_read = bytes_read;
    h->disk_written = bytes_written;
}

static const struct {
    uint32_t what;
    void (*sample)(struct host_sampler *);
} samplers[] = {
    { ASCOPE_HOST_CPU, sample_cpu },
    { ASCOPE_HOST_MEM, sample_memory },
    { ASCOPE_HOST_NETWORK, sample_network },
    { ASCOPE_HOST_DISK, sample_disk },
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void look(struct host_sampler *h)
{
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
        if (h->what & samplers[i].what)
            samplers[i].sample(h);
}

static void *sampler_main(void *of)
{
    struct host_sampler *const h = of;
    pthread_setname_np(pthread_self(), "ascope-host");
    pthread_mutex_lock(&h->lock);
    do {
        pthread_mutex_unlock(&h->lock);
        const uint64_t before = now_ns();
        look(h);
        const uint64_t took = now_ns() - before,
                       pause = took * SHARE_OF_CPU > SAMPLE_NS ? took * SHARE_OF_CPU : SAMPLE_NS;
        const uint64_t next = before + pause;
        const struct timespec until = { .tv_sec = (time_t)(next / 1000000000), .tv_nsec = (long)(next % 1000000000) };
        pthread_mutex_lock(&h->lock);
        h->has_begun = true;
        pthread_cond_broadcast(&h->begun);
        if (!h->ends)
            pthread_cond_timedwait(&h->wake, &h->lock, &until);
    } while (!h->ends);
    pthread_mutex_unlock(&h->lock);
    look(h); /* how it was at the stop: short recordings have two samples, too */
    return NULL;
}

struct host_sampler *host_sampler_start(uint32_t what, pid_t pid, struct error *e)
{
    struct host_sampler *h = calloc(1, sizeof *h);
    if (!h) {
        error_no_memory(e, "the host sampler");
        return NULL;
    }
    pthread_condattr_t monotonic; /* the wall clock may jump */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&h->begun, NULL);
    h->what = what;
    h->pid = pid;
    sigset_t all, was; /* the program's signals are for its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    const int why = pthread_create(&h->thread, NULL, sampler_main, h);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (why == 0) { /* how it was at the start, also where the thread has to wait for a processor */
        pthread_mutex_lock(&h->lock);
        while (!h->has_begun)
            pthread_cond_wait(&h->begun, &h->lock);
        pthread_mutex_unlock(&h->lock);
        return h;
    }
    error_set(e, FAULT_LIMIT, "cannot create the host sampler thread: %s", strerror(why));
    free(h);
    return NULL;
}

void host_sampler_stop(struct host_sampler *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->ends = true;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->wake);
    pthread_cond_destroy(&h->begun);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
