/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/dynamic.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/background.h"
#include "collect/monitor/monitor_steps.h"
#include "collect/options/sized.h"
#include "collect/session/message.h"
#include "dynamic/config.h"
#include "dynamic/watch.h"

enum { POLL_MS = 2000, POLL_LEAST_MS = 1000, POLL_MOST_MS = 50000, RETIME_CALLS = 10 };

/* A request with its text, and when it begins. */
struct order {
    struct config c;
    char *text, *file;
    uint64_t id;
    enum config_when when;
    int64_t start_step;
    bool is_open; /* the owner of the board has not yet chosen the step */
};

struct dynamic {
    const struct config_kind *kind;
    struct ascope_dynamic_setup setup;
    struct watch watch;
    struct dynamic_log log;

    bool has_waiting, is_running;
    struct order waiting, running;
    int64_t began_at, remaining; /* calls of step, of what is running */
    struct ascope_dynamic_request request;

    int64_t retime_at; /* the step that is measured next; 0: no more */
    uint64_t retime_ns;
};

static struct dynamic *here;   /* NULL: no init */
static _Atomic int64_t nobody; /* instead of a slot */
static struct {                /* all that a step without anything to do reads and writes */
    int64_t step;
    _Atomic int64_t *shown;    /* the step in the slot */
    _Atomic int64_t attention; /* from this step on there is something to do */
} hot = { .shown = &nobody };

/* ---- messages ---- */

enum { TO_LOG = 1, TO_USER = 2 };

static void say_text(struct dynamic *d, unsigned to, enum ascope_severity severity, const char *text)
{
    if (d && (to & TO_LOG))
        dynamic_log_add(&d->log, severity, text);
    if (!(to & TO_USER))
        return;
    if (d && d->setup.message)
        d->setup.message(severity, text, d->setup.user);
    else
        message(severity, "dynamic_profile: %s", text);
}

__attribute__((format(printf, 4, 5))) static void say(struct dynamic *d, unsigned to, enum ascope_severity severity,
                                                      const char *fmt, ...)
{
    char text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    say_text(d, to, severity, text);
}

static void log_value(enum ascope_severity severity, const char *text, void *of)
{
    say(of, TO_LOG, severity, CONFIG_FILE_NAME ": %s", text);
}

static bool dynamic_fail(struct ascope_error *e, const char *text)
{
    if (e)
        snprintf(e->text, sizeof e->text, "%s", text);
    return false;
}

/* ---- who this is ---- */

static int64_t dynamic_number_of(const char *variable, int64_t otherwise)
{
    const char *const text = getenv(variable);
    char *end = NULL;
    const long long n = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && !*end && n >= 0 && n <= INT32_MAX ? n : otherwise;
}

static int32_t rank_of(const struct dynamic *d)
{
    return d->setup.rank ? d->setup.rank(d->setup.user) : (int32_t)dynamic_number_of("RANK", -1);
}

