/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/own_path.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "monitor/monitor_alarms.h"
#include "monitor/monitor_metrics.h"
#include "report/term.h"
#include "view/server/http.h"

enum {
    MONITOR_WINDOW_S = 600,
    MONITOR_LOOK_S = 10,
    LOG_EVERY = 6,
    CHILDREN_MOST = 16,
    SAVES_MOST = 16,
    TOKEN_BYTES = 256
};
static const int64_t MONITOR_SECOND_NS = 1000000000, BETWEEN_SAVES_NS = 600 * 1000000000LL;

extern char **environ;

struct watching {
    struct arguments *a;
    struct monitor_ranks ranks;
    struct alarms alarms;
    int64_t window_ns, saved_ns;
    unsigned n_saves, n_children, n_looks;
    json_t *events; /* of --replay --json; else NULL */
    struct term term;
    struct http *http;
    char token[TOKEN_BYTES]; /* "Bearer …"; "": none is needed */
    pthread_mutex_t lock;    /* of the texts, which the server's threads copy */
    struct out text[2];      /* of metrics: for Prometheus, and OpenMetrics */
};

/* ---- metrics ---- */

static bool is_same_text(const char *a, const char *b)
{
    const size_t n = strlen(b);
    unsigned differs = strlen(a) != n;
    for (size_t i = 0; i < n && !(strlen(a) != n); i++) /* as long as it would take with another text */
        differs |= (unsigned)(a[i] ^ b[i]);
    return differs == 0;
}

static void metrics_answer(void *context, const struct http_request *q, struct http_reply *r)
{
    struct watching *const w = context;
    const bool is_openmetrics = strcmp(q->path, "/openmetrics") == 0;
    r->type = "text/plain; charset=utf-8";
    if (*w->token && !is_same_text(q->authorization, w->token)) {
        r->status = 401;
        r->headers = "WWW-Authenticate: Bearer\r\n";
        out_lit(r->out, "a token is needed\n");
        return;
    }
    if (!is_openmetrics && strcmp(q->path, "/metrics") != 0) {
        r->status = 404;
        out_lit(r->out, "see /metrics and /openmetrics\n");
        return;
    }
    r->type = is_openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                             : "text/plain; version=0.0.4; charset=utf-8";
    pthread_mutex_lock(&w->lock);
    out_bytes(r->out, w->text[is_openmetrics].buf, w->text[is_openmetrics].n);
    pthread_mutex_unlock(&w->lock);
}

static void metrics_publish(struct watching *w, const struct monitor_window *window)
{
    for (int i = 0; w->http && i < 2; i++) {
        struct out text;
        struct error e = { 0 };
        if (!out_open_memory(&text, &e))
            return;
        metrics_write(&text, window, &w->alarms, i == 1);
        pthread_mutex_lock(&w->lock);
        const struct out was = w->text[i];
        w->text[i] = text;
        pthread_mutex_unlock(&w->lock);
        text = was;
        out_discard(&text);
    }
}

static bool token_read(struct watching *w, const char *path)
{
    struct stat st;
    char text[TOKEN_BYTES - 8] = "";
    size_t n = 0;
    int why = 0;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    const bool is_read = fd >= 0 && file_read(fd, text, sizeof text - 1, &n, &why);
    if (fd >= 0)
        close(fd);
    text[strcspn(text, "\r\n")] = '\0';
    if (is_read && *text)
        snprintf(w->token, sizeof w->token, "Bearer %s", text);
    else
        complain("--token-file %s: %s", path, is_read ? "empty" : read_trouble(why));
    return is_read && *text;
}

/* "9464", "0.0.0.0:9464" */
static bool listen_begin(struct watching *w)
{
    const struct monitor_words *const m = &w->a->monitor;
    struct error e = { 0 };
    char address[64] = "127.0.0.1", *end;
    if (m->token_file && !token_read(w, m->token_file))
        return false;
    if (!m->listen)
        return true;
    const char *const colon = strrchr(m->listen, ':'), *const port = colon ? colon + 1 : m->listen;
    const unsigned long number = strtoul(port, &end, 10);
    if (colon)
        snprintf(address, sizeof address, "%.*s", (int)(colon - m->listen), m->listen);
    if (end == port || *end || number > 65535) {
        complain("--listen %s: expected a port, or an address and a port: 127.0.0.1:9464", m->listen);
        return false;
    }
    if (strncmp(address, "127.", 4) != 0 && !m->token_file) {
        complain("--listen %s: others could read it; give --token-file, too", m->listen);
        return false;
    }
    for (int i = 0; i < 2; i++)
        if (!out_open_memory(&w->text[i], &e))
            return complain("%s", e.text), false;
    pthread_mutex_init(&w->lock, NULL);
    const struct http_options options = {
        .address = address, .port = (unsigned)number, .n_threads = 2, .answer = metrics_answer, .context = w
    };
    w->http = http_open(&options, &e);
    if (!w->http)
        return complain("--listen %s: %s", m->listen, e.text), false;
    if (!w->a->quiet)
        fprintf(w->term.to, "metrics: http://%s:%u/metrics\n", address, http_port(w->http));
    fflush(w->term.to);
    return true;
}

