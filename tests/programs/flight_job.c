/* SPDX-License-Identifier: Apache-2.0 */
/* A job with a flight recorder, for test_flight.py.
 *
 *     flight_job PARENT windows|slow|signal|kill|terminate|exit|wait|late [LISTEN_DIR]
 *     flight_job PARENT cut N
 *
 * Step N has the operators "op 10N" to "op 10N+9", with a kernel of the simulated NPU each. Prints the directory of the
 * recorder, then those of saves. wait: a step for each line of stdin, which it prints; until stdin ends. cut: killed
 * while it saves, when it opens the N-th file of the save; ends as others do if there are fewer. late: its signal
 * arrives while the recorder stops, before its handler is removed; the handler runs once more, as that of another
 * thread may, after the recorder's thread has ended. Then the next recorder starts. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ascope/ascope.h"
#include "ascope/sim.h"

enum { OF_STEP = 10, SLOW_AFTER = 40 };

static struct ascope_sim_stream *stream;
static long n_steps;
static long n_until_cut; /* 0: never */

/* In place of the C library's, for libascope, too. */
int openat(int dir, const char *path, int flags, ...)
{
    static int (*next)(int dir, const char *path, int flags, ...);
    va_list more;
    va_start(more, flags);
    const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if (n_until_cut > 0 && strstr(path, "/saving/") && --n_until_cut == 0)
        raise(SIGKILL);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "openat");
    return next(dir, path, flags, mode);
}

static bool is_late;
static pthread_t main_thread;
static void (*handler)(int number);

/* In place of the C library's. */
int sigaction(int number, const struct sigaction *to, struct sigaction *was)
{
    static int (*next)(int number, const struct sigaction *to, struct sigaction *was);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
    if (is_late && number == SIGUSR2 && to && to->sa_handler == SIG_DFL)
        raise(number);
    else if (number == SIGUSR2 && to)
        handler = to->sa_handler;
    return next(number, to, was);
}

/* In place of the C library's. */
int pthread_join(pthread_t thread, void **result)
{
    int (*next)(pthread_t thread, void **result);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_join");
    const int why = next(thread, result);
    if (is_late && pthread_equal(pthread_self(), main_thread))
        handler(SIGUSR2);
    return why;
}

static void step(void)
{
    const struct ascope_sim_tensor t = { ASCOPE_SIM_BF16, 2, { 16, 16 } }, in[] = { t, t };
    for (long i = 0; i < OF_STEP; i++) {
        struct ascope_op op;
        char name[40];
        snprintf(name, sizeof name, "op %ld", n_steps * OF_STEP + i);
        ascope_op_begin(&op, name);
        ascope_sim_launch(stream, &(struct ascope_sim_kernel){ "Add", NULL, in, &t, 2, 1 });
        ascope_op_end(&op);
    }
    ascope_sim_synchronize(stream);
    n_steps++;
    ascope_flight_step();
}

static void fail(const struct ascope_error *e)
{
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

static void save(uint64_t last_ns)
{
    struct ascope_error e;
    char path[4096];
    if (!ascope_flight_save(last_ns, "test", path, sizeof path, &e))
        fail(&e);
    puts(path);
}

/* Until the last save has this trigger. */
static void saved_wait(const char *trigger)
{
    char path[4096], facts[4200], text[4096] = "";
    while (!strstr(text, trigger)) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        if (ascope_flight_saves(path, sizeof path) == 0)
            continue;
        snprintf(facts, sizeof facts, "%s/ascope.json", path);
        FILE *const f = fopen(facts, "r");
        if (!f)
            exit(1);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
    }
    puts(path);
}

static void slow(void)
{
    while (n_steps < SLOW_AFTER)
        step();
    nanosleep(&(struct timespec){ .tv_nsec = 400000000 }, NULL); /* far longer than all others together */
    step();
    saved_wait("\"slow step 40: ");
}

int main(int argc, char **argv)
{
    struct ascope_error e;
    struct ascope_options o;
    if (argc < 3)
        return 2;
    const char *const how = argv[2];
    const bool is_cut = strcmp(how, "cut") == 0 && argc > 3;
    ascope_options_init(&o);
    o.parent_dir = argv[1];
    o.device = "sim";
    o.level = ASCOPE_LEVEL1;
    o.mstx = true;
    const struct ascope_flight flight = { .size = sizeof flight,
                                          .signal =
                                              strcmp(how, "signal") == 0 || strcmp(how, "late") == 0 ? SIGUSR2 : 0,
                                          .keep_ns = UINT64_C(3600) * 1000000000,
                                          .memory_bytes = UINT64_C(64) << 20,
                                          .slow_step = strcmp(how, "slow") == 0 ? 1.5 : 0,
                                          .between_ns = 1,
                                          .listen_dir = argc > 3 && !is_cut ? argv[3] : NULL };
    stream = ascope_sim_stream_new(0);
    if (!ascope_flight_start(&o, &flight, &e))
        fail(&e);
    if (!ascope_flight_metadata("job", "{\"a\": 1}", &e))
        fail(&e);
    puts(ascope_flight_path());
    fflush(stdout);
    if (strcmp(how, "slow") == 0)
        slow();
    else if (strcmp(how, "wait") == 0)
        for (char line[80]; fgets(line, sizeof line, stdin); fputs(line, stdout), fflush(stdout))
            step();
    else
        while (n_steps < 20)
            step();
    if (strcmp(how, "windows") == 0) {
        save(0);
        struct timespec from, now;
        clock_gettime(CLOCK_MONOTONIC, &from);
        while (n_steps < 30)
            step();
        clock_gettime(CLOCK_MONOTONIC, &now);
        save((uint64_t)(now.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)(now.tv_nsec - from.tv_nsec));
        save(0);
    }
    if (strcmp(how, "signal") == 0) {
        raise(SIGUSR2);
        saved_wait("\"signal ");
    }
    if (is_cut) {
        n_until_cut = strtol(argv[3], NULL, 10);
        save(0);
    }
    if (strcmp(how, "late") == 0) {
        main_thread = pthread_self();
        is_late = true;
        if (!ascope_flight_stop(&e))
            fail(&e);
        is_late = false;
        if (!ascope_flight_start(&o, &flight, &e))
            fail(&e);
    }
    fflush(stdout);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "terminate") == 0)
        raise(SIGTERM);
    if (strcmp(how, "exit") == 0)
        return 0;
    return ascope_flight_stop(&e) ? 0 : 1;
}