static uint64_t dynamic_group_of(const struct dynamic *d, int32_t rank)
{
    static const char *const names[] = { "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT" };
    const long alone = (long)getpid(), parent = (long)getppid();
    uint64_t group = 0;
    if (d->setup.job)
        return config_hash(d->setup.job, strlen(d->setup.job), 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            group = config_hash(getenv(names[i]), strlen(getenv(names[i])), group + i + 2);
    if (group)
        return group;
    return rank >= 0 ? config_hash(&parent, sizeof parent, 3) : config_hash(&alone, sizeof alone, 4);
}

/* ---- requests ---- */

static void order_fini(struct order *o)
{
    config_fini(&o->c);
    free(o->text);
    free(o->file);
    *o = (struct order){ 0 };
}

static void drop_waiting(struct dynamic *d)
{
    if (d->has_waiting)
        order_fini(&d->waiting);
    d->has_waiting = false;
}

/* Shows the state of this process on the board, and the fate of request `id` unless a newer one was seen since. */
static void show(struct dynamic *d, uint64_t id, enum board_fate fate)
{
    struct board_rank *const r = &d->watch.board.mine;
    const bool waits_for_step = d->has_waiting && d->waiting.when == WHEN_AT;
    r->state = d->is_running ? ASCOPE_DYNAMIC_RUNNING : d->has_waiting ? ASCOPE_DYNAMIC_READY : ASCOPE_DYNAMIC_IDLE;
    r->start_step = d->is_running ? d->began_at : waits_for_step ? d->waiting.start_step : 0;
    r->stop_step = d->is_running ? d->began_at + d->running.c.warmup + d->running.c.active : 0;
    if (r->id == id)
        r->fate = fate;
    board_show(&d->watch.board);
}

static void show_news(struct dynamic *d, uint64_t id, enum board_fate fate)
{
    d->watch.board.mine.id = id;
    show(d, id, fate);
}

static void show_done(struct dynamic *d, const char *dir)
{
    struct board_rank *const r = &d->watch.board.mine;
    r->n_done++;
    r->done_id = d->running.id;
    r->done_start_step = d->began_at;
    r->done_stop_step = hot.step;
    r->dir[0] = '\0';
    if (dir && strlen(dir) < sizeof r->dir)
        strcpy(r->dir, dir);
    board_show(&d->watch.board);
}

static void dynamic_finish(struct dynamic *d, bool is_cut)
{
    const char *const dir = d->setup.end(is_cut, d->setup.user);
    const uint64_t id = d->running.id;
    say(d, TO_LOG, ASCOPE_INFO, "Stop Dynamic Profiler at %lld step.%s%s", (long long)hot.step, dir ? " Data: " : "",
        dir ? dir : "");
    d->is_running = false;
    show_done(d, dir);
    show(d, id, is_cut ? FATE_CUT : FATE_DONE);
    order_fini(&d->running);
}

/* Starts the collection of d->running. */
static bool dynamic_begin(struct dynamic *d, bool is_from_start)
{
    const struct config *const c = &d->running.c;
    d->request = (struct ascope_dynamic_request){
        .size = sizeof d->request,
        .rank = rank_of(d),
        .step = hot.step,
        .warmup = c->warmup,
        .active = c->active,
        .async_mode = c->async_mode,
        /* As documented, chosen ranks are not analysed at once, unless the analysis does not block them. */
        .analyse = c->analyse && (is_from_start || !c->is_rank || c->async_mode),
        .is_from_start = is_from_start,
        .is_late = d->kind->starts_late && !is_from_start && hot.step > c->start_step,
        .is_rank = !is_from_start && c->is_rank,
        .options = &c->options,
        .metadata = c->metadata,
        .n_metadata = c->n_metadata,
        .json = d->running.text,
        .file = d->running.file,
        .id = d->running.id,
    };
    if (c->analyse && !d->request.analyse)
        say(d, TO_LOG, ASCOPE_INFO, "analyse is ignored: is_rank is true and async_mode is false");
    if (c->async_mode && !c->analyse)
        say(d, TO_LOG, ASCOPE_INFO, "async_mode has no effect: analyse is false");
    const uint64_t id = d->running.id;
    if (!d->setup.begin(&d->request, d->setup.user)) {
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "the collection at step %lld could not begin; the job continues",
            (long long)hot.step);
        order_fini(&d->running);
        show(d, id, FATE_FAILED);
        return false;
    }
    d->is_running = true;
    d->began_at = hot.step;
    d->remaining = c->warmup + c->active;
    say(d, TO_LOG, ASCOPE_INFO, "Start Dynamic Profiler at %lld step.", (long long)hot.step);
    show(d, id, FATE_RUNS);
    return true;
}

/* Whether the owner has chosen the step of an open request by now; then it is set. */
static bool is_chosen(struct dynamic *d, struct order *o)
{
    uint64_t id;
    const struct board_offer offer = board_offer(&d->watch.board, d->watch.board.number, &id);
    if (id != o->id || offer.step == OFFER_OPEN)
        return false;
    o->is_open = false;
    o->when = offer.step > 0 ? WHEN_AT : WHEN_NEXT;
    o->start_step = offer.step;
    if (o->when == WHEN_AT)
        say(d, TO_LOG, ASCOPE_INFO, "Dynamic profiler will start at step %lld, as all ranks", (long long)offer.step);
    show(d, id, FATE_WAITS);
    return true;
}

