/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of the operating system costs when it is recorded: `bench_os_calls LIBASCOPE-RUN.SO [N]`. The program is
 * this one again, which writes one byte N times to the null device, then takes a free lock N times. It is run plain,
 * with the library in front of its libc, in a session, traced by the kernel for a session, and with the tools that are
 * installed: medians of several turns, as ratios in one run. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/os_calls/os_trace.h"
#include "collect/session/handover.h"
#include "collect/session/recorder_session.h"

enum { TURNS = 5, N_DEFAULT = 1000000 };

enum { RESULT_FD = 3 };

static double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of one call: how long it took, and how long of that the program had a processor. */
enum { WRITE, WRITE_CPU, LOCK_CPU, FIGURES };
struct result {
    double ns[FIGURES];
};

/* ---- the program that is measured ---- */

static int program(int n)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const int null_fd = open("/dev/null", O_WRONLY);
    const double began = clock_ns(CLOCK_MONOTONIC_RAW), began_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < n; i++)
        if (write(null_fd, "x", 1) != 1)
            return 1;
    const double ended = clock_ns(CLOCK_MONOTONIC_RAW), ended_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    const double locked_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct result r = { .ns = { [WRITE] = (ended - began) / n,
                                      [WRITE_CPU] = (ended_cpu - began_cpu) / n,
                                      [LOCK_CPU] = (locked_cpu - ended_cpu) / n } };
    return write(RESULT_FD, &r, sizeof r) != sizeof r;
}

/* ---- how it is run ---- */

struct way {
    const char *name, *tool[6]; /* the command that comes before the program */
    bool is_preloaded, is_recorded, by_kernel;
    int share; /* of N: with tools that take long the program makes fewer calls */
};

static const struct way ways[] = {
    { .name = "plain", .share = 1 },
    { .name = "libascope-run.so, no session", .is_preloaded = true, .share = 1 },
    { .name = "libascope-run.so, in a session", .is_preloaded = true, .is_recorded = true, .share = 1 },
    { .name = "kernel's trace, in a session", .is_recorded = true, .by_kernel = true, .share = 1 },
    { .name = "strace -c", .tool = { "strace", "-f", "-c", "-o", "/dev/null" }, .share = 50 },
    { .name = "ltrace -c", .tool = { "ltrace", "-f", "-c", "-o", "/dev/null" }, .share = 500 },
    { .name = "perf trace", .tool = { "perf", "trace", "-o", "/dev/null" }, .share = 20 },
};
enum { WAYS = sizeof ways / sizeof *ways };

static bool way_is_there(const struct way *w)
{
    char command[64];
    if (!w->tool[0])
        return true;
    snprintf(command, sizeof command, "command -v %s >/dev/null", w->tool[0]);
    return system(command) == 0;
}

static void way_exec(const struct way *w, const char *own, const char *library, const char *page, int n)
{
    const char *arguments[10];
    char count[16];
    size_t k = 0;
    for (; w->tool[k] && k < 6; k++)
        arguments[k] = w->tool[k];
    snprintf(count, sizeof count, "%d", n);
    arguments[k++] = own;
    arguments[k++] = "calls";
    arguments[k++] = count;
    arguments[k] = NULL;
    if (w->is_preloaded)
        setenv("LD_PRELOAD", library, 1);
    if (page)
        setenv(HANDOVER_VARIABLE, page, 1);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* It waits for a byte before it becomes the program. */
static pid_t way_hold(const struct way *w, const char *own, const char *library, const char *page, int n, int *go,
                      int *result)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        const int null_fd = open("/dev/null", O_WRONLY);
        close(to[1]);
        if (read(to[0], &byte, 1) != 1)
            _exit(126);
        dup2(null_fd, 2);
        dup2(from[1], RESULT_FD);
        way_exec(w, own, library, page, n);
    }
    close(to[0]);
    close(from[1]);
    *go = to[1];
    *result = from[0];
    return child;
}