/* ---- commands ---- */

static void children_reap(struct watching *w)
{
    while (w->n_children > 0 && waitpid(-1, NULL, WNOHANG) > 0)
        w->n_children--;
}

static void child_start(struct watching *w, char *const argv[])
{
    pid_t child;
    children_reap(w);
    if (w->n_children >= CHILDREN_MOST) {
        complain("%s: left out: %d commands run already", argv[0], CHILDREN_MOST);
        return;
    }
    const int why = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    if (why != 0)
        complain("%s: %s", argv[0], strerror(why));
    w->n_children += why == 0;
}

static void hook_run(struct watching *w, const struct alarm *alarm, const char *what)
{
    char rank[20] = "job", since[24];
    if (alarm->rank >= 0)
        snprintf(rank, sizeof rank, "%d", (int)alarm->rank);
    snprintf(since, sizeof since, "%lld", (long long)(alarm->since_ns / MONITOR_SECOND_NS));
    char *const argv[] = { "/bin/sh", "-c",  (char *)w->a->monitor.hook, "ascope", (char *)what,
                           rank,      since, (char *)alarm->text,        NULL };
    child_start(w, argv);
}

/* The flight recorder of a process: its home has the process' number in its name. */
static void flight_save_of(struct watching *w, const struct monitor_rank *r)
{
    char pattern[PATH_MAX], self[PATH_MAX];
    glob_t found = { 0 };
    if (!own_path(self) || snprintf(pattern, sizeof pattern, "%s/*_%lld_*_ascend_pt", w->a->monitor.flight,
                                    (long long)r->head.pid) >= (int)sizeof pattern)
        return;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char name[PATH_MAX];
            snprintf(name, sizeof name, "%s/ascope.flight", found.gl_pathv[i]);
            char *const argv[] = { self, "dyn", found.gl_pathv[i], "save", "--quiet", NULL };
            if (access(name, F_OK) == 0) /* a home, no collection that was saved before */
                child_start(w, argv);
        }
    globfree(&found);
}

static void flights_save(struct watching *w, const struct monitor_window *window, const struct alarm *alarm)
{
    const struct monitor_rank *slow = NULL, *healthy = NULL;
    double slowest_ns = -1;
    if (w->n_saves >= SAVES_MOST || (w->n_saves > 0 && window->end_ns - w->saved_ns < BETWEEN_SAVES_NS))
        return;
    for (size_t i = 0; i < window->n; i++) {
        const struct window_rank *const r = &window->rank[i];
        const double own_ns = r->step_ns - r->part_ns[JUDGED_EXPOSED];
        const bool is_it = alarm->rank >= 0 ? monitor_rank_number(r->of) == alarm->rank : own_ns > slowest_ns;
        if (is_it) {
            healthy = slow && !healthy ? slow : healthy;
            slow = r->of;
            slowest_ns = own_ns;
        } else if (!healthy) {
            healthy = r->of;
        }
    }
    w->n_saves++;
    w->saved_ns = window->end_ns;
    if (slow)
        flight_save_of(w, slow);
    if (healthy)
        flight_save_of(w, healthy);
}

/* ---- alarms ---- */

static json_t *alarm_json(const struct alarm *alarm)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:o, s:f, s:f}", "rank",
                     alarm->rank >= 0 ? json_integer(alarm->rank) : json_null(), "text", alarm->text, "since_unix_ns",
                     (json_int_t)alarm->since_ns, "began_unix_ns", (json_int_t)alarm->began_ns, "ended_unix_ns",
                     alarm->is_over ? json_integer(alarm->ended_ns) : json_null(), "more_us", alarm->excess_ns / 1000,
                     "share", alarm->share);
}

static void alarm_put(struct watching *w, const struct alarm *alarm, const char *what, int64_t at_ns)
{
    char at[READABLE_MOST], since[READABLE_MOST], rank[24] = "job";
    if (w->a->quiet || w->a->json)
        return;
    if (alarm->rank >= 0)
        snprintf(rank, sizeof rank, "rank %d", (int)alarm->rank);
    fprintf(w->term.to, "%.19s  alarm %s: %s, since %.19s: ", readable_time(at, at_ns), what, rank,
            readable_time(since, alarm->since_ns));
    term_text(&w->term, alarm->text, 0);
    fputc('\n', w->term.to);
    fflush(w->term.to);
}

static void alarms_act(struct watching *w, const struct monitor_window *window)
{
    for (size_t i = 0; i < w->alarms.n; i++) {
        const struct alarm *const alarm = &w->alarms.at[i];
        const bool ends = alarm->is_over && alarm->is_on;
        if (!alarm->is_new && !ends)
            continue;
        alarm_put(w, alarm, ends ? "ends" : "begins", window->end_ns);
        if (ends && w->events)
            json_array_append_new(w->events, alarm_json(alarm));
        if (w->a->monitor.hook)
            hook_run(w, alarm, ends ? "ends" : "begins");
        if (alarm->is_new && w->a->monitor.flight)
            flights_save(w, window, alarm);
    }
}