/* Starts or drops the request that waits, if its step has come or has passed. */
static void dynamic_judge(struct dynamic *d)
{
    struct order *const o = &d->waiting;
    if (o->is_open && !is_chosen(d, o))
        return;
    const bool is_now = o->when == WHEN_NEXT || hot.step == o->start_step ||
                        (d->kind->starts_late && hot.step > o->start_step && hot.step <= o->c.stop_step);
    if (!is_now && hot.step < o->start_step)
        return;
    if (!is_now) {
        const uint64_t id = o->id;
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING,
            "the configuration is not effective: start_step %lld, but the current step is %lld already",
            (long long)o->start_step, (long long)hot.step);
        drop_waiting(d);
        show(d, id, FATE_PASSED);
        return;
    }
    d->running = d->waiting;
    d->waiting = (struct order){ 0 };
    d->has_waiting = false;
    dynamic_begin(d, false);
}

/* ---- news ---- */

/* Decides about a new request. FATE_WAITS: it is to be recorded. */
static enum board_fate consider(struct dynamic *d, const struct order *o, const struct board_offer *offer, int32_t rank)
{
    const struct config *const c = &o->c;
    if (c->stop) {
        say(d, TO_LOG, ASCOPE_INFO, "stop is true: %s",
            d->is_running ? "the collection ends" : "no collection is running");
        drop_waiting(d);
        if (d->is_running)
            dynamic_finish(d, true);
        return FATE_NOT_ASKED;
    }
    if (c->when == WHEN_NEVER) {
        say(d, TO_LOG, ASCOPE_INFO, "start_step %lld: no profiling%s", (long long)c->start_step,
            d->has_waiting ? "; the request that waited is dropped" : "");
        drop_waiting(d);
        return FATE_NOT_ASKED;
    }
    if (c->is_rank && rank < 0)
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING, "is_rank is true, but the rank of this process is not known");
    if (!config_has_rank(c, rank)) {
        say(d, TO_LOG, ASCOPE_INFO, "rank %d is not in rank_list; not profiled", (int)rank);
        return FATE_OTHERS;
    }
    if (offer->is_passed) {
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING,
            "the configuration is not effective: start_step %lld, but a rank is at step %lld already",
            (long long)c->start_step, (long long)offer->step);
        drop_waiting(d);
        return FATE_PASSED;
    }
    return FATE_WAITS;
}

static void take_news(struct dynamic *d)
{
    struct board_news *const n = watch_take(&d->watch);
    struct error e = { 0 };
    struct order o = { 0 };
    if (!n)
        return;
    if (!config_read(&o.c, d->kind, n->text, n->n, true, log_value, d, &e)) {
        say(d, d->kind->logs ? TO_LOG : TO_USER, ASCOPE_ERROR, CONFIG_FILE_NAME ": %s; ignored", e.text);
        show_news(d, n->id, FATE_INVALID);
        news_free(n);
        return;
    }
    const int32_t rank = rank_of(d);
    d->watch.board.mine.rank = rank;
    const enum board_fate fate = consider(d, &o, &n->offer, rank);
    o.id = n->id;
    if (fate == FATE_WAITS) {
        o.when = o.c.when;
        o.start_step = o.c.start_step;
        o.is_open = o.c.when == WHEN_NEXT && n->offer.step != 0;
        o.text = n->text;
        n->text = NULL;
        o.file = strdup(d->watch.file);
        drop_waiting(d);
        d->waiting = o;
        d->has_waiting = true;
        if (o.when == WHEN_AT)
            say(d, TO_LOG, ASCOPE_INFO, "Dynamic profiler will start at step %lld", (long long)o.start_step);
    } else {
        order_fini(&o);
    }
    show_news(d, n->id, fate);
    news_free(n);
}

/* ---- steps ---- */

