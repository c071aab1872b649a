/* SPDX-License-Identifier: Apache-2.0 */
/* bench_record - what recording costs the threads of a program, as ratios to what a look at the clock costs here.
 *
 *     bench_record [--json] [--threads 1,2,8] [--ring-kb KB] [--ring-dir DIR] [--dir DIR]
 *     bench_record --rate 1000000 --seconds 60 [--threads N] and the same
 *
 * Times are CPU times of the threads that record, so that other programs on the machine hardly matter; a burst is as
 * long as fits into a ring, and the writer has time to take it before the next. Of many bursts the median counts.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ascope/ascope.h"
#include "ascope/mstx.h"
#include "record.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define BARRIER() __asm__ volatile("" ::: "memory")

static const char message[] = "forward of layer 17";
static struct ascope_domain *domain;

/* ---- what is measured: n times the same thing ---- */

static void clock_raw(unsigned long n)
{
    struct timespec t;
    while (n-- > 0) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &t);
        BARRIER();
    }
}

static void counter(unsigned long n)
{
#if defined(__x86_64__)
    while (n-- > 0) {
        (void)__rdtsc();
        BARRIER();
    }
#else
    while (n-- > 0) {
        (void)ascope_now();
        BARRIER();
    }
#endif
}

static void range(unsigned long n)
{
    while (n-- > 0) {
        const uint64_t id = ascope_range_begin(domain, message, NULL);
        BARRIER();
        ascope_range_end(domain, id);
    }
}

static void range_of_mstx(unsigned long n)
{
    while (n-- > 0) {
        const mstxRangeId id = mstxRangeStartA(message, NULL);
        BARRIER();
        mstxRangeEnd(id);
    }
}

static void point(unsigned long n)
{
    while (n-- > 0) {
        ascope_mark(domain, message, NULL);
        BARRIER();
    }
}

static void operator_bare(unsigned long n)
{
    while (n-- > 0) {
        struct ascope_op op;
        ascope_op_begin(&op, "aten::convolution");
        BARRIER();
        ascope_op_end(&op);
    }
}

static void operator_with_shapes(unsigned long n)
{
    while (n-- > 0) {
        struct ascope_op op;
        ascope_op_begin(&op, "aten::convolution");
        if (op.begin) {
            op.sequence = (int64_t)n;
            op.types = ascope_text_of(
                "c10::Half;c10::Half;c10::Half;ScalarList;ScalarList;ScalarList;Scalar;ScalarList;Scalar");
            op.shapes = ascope_text_of("32,64,112,112;64,64,3,3;64;;;;;;");
        }
        BARRIER();
        ascope_op_end(&op);
    }
}

static void memory(unsigned long n)
{
    while (n-- > 0) {
        const struct ascope_memory m = {
            .size = sizeof m, .pointer = n, .size_bytes = 512, .device_type = ASCOPE_ON_NPU
        };
        ascope_memory(&m);
        BARRIER();
    }
}

static void python(unsigned long n)
{
    while (n-- > 0) {
        ascope_python_event(ASCOPE_PYTHON_CALL, n);
        BARRIER();
    }
}

static void call(unsigned long n)
{
    while (n-- > 0) {
        ascope_call(20000, 0x30001, n, n + 1, 0);
        BARRIER();
    }
}

/* A function of the library that does nothing, and a step of a job that listens for requests. */
static void empty_call(unsigned long n)
{
    while (n-- > 0) {
        (void)ascope_version();
        BARRIER();
    }
}

static void dynamic_step(unsigned long n)
{
    while (n-- > 0) {
        ascope_dynamic_step();
        BARRIER();
    }
}

static void lttng(unsigned long n)
{
    lttng_range(message, n);
}

/* ---- how ---- */