static void log_put(struct watching *w, const struct monitor_window *window)
{
    char at[READABLE_MOST];
    size_t n_on = 0;
    if (w->a->quiet || w->a->monitor.replay || w->n_looks++ % LOG_EVERY != 0)
        return;
    for (size_t i = 0; i < w->alarms.n; i++)
        n_on += w->alarms.at[i].is_on && !w->alarms.at[i].is_over;
    fprintf(w->term.to, "%.19s  %zu ranks, %zu alive, %.3g steps/s, %zu alarm%s\n", readable_time(at, window->end_ns),
            window->n, window->n_alive, window->steps_per_s, n_on, n_on == 1 ? "" : "s");
    fflush(w->term.to);
}

/* False: it cannot go on, which was reported. */
static bool look(struct watching *w, int64_t until_ns)
{
    struct error e = { 0 };
    struct monitor_window window;
    struct arena *const mem = arena_new();
    bool done = monitor_ranks_look(&w->ranks, until_ns, &e);
    if (!done)
        complain("%s", e.text);
    if (done &&
        !(mem && monitor_window_of(&window, &w->ranks, w->window_ns, mem) && alarms_update(&w->alarms, &window, mem))) {
        complain_no_memory(w->ranks.dir);
        done = false;
    }
    if (done) {
        metrics_publish(w, &window);
        alarms_act(w, &window);
        log_put(w, &window);
    }
    arena_free(mem);
    return done;
}

/* ---- time ---- */

/* The begin of the first record, and the end of the last one. */
static bool extent_of(const char *dir, int64_t *begin_ns, int64_t *end_ns)
{
    struct monitor_ranks all;
    struct error e = { 0 };
    *begin_ns = INT64_MAX;
    *end_ns = 0;
    bool done = monitor_ranks_open(&all, dir, INT64_MAX / 2, &e) && monitor_ranks_look(&all, INT64_MAX, &e);
    for (size_t i = 0; done && i < all.n; i++) {
        const struct monitor_rank *const r = all.rank[i];
        if (r->n > 0 && r->at[0].begin_unix_ns < *begin_ns)
            *begin_ns = r->at[0].begin_unix_ns;
        if (r->n > 0 && monitor_record_end_ns(&r->at[r->n - 1]) > *end_ns)
            *end_ns = monitor_record_end_ns(&r->at[r->n - 1]);
    }
    monitor_ranks_close(&all);
    if (!done)
        complain("%s", e.text);
    else if (*end_ns == 0)
        complain("%s: no records of a monitored process", dir);
    return done && *end_ns > 0;
}

static enum exit_status replay(struct watching *w)
{
    int64_t begin_ns, end_ns;
    bool done = extent_of(w->ranks.dir, &begin_ns, &end_ns);
    w->events = done && w->a->json ? json_array() : NULL;
    for (int64_t at_ns = begin_ns; done && at_ns < end_ns; at_ns += MONITOR_LOOK_S * MONITOR_SECOND_NS)
        done = look(w, at_ns);
    done = done && look(w, INT64_MAX);
    for (size_t i = 0; w->events && i < w->alarms.n; i++)
        if (w->alarms.at[i].is_on && !w->alarms.at[i].is_over)
            json_array_append_new(w->events, alarm_json(&w->alarms.at[i]));
    const enum exit_status status = done ? STATUS_DONE : STATUS_NOTHING;
    return w->a->json ? json_report(w->a, "alarms", w->events ? w->events : json_array(), status) : status;
}

static enum exit_status watch_job(struct watching *w)
{
    if (!listen_begin(w))
        return STATUS_PARAMETER;
    while (look(w, INT64_MAX)) {
        children_reap(w);
        sleep(MONITOR_LOOK_S);
    }
    http_close(w->http);
    return STATUS_NOTHING;
}

int run_monitor(struct arguments *a)
{
    struct error e = { 0 };
    struct rlimit files;
    if (a->n_words != 1) {
        complain("monitor: expected one directory, that of the monitored job");
        return exit_code(a->face, STATUS_USAGE);
    }
    if (a->json && !a->monitor.replay) {
        complain("monitor: --json needs --replay; ascope top --json has the state of a running job");
        return exit_code(a->face, STATUS_USAGE);
    }
    const char *const dir = path_expand(a, "DIR", a->word[0]);
    struct watching *const w = dir ? arena_take(a->mem, 1, sizeof *w) : NULL;
    if (!w)
        return exit_code(a->face, arguments_refused(a));
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { /* a file for each rank */
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    w->a = a;
    w->window_ns = (int64_t)(a->monitor.window_s ? a->monitor.window_s : MONITOR_WINDOW_S) * MONITOR_SECOND_NS;
    term_init(&w->term, stdout);
    if (!monitor_ranks_open(&w->ranks, dir, w->window_ns, &e)) {
        complain("%s", e.text);
        return exit_code(a->face, STATUS_NOTHING);
    }
    const enum exit_status status = a->monitor.replay ? replay(w) : watch_job(w);
    monitor_ranks_close(&w->ranks);
    return exit_code(a->face, status);
}