/* The duration of the 11th step becomes the interval of looking at the file, as in the reference. */
static void retime(struct dynamic *d)
{
    if (d->retime_at == 0 || hot.step < d->retime_at)
        return;
    if (d->retime_ns == 0) {
        d->retime_ns = steady_ns();
        d->retime_at = hot.step + 1;
        return;
    }
    int64_t ms = (int64_t)((steady_ns() - d->retime_ns) / 1000000000) * 1000;
    ms = ms < POLL_LEAST_MS ? POLL_LEAST_MS : ms > POLL_MOST_MS ? POLL_MOST_MS : ms;
    d->retime_at = 0;
    atomic_store(&d->watch.poll_ms, (uint32_t)ms);
    say(d, TO_LOG, ASCOPE_INFO, "the file is looked at every %lld s from now on", (long long)ms / 1000);
}

/* Computes the next step in which there is something to do. */
static void settle(struct dynamic *d)
{
    int64_t at = d->is_running || (d->has_waiting && d->waiting.when == WHEN_NEXT) ? 0
                 : d->has_waiting                                                  ? d->waiting.start_step
                                                                                   : INT64_MAX;
    if (d->retime_at != 0 && d->retime_at < at)
        at = d->retime_at;
    /* Sequentially consistent here and in the thread that fills the mailbox: one of the two threads sees the store of
     * the other. */
    atomic_store(&hot.attention, at);
    if (atomic_load(&d->watch.mail))
        atomic_store(&hot.attention, 0);
}

static void notify(void *unused)
{
    (void)unused;
    atomic_store(&hot.attention, 0);
}

__attribute__((noinline)) static void attend(void)
{
    struct dynamic *const d = here;
    if (!d) {
        say(NULL, TO_USER, ASCOPE_ERROR, "step() has no effect: init() was not called, or failed");
        return;
    }
    retime(d);
    take_news(d);
    if (d->is_running) {
        d->setup.step(d->setup.user);
        if (--d->remaining == 0)
            dynamic_finish(d, false);
    } else if (d->has_waiting) {
        dynamic_judge(d);
    }
    settle(d);
}

void ascope_dynamic_step(void)
{
    const int64_t step = ++hot.step;
    monitor_step(BY_DYNAMIC, step);
    atomic_store_explicit(hot.shown, step, memory_order_relaxed); /* only to be seen */
    if (__builtin_expect(step >= atomic_load_explicit(&hot.attention, memory_order_relaxed), 0))
        attend();
}

bool ascope_dynamic_set_step(int64_t step)
{
    if (step < 0) {
        say(here, TO_LOG | TO_USER, ASCOPE_ERROR, "cur_step %lld: expected a number from 0; unchanged",
            (long long)step);
        return false;
    }
    struct dynamic *const d = here;
    if (d && d->retime_at != 0)
        d->retime_at += step - hot.step;
    hot.step = step;
    atomic_store_explicit(hot.shown, step, memory_order_relaxed);
    if (d)
        settle(d);
    return true;
}

int64_t ascope_dynamic_current_step(void)
{
    return hot.step;
}

enum ascope_dynamic_state ascope_dynamic_state(void)
{
    if (!here)
        return ASCOPE_DYNAMIC_OFF;
    const bool has_mail = atomic_load(&here->watch.mail);
    if (has_mail) /* its notify() may not have been reached yet, and after READY the next step has to take the
                     request */
        notify(NULL);
    return here->is_running                ? ASCOPE_DYNAMIC_RUNNING
           : here->has_waiting || has_mail ? ASCOPE_DYNAMIC_READY
                                           : ASCOPE_DYNAMIC_IDLE;
}

/* ---- start() ---- */

/* Reads a request for start(). False: the file cannot be used, which was reported. */
static bool order_from(struct dynamic *d, struct order *o, const char *file)
{
    struct config_text t;
    struct error e = { 0 };
    *o = (struct order){ 0 };
    bool is_used = config_text_read(&t, file, &e);
    if (is_used && !config_read(&o->c, d->kind, t.text, (size_t)t.stamp.size, true, log_value, d, &e)) {
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "start(): %s: %s", file, e.text);
        is_used = false;
    } else if (!is_used) {
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "start(): %s", e.text);
    } else if (o->c.is_empty) {
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "start(): %s: empty", file);
        is_used = false;
    }
    if (is_used) {
        o->text = t.text;
        t.text = NULL;
        o->file = strdup(file);
    } else {
        order_fini(o);
    }
    config_text_fini(&t);
    return is_used;
}