struct job {
    void (*run)(unsigned long n);
    unsigned long n; /* of a burst */
    unsigned rounds, threads;
    pthread_barrier_t *together;
    double ns; /* of one, the median of the bursts */
};

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *job_run(void *p)
{
    enum { PAUSE_US = 5000, ROUNDS_MOST = 256 };
    struct job *j = p;
    double each[ROUNDS_MOST];
    j->run(j->n / 8 + 1); /* its ring, and what the first record of a session costs */
    for (unsigned i = 0; i < j->rounds; i++) {
        usleep(PAUSE_US * j->threads);
        pthread_barrier_wait(j->together);
        const double begin = cpu_ns();
        j->run(j->n);
        each[i] = (cpu_ns() - begin) / (double)j->n;
    }
    qsort(each, j->rounds, sizeof *each, by_value);
    j->ns = each[j->rounds / 2];
    return NULL;
}

enum { THREADS_MOST = 64 };

static double measure(void (*run)(unsigned long n), unsigned long n, unsigned threads)
{
    enum { ROUNDS = 40 };
    pthread_t thread[THREADS_MOST];
    struct job job[THREADS_MOST];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        job[i] = (struct job){ .run = run, .n = n, .rounds = ROUNDS, .threads = threads, .together = &together };
        if (pthread_create(&thread[i], NULL, job_run, &job[i]) != 0)
            exit((perror("bench_record"), 1));
    }
    double sum = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += job[i].ns;
    }
    pthread_barrier_destroy(&together);
    return sum / threads;
}

/* ---- what comes out ---- */

struct result {
    const char *what, *state;
    unsigned threads;
    double ns;
    double budget;  /* 0: none */
    bool in_clocks; /* the budget is one of readings of the clock, else of ns */
};

struct report {
    bool is_json;
    double clock_ns, counter_ns;
    unsigned n;
};

static void report_begin(struct report *r)
{
    if (r->is_json)
        printf("{\"load\": ");
    double load[1] = { 0 };
    if (getloadavg(load, 1) != 1)
        load[0] = -1;
    if (r->is_json)
        printf("%.2f, \"rows\": [", load[0]);
    else
        printf("load before the run: %.1f\n\n%-34s %-14s %7s %9s %9s %9s  %s\n", load[0], "", "", "threads", "ns",
               "clocks", "counters", "budget");
}

static void report_row(struct report *r, const struct result *x)
{
    const double clocks = x->ns / r->clock_ns, counters = x->ns / r->counter_ns;
    if (r->is_json) {
        printf(
            "%s\n  {\"what\": \"%s\", \"state\": \"%s\", \"threads\": %u, \"ns\": %.3f, \"clocks\": %.3f, \"counters\": %.3f",
            r->n++ > 0 ? "," : "", x->what, x->state, x->threads, x->ns, clocks, counters);
        if (x->budget > 0)
            printf(", \"budget\": %g, \"budget_of\": \"%s\"", x->budget, x->in_clocks ? "clocks" : "ns");
        printf("}");
        return;
    }
    char budget[64] = "";
    if (x->budget > 0)
        snprintf(budget, sizeof budget, "<= %g %s%s", x->budget, x->in_clocks ? "clocks" : "ns",
                 (x->in_clocks ? clocks : x->ns) > x->budget ? " missed" : "");
    printf("%-34s %-14s %7u %9.2f %9.2f %9.2f  %s\n", x->what, x->state, x->threads, x->ns, clocks, counters, budget);
}

/* ---- a session, and what it says about itself ---- */

static const char *parent_dir, *ring_dir;
static unsigned ring_kb; /* 0: the default */

static void options_fill(struct ascope_options *o)
{
    ascope_options_init(o);
    o->parent_dir = parent_dir;
    o->ring_kb = ring_kb ? ring_kb : o->ring_kb;
    o->ring_dir = ring_dir;
    o->device = "none";
    o->record_shapes = o->profile_memory = o->with_stack = o->mstx = true;
    o->level = ASCOPE_LEVEL2;
}

static struct ascope_session *session_begin(void)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    options_fill(&o);
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e))
        exit((fprintf(stderr, "bench_record: %s\n", e.text), 1));
    return s;
}

