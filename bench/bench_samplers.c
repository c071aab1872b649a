/* SPDX-License-Identifier: Apache-2.0 */
/* bench_samplers - what the samplers of the host cost the process that records: CPU time of its threads, the writer
 * among them, as a share of one CPU, beside programs of different sizes.
 *
 *     bench_samplers [SECONDS] [DIR]
 *
 * One JSON object: a row for each program. Shares of CPU time hardly depend on what else the machine does.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/session/recorder_session.h"

static void *busy(void *unused)
{
    for (volatile unsigned long i = 0;; i++)
        continue;
    return unused;
}

static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* The program: so many threads, and it says when they are there. */
static pid_t program_start(unsigned n_busy, unsigned n_idle)
{
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0)
        exit(1);
    const pid_t child = fork();
    if (child != 0) {
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1)
            exit(1);
        close(ready[0]);
        return child;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    setpriority(PRIO_PROCESS, 0, 19);
    for (unsigned i = 0; i < n_busy + n_idle; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, i < n_busy ? busy : idle, NULL) != 0)
            _exit(1);
    }
    if (write(ready[1], &byte, 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU seconds of the thread with this name. */
static double thread_seconds(const char *wanted)
{
    double used = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (const struct dirent *d; tasks && (d = readdir(tasks));) {
        char path[300], name[64] = "";
        unsigned long long ns = 0;
        snprintf(path, sizeof path, "/proc/self/task/%.200s/comm", d->d_name);
        FILE *f = fopen(path, "r");
        const bool is_it = f && fscanf(f, "%63s", name) == 1 && strcmp(name, wanted) == 0;
        if (f)
            fclose(f);
        snprintf(path, sizeof path, "/proc/self/task/%.200s/schedstat", d->d_name);
        f = is_it ? fopen(path, "r") : NULL;
        if (f && fscanf(f, "%llu", &ns) == 1)
            used = (double)ns / 1e9;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return used;
}

/* The shares of a CPU that the sampler's thread and all of this process used while the session ran. False: no session. */
struct shares {
    double sampler, all;
    unsigned long long bytes;
};
static bool measure(const char *host_sys, pid_t program, double length, const char *dir, struct shares *out)
{
    struct ascope_options o;
    struct ascope_error e;
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.device = "none";
    o.layout = ASCOPE_LAYOUT_PROF;
    if (*host_sys)
        ascope_options_set(&o, "host_sys", host_sys);
    struct ascope_session *const s = session_new_for(&(struct session_target){ .pid = program }, &o, false, &e);
    if (!s || !ascope_session_start(s, &e)) {
        fprintf(stderr, "bench_samplers: %s\n", e.text);
        return false;
    }
    const double cpu = cpu_seconds(), thread = thread_seconds("ascope-host"), begin = now();
    while (now() - begin < length)
        usleep(50000);
    const double wall = now() - begin;
    out->all = (cpu_seconds() - cpu) / wall;
    out->sampler = (thread_seconds("ascope-host") - thread) / wall;
    ascope_session_stop(s, &e);
    out->bytes = s->tally.n_bytes;
    ascope_session_discard(s);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        unsigned n_busy, n_idle;
        const char *host_sys;
        double budget; /* 0: none */
    } row[] = {
        { "the session alone", 0, 0, "", 0 },
        { "8 threads, 2 of them busy", 2, 5, "cpu,mem,disk,network", 0.01 },
        { "8 busy threads", 8, 0, "cpu,mem,disk,network", 0.01 },
        { "64 threads, 8 of them busy", 8, 55, "cpu,mem,disk,network", 0 },
        { "1,000 threads, 2 of them busy", 2, 997, "cpu,mem,disk,network", 0.2 },
    };
    const double length = argc > 1 ? atof(argv[1]) : 3;
    const char *const dir = argc > 2 ? argv[2] : "/tmp";
    printf("{\"seconds\": %.1f, \"rows\": [", length);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const pid_t program = program_start(row[i].n_busy, row[i].n_idle);
        struct shares part = { 0 };
        const bool is_done = measure(row[i].host_sys, program, length, dir, &part);
        kill(program, SIGKILL);
        waitpid(program, NULL, 0);
        if (!is_done)
            return 1;
        printf("%s\n{\"what\": \"%s\", \"sampler\": %.5f, \"process\": %.5f, \"budget\": %g, \"mb_per_s\": %.2f}",
               i > 0 ? "," : "", row[i].what, part.sampler, part.all, row[i].budget, (double)part.bytes / 1e6 / length);
        fflush(stdout);
    }
    printf("]}\n");
    return 0;
}