bool ascope_dynamic_start(const char *config_file, struct ascope_error *e)
{
    struct dynamic *const d = here;
    struct order o;
    if (!d) {
        say(NULL, TO_USER, ASCOPE_ERROR, "start() is ignored: init() was not called, or failed");
        return dynamic_fail(e, "dynamic_profile: start() is ignored: init() was not called, or failed");
    }
    if (d->is_running) {
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "start() is ignored: a collection is running");
        return dynamic_fail(e, "dynamic_profile: start() is ignored: a collection is running");
    }
    const bool is_given = config_file && *config_file && order_from(d, &o, config_file);
    if (!is_given && !order_from(d, &o, d->watch.file))
        return dynamic_fail(e, "dynamic_profile: start() is ignored: no usable configuration file");
    say(d, TO_LOG | TO_USER, ASCOPE_INFO, "start() uses %s", o.file ? o.file : "its file");
    d->running = o;
    const bool is_begun = dynamic_begin(d, true);
    if (is_begun && d->has_waiting) {
        const uint64_t id = d->waiting.id;
        say(d, TO_LOG, ASCOPE_INFO, "the request that waited is dropped: start() was called");
        drop_waiting(d);
        show(d, id, FATE_REPLACED);
    }
    settle(d);
    return is_begun || dynamic_fail(e, "dynamic_profile: start(): the collection could not begin");
}

/* ---- life ---- */

/* A forked child has neither the thread nor the locks of its parent. Its copy of the memory is not freed. */
static void forget_in_child(void)
{
    if (!here)
        return;
    board_forget(&here->watch.board);
    kept_close(&here->log.file);
    kept_close(&here->watch.log.file);
    here = NULL;
    hot.shown = &nobody;
    atomic_store(&hot.attention, INT64_MAX);
}

/* At exit the language that the hooks belong to may have ended: then they are not called. */
static void end_at_exit(void)
{
    if (here && here->setup.begin != dynamic_session_begin)
        here->is_running = false;
    ascope_dynamic_end();
}

static void prepare(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(end_at_exit);
}

static bool take_setup(struct dynamic *d, const struct ascope_dynamic_setup *setup, struct ascope_error *e)
{
    if (!setup || !sized_copy(&d->setup, sizeof d->setup, setup))
        return dynamic_fail(e, "dynamic_profile: set the size to sizeof(struct ascope_dynamic_setup)");
    if (!d->setup.path || !*d->setup.path)
        return dynamic_fail(e, "dynamic_profile: init() needs the path of a directory");
    if (d->setup.kind >= n_config_kinds)
        return dynamic_fail(e, "dynamic_profile: unknown kind; expected one of enum ascope_dynamic_kind");
    if (!d->setup.begin) {
        d->setup.begin = dynamic_session_begin;
        d->setup.step = dynamic_session_step;
        d->setup.end = dynamic_session_end;
    }
    if (!d->setup.step || !d->setup.end)
        return dynamic_fail(e, "dynamic_profile: the hook begin needs the hooks step and end");
    if (!d->setup.poll_ms)
        d->setup.poll_ms = (uint32_t)dynamic_number_of("ASCOPE_DYNAMIC_POLL_MS", 0);
    d->kind = &config_kinds[d->setup.kind];
    return true;
}

static bool take_place(struct dynamic *d, struct error *e)
{
    char log[PATH_MAX];
    struct watch *const w = &d->watch;
    if (!config_dir_make(d->setup.path, e))
        return false;
    if (!realpath(d->setup.path, w->dir) ||
        snprintf(w->file, sizeof w->file, "%s/" CONFIG_FILE_NAME, w->dir) >= (int)sizeof w->file ||
        snprintf(log, sizeof log, "%s/log", w->dir) >= (int)sizeof log)
        return error_set(e, FAULT_IO, "%.200s: the path is too long", d->setup.path);
    return !d->kind->logs || config_dir_make(log, e);
}