/* From ascope.json, which our own writer wrote: the number behind a key, or the sum of all of them up to the end of a
 * list. */
static unsigned long long number_behind(const char *at, const char *key)
{
    const char *found = at ? strstr(at, key) : NULL;
    return found ? strtoull(found + strlen(key), NULL, 10) : 0;
}

static unsigned long long sum_behind(const char *list, const char *key)
{
    unsigned long long sum = 0;
    const char *end = list ? strchr(list, ']') : NULL;
    for (const char *at = list; end && (at = strstr(at, key)) && at < end; at++)
        sum += number_behind(at, key);
    return sum;
}

struct totals {
    unsigned long long records, bytes, dropped, lag_ns, fill_percent;
};

static struct totals session_finish(struct ascope_session *s)
{
    struct ascope_error e = { "" };
    char path[4096], text[1 << 16] = "";
    struct totals t = { 0 };
    if (!ascope_session_stop(s, &e))
        exit((fprintf(stderr, "bench_record: %s\n", e.text), 1));
    char dir[4096 - 16];
    snprintf(dir, sizeof dir, "%s", ascope_session_path(s));
    ascope_session_end(s, &e);
    snprintf(path, sizeof path, "%s/ascope.json", dir);
    FILE *f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
        const char *const written = strstr(text, "\"written\"");
        t = (struct totals){ .records = number_behind(written, "\"records\": "),
                             .bytes = number_behind(written, "\"bytes\": "),
                             .dropped = sum_behind(strstr(text, "\"dropped\": ["), "\"count\": "),
                             .lag_ns = number_behind(text, "\"lag_most_ns\": "),
                             .fill_percent = number_behind(text, "\"fill_most_percent\": ") };
    }
    return t;
}

/* ---- so many a second ---- */

struct flow {
    double rate; /* of this thread */
    double seconds;
    unsigned long long made;
};

/* Of ten events six are operators, two blocks of memory and two ranges. */
static void ten_events(void)
{
    operator_bare(6);
    memory(2);
    range(2);
}

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define CATCH_UP_S 0.002

static void *flow_run(void *p)
{
    struct flow *f = p;
    const double begin = wall_s();
    const double most =
        f->rate * CATCH_UP_S; /* who was not scheduled makes up for that in small steps, as work would */
    for (double now; (now = wall_s() - begin) < f->seconds;) {
        const double behind = now * f->rate - (double)f->made;
        for (double due = behind < most ? behind : most; due > 0; due -= 10) {
            ten_events();
            f->made += 10;
        }
        usleep(500);
    }
    return NULL;
}