static bool way_end(pid_t child, int go, int result, struct result *out)
{
    int status = -1;
    const bool is_let = write(go, "g", 1) == 1;
    close(go);
    const bool is_read = is_let && read(result, out, sizeof *out) == sizeof *out;
    close(result);
    waitpid(child, &status, 0);
    return is_read && status == 0;
}

static bool turn_recorded(const struct way *w, const char *own, const char *library, int n, struct result *out,
                          uint64_t *dropped)
{
    char parent[] = "/tmp/ascope-bench-XXXXXX", page[HANDOVER_PATH_BYTES];
    int go = -1, result = -1;
    struct error e = { 0 };
    struct ascope_error why = { "" };
    struct ascope_options o;
    ascope_options_init(&o);
    o.layout = ASCOPE_LAYOUT_PROF;
    o.parent_dir = mkdtemp(parent);
    o.device = "none";
    o.host_sys = w->by_kernel ? ASCOPE_HOST_OSRT : 0;
    struct handover *const h = handover_make(page, &e);
    const pid_t child = way_hold(w, own, library, page, n, &go, &result);
    const struct session_target of = { .pid = child, .has_preloaded = w->is_preloaded };
    struct ascope_session *const s = session_new_for(&of, &o, false, &why);
    const struct handover_wish wish = { .calls = OS_CALLS_OF_SYSTEM | OS_CALLS_OF_THREADS };
    const bool is_open = h && s && handover_wish(h, &wish, &e) && ascope_session_start(s, &why);
    if (is_open)
        handover_open(h);
    bool is_well = way_end(child, go, result, out) && is_open;
    if (is_open) {
        handover_close(h);
        is_well = ascope_session_stop(s, &why) && is_well;
        *dropped += s->tally.dropped[STREAM_SYSTEM_CALL];
    }
    ascope_session_discard(s);
    handover_free(h);
    rmdir(parent);
    return is_well;
}

static bool turn(const struct way *w, const char *own, const char *library, int n, struct result *out,
                 uint64_t *dropped)
{
    const char *why;
    if (w->by_kernel && !kernel_calls_permitted(&why))
        return false;
    if (w->is_recorded)
        return turn_recorded(w, own, library, n, out, dropped);
    int go = -1, result = -1;
    const pid_t child = way_hold(w, own, library, NULL, n, &go, &result);
    return way_end(child, go, result, out);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "calls") == 0)
        return program(atoi(argv[2]));
    const int n = argc > 2 ? atoi(argv[2]) : N_DEFAULT;
    uint64_t dropped = 0;
    if (argc < 2 || n <= 0) {
        fprintf(stderr, "usage: bench_os_calls LIBASCOPE-RUN.SO [N]\n");
        return 2;
    }
    static double ns[WAYS][FIGURES][TURNS];
    unsigned n_turns[WAYS] = { 0 };
    for (int t = 0; t < TURNS; t++) /* by turns, so that all meet the same machine */
        for (size_t i = 0; i < WAYS; i++) {
            struct result got;
            const int calls = n / ways[i].share > 0 ? n / ways[i].share : 1;
            if (!way_is_there(&ways[i]) || !turn(&ways[i], argv[0], argv[1], calls, &got, &dropped))
                continue;
            for (int f = 0; f < FIGURES; f++)
                ns[i][f][n_turns[i]] = got.ns[f];
            n_turns[i]++;
        }
    printf(
        "| one call | takes, ns | ratio | of it on a CPU, ns | ratio | lock and unlock, ns | ratio |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < WAYS; i++) {
        printf("| %s |", ways[i].name);
        for (int f = 0; f < FIGURES && n_turns[i] > 0; f++) {
            qsort(ns[i][f], n_turns[i], sizeof ns[i][f][0], by_size);
            printf(" %.1f | %.2f |", ns[i][f][n_turns[i] / 2], ns[i][f][n_turns[i] / 2] / ns[0][f][n_turns[0] / 2]);
        }
        printf("%s\n", n_turns[i] == 0 ? " not installed, or not permitted | | | | | |" : "");
    }
    printf("\nrecords dropped: %llu\n", (unsigned long long)dropped);
    return 0;
}