/* Reports problems of the directory and of the file in it. */
static void report_place(struct dynamic *d)
{
    const char *const path = d->setup.path;
    struct stat st;
    if (!config_path_is_plain(path))
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING,
            "%s has other characters than letters, digits, _ and -; used all the same", path);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING, "%s is a soft link; used all the same", path);
    if (access(d->watch.file, F_OK) == 0 && access(d->watch.file, R_OK | W_OK) != 0)
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "%s cannot be read and written; change its mode: chmod u+rw %s",
            d->watch.file, d->watch.file);
}

static void write_template(struct dynamic *d)
{
    struct error e = { 0 };
    bool is_new;
    if (!config_file_create(d->watch.file, d->kind->template_text, &is_new, &e))
        say(d, TO_LOG | TO_USER, ASCOPE_ERROR, "no template: %s", e.text);
    else if (is_new)
        say(d, TO_LOG, ASCOPE_INFO, "created the template %s", d->watch.file);
}

static void take_slot(struct dynamic *d)
{
    struct board_rank *const r = &d->watch.board.mine;
    r->pid = (int32_t)getpid();
    r->rank = d->watch.rank;
    r->state = ASCOPE_DYNAMIC_IDLE;
    r->group = dynamic_group_of(d, d->watch.rank);
    r->world_size = d->setup.world_size ? d->setup.world_size : (uint64_t)dynamic_number_of("WORLD_SIZE", 0);
    board_show(&d->watch.board);
    hot.shown = &d->watch.board.slot->step;
    atomic_store(hot.shown, hot.step);
}

static bool listen(struct dynamic *d, struct error *e)
{
    struct error why = { 0 };
    d->log = (struct dynamic_log)DYNAMIC_LOG_CLOSED;
    d->watch.rank = rank_of(d);
    d->watch.poll_ms = d->setup.poll_ms ? d->setup.poll_ms : POLL_MS;
    d->watch.notify = notify;
    if (!take_place(d, e))
        return false;
    if (d->kind->logs)
        dynamic_log_open(&d->log, d->watch.dir, "dp", d->watch.rank);
    report_place(d);
    write_template(d);
    if (!watch_start(&d->watch, d->kind, &why, e)) {
        dynamic_log_close(&d->log);
        return false;
    }
    if (d->watch.board.is_private)
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING,
            "nothing is shared with other ranks: %s; this process watches the file by itself", why.text);
    else
        say(d, TO_LOG, ASCOPE_INFO, "listens to %s; shared memory: %s%s%s", d->watch.file, d->watch.board.path,
            *why.text ? "; " : "", why.text);
    return true;
}

bool ascope_dynamic_init(const struct ascope_dynamic_setup *setup, struct ascope_error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct error why = { 0 };
    if (here) {
        say(here, TO_LOG | TO_USER, ASCOPE_WARNING, "init() is ignored: it was called before");
        return true;
    }
    struct dynamic *const d = calloc(1, sizeof *d);
    if (!d)
        return dynamic_fail(e, no_memory_text());
    if (!take_setup(d, setup, e)) {
        free(d);
        return false;
    }
    pthread_once(&once, prepare);
    if (!listen(d, &why)) {
        free(d);
        return dynamic_fail(e, why.text);
    }
    take_slot(d);
    d->retime_at = d->kind->retimes && !d->setup.poll_ms ? hot.step + RETIME_CALLS : 0;
    here = d;
    settle(d);
    return true;
}

void ascope_dynamic_end(void)
{
    struct dynamic *const d = here;
    if (!d)
        return;
    if (d->is_running) {
        say(d, TO_LOG | TO_USER, ASCOPE_WARNING,
            "the job ends while step %lld is profiled, %lld steps before the collection would; check active and "
            "start_step",
            (long long)hot.step, (long long)d->remaining);
        dynamic_finish(d, true);
    }
    drop_waiting(d);
    here = NULL;
    hot.shown = &nobody;
    const bool is_stopped = watch_stop(&d->watch);
    atomic_store(&hot.attention, 0);
    dynamic_log_close(&d->log);
    if (is_stopped)
        free(d);
}