static int flow_main(double rate, double seconds, unsigned threads, bool is_json)
{
    pthread_t thread[THREADS_MOST];
    struct flow flow[THREADS_MOST];
    double load[1] = { 0 };
    if (getloadavg(load, 1) != 1)
        load[0] = -1;
    struct ascope_session *s = session_begin();
    const double begin = wall_s();
    for (unsigned i = 0; i < threads; i++) {
        flow[i] = (struct flow){ rate / threads, seconds, 0 };
        if (pthread_create(&thread[i], NULL, flow_run, &flow[i]) != 0)
            exit((perror("bench_record"), 1));
    }
    unsigned long long made = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        made += flow[i].made;
    }
    const double took = wall_s() - begin;
    const struct totals t = session_finish(s);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf(
        is_json
            ? "{\"load\": %.2f, \"threads\": %u, \"seconds\": %.1f, \"events\": %llu, \"per_second\": %.0f, "
              "\"written\": %llu, \"bytes\": %llu, \"dropped\": %llu, \"peak_mb\": %.0f, \"lag_most_ms\": %.1f, "
              "\"fill_most_percent\": %llu, \"cpu_seconds\": %.1f}\n"
            : "load before the run: %.1f\n%u threads, %.1f s: %llu events, %.0f a second\nwritten: %llu records, %llu "
              "bytes; dropped: %llu\npeak memory: %.0f MB; longest time between two runs of the writer: %.1f ms; "
              "fullest ring: %llu %%; CPU of all threads: %.1f s\n",
        load[0], threads, took, made, (double)made / took, t.records, t.bytes, t.dropped, (double)used.ru_maxrss / 1024,
        (double)t.lag_ns / 1e6, t.fill_percent,
        (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    return t.dropped == 0 ? 0 : 2;
}

/* ---- all of it ---- */

enum { BURST = 4000, BURST_NOT_RECORDED = 1000000, BURST_OF_CLOCKS = 100000 };
enum { RANGE_CLOCKS_MOST = 4, NOT_RECORDED_NS_MOST = 1 };

static const struct {
    const char *what;
    void (*run)(unsigned long n);
    double clocks_most, off_ns_most;
    bool is_for_all; /* of the numbers of threads; else for one */
    bool is_operator;
} works[] = {
    { "mark range", range, RANGE_CLOCKS_MOST, NOT_RECORDED_NS_MOST, true, false },
    { "mstx range", range_of_mstx, RANGE_CLOCKS_MOST, 0, false, false },
    { "mark", point, 0, NOT_RECORDED_NS_MOST, false, false },
    { "operator, name only", operator_bare, 0, NOT_RECORDED_NS_MOST, true, true },
    { "operator with shapes and types", operator_with_shapes, 0, 0, false, true },
    { "memory event", memory, 0, 0, false, false },
    { "Python call or return", python, 0, 0, false, false },
    { "call below the framework", call, 0, 0, false, false },
};

/* Plain recording, the flight recorder, and again, so that a machine that changes meanwhile changes both: their ratio. */
static double measure_flight(struct report *r)
{
    enum { TURNS = 5 };
    double ratio[sizeof works / sizeof *works * TURNS];
    size_t n = 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        double flight[TURNS];
        for (unsigned turn = 0; turn < TURNS && works[i].is_operator; turn++) {
            struct ascope_options o;
            struct ascope_error e = { "" };
            const struct ascope_flight how = { .size = sizeof how, .memory_bytes = 64 << 20 };
            struct ascope_session *const s = session_begin();
            const double plain = measure(works[i].run, BURST, 1);
            session_finish(s);
            options_fill(&o);
            if (!ascope_flight_start(&o, &how, &e))
                exit((fprintf(stderr, "bench_record: %s\n", e.text), 1));
            flight[turn] = measure(works[i].run, BURST, 1);
            ascope_flight_stop(&e);
            ratio[n++] = flight[turn] / plain;
        }
        if (!works[i].is_operator)
            continue;
        qsort(flight, TURNS, sizeof *flight, by_value);
        report_row(r, &(struct result){ works[i].what, "flight", 1, flight[TURNS / 2], 0, false });
    }
    qsort(ratio, n, sizeof *ratio, by_value);
    return ratio[n / 2];
}

static void measure_steps(struct report *r)
{
    char path[4096];
    struct ascope_error e = { "" };
    snprintf(path, sizeof path, "%s/dynamic", parent_dir);
    const struct ascope_dynamic_setup setup = { .size = sizeof setup, .path = path };
    report_row(r, &(struct result){ "empty call of the library", "", 1, measure(empty_call, BURST_NOT_RECORDED, 1), 0,
                                    false });
    if (!ascope_dynamic_init(&setup, &e))
        exit((fprintf(stderr, "bench_record: %s\n", e.text), 1));
    report_row(r, &(struct result){ "dynamic_profile step", "idle", 1, measure(dynamic_step, BURST_NOT_RECORDED, 1), 0,
                                    false });
    ascope_dynamic_end();
}

static void measure_all(struct report *r, const unsigned *threads, size_t n_threads)
{
    report_begin(r);
    r->clock_ns = measure(clock_raw, BURST_OF_CLOCKS, 1);
    r->counter_ns = measure(counter, BURST_OF_CLOCKS, 1);
    report_row(r, &(struct result){ "clock_gettime(MONOTONIC_RAW)", "", 1, r->clock_ns, 0, false });
    report_row(r, &(struct result){ "the CPU's counter", "", 1, r->counter_ns, 0, false });
    measure_steps(r);
    const size_t n_works = sizeof works / sizeof *works;
    for (size_t i = 0; i < n_works; i++)
        report_row(r, &(struct result){ works[i].what, "not recording", 1, measure(works[i].run, BURST_NOT_RECORDED, 1),
                                        works[i].off_ns_most, false });
    struct ascope_session *s = session_begin();
    for (size_t i = 0; i < n_works; i++)
        for (size_t t = 0; t < n_threads; t++)
            if (works[i].is_for_all || threads[t] == threads[0])
                report_row(r, &(struct result){ works[i].what, "recording", threads[t],
                                                measure(works[i].run, BURST, threads[t]), works[i].clocks_most, true });
    const struct totals totals = session_finish(s);
    const double flight = measure_flight(r);

    const char *why = lttng_absent();
    if (!why) {
        report_row(r, &(struct result){ "LTTng-UST, two events", "not recording", 1,
                                        measure(lttng, BURST_NOT_RECORDED, 1), 0, false });
        if (lttng_start(parent_dir, &why)) {
            why = NULL;
            for (size_t t = 0; t < n_threads; t++)
                report_row(r, &(struct result){ "LTTng-UST, two events", "recording", threads[t],
                                                measure(lttng, BURST, threads[t]), 0, false });
            lttng_stop();
        }
    }
    if (r->is_json)
        printf("\n ], \"records\": %llu, \"dropped\": %llu, \"flight_ratio\": %.3f, \"lttng\": \"%s\"}\n",
               totals.records, totals.dropped, flight, why ? why : "compared");
    else
        printf(
            "\n%llu records were written, %llu dropped\nan operator with the flight recorder: %.3f of plain recording\n%s%s\n",
            totals.records, totals.dropped, flight, why ? "LTTng-UST is not compared: " : "", why ? why : "");
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    struct report report = { .is_json = false };
    unsigned threads[8] = { 1, 2, 8 };
    size_t n_threads = 3;
    double rate = 0, seconds = 10;
    const char *dir = "/tmp";
    for (int i = 1; i < argc; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--json") == 0) {
            report.is_json = true;
            continue;
        }
        if (strcmp(argv[i], "--rate") == 0) {
            rate = strtod(value, NULL);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            seconds = strtod(value, NULL);
        } else if (strcmp(argv[i], "--ring-kb") == 0) {
            ring_kb = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--ring-dir") == 0) {
            ring_dir = value;
        } else if (strcmp(argv[i], "--dir") == 0) {
            dir = value;
        } else if (strcmp(argv[i], "--threads") == 0) {
            n_threads = 0;
            for (char *at = argv[i + 1 < argc ? i + 1 : i]; *at && n_threads < 8; at += strspn(at, ",")) {
                const unsigned long n = strtoul(at, &at, 10);
                if (n == 0 || n > THREADS_MOST)
                    return fprintf(stderr, "bench_record: --threads takes numbers from 1 to %d\n", THREADS_MOST), 1;
                threads[n_threads++] = (unsigned)n;
            }
        } else {
            return fprintf(stderr, "bench_record: %s is not known; see the top of its source\n", argv[i]), 1;
        }
        i++;
    }
    char made[4096];
    snprintf(made, sizeof made, "%s/ascope-bench-XXXXXX", dir);
    parent_dir = mkdtemp(made);
    if (!parent_dir)
        return perror(dir), 1;
    domain = ascope_domain_get("bench");
    int status = 0;
    if (rate > 0)
        status = flow_main(rate, seconds, n_threads == 3 ? 2 : threads[0], report.is_json);
    else
        measure_all(&report, threads, n_threads);
    return nftw(parent_dir, forget, 16, FTW_DEPTH | FTW_PHYS) == 0 ? status : 1;
}
