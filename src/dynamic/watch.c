/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files/kept.h"
#include "base/process/background.h"

#define STOP_WAIT_NS   INT64_C(5000000000) /* for a thread that waits for a file system */
#define OPEN_WAIT_NS   INT64_C(2000000000) /* for ranks that do not run */
#define OPEN_LOOK_NS   INT64_C(1000000)
#define SPREAD_S       0.25 /* for the owner to read all steps and store one, even if it loses its CPU meanwhile */
#define HOSTS_SPREAD_S 1.0  /* until a shared file system shows a change, in addition to the interval of looking */

static int64_t now_ns(void)
{
    return (int64_t)steady_ns();
}

__attribute__((format(printf, 3, 4))) static void log_line(struct watch *w, enum ascope_severity severity,
                                                           const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    dynamic_log_add(&w->log, severity, text);
}

/* ---- the owner ---- */

/* Measures how many steps per second the fastest rank makes, between two looks. */
static void sample(struct watch *w, const struct board_rank *rank, size_t n)
{
    const int64_t now = now_ns();
    int64_t top = 0;
    for (size_t i = 0; i < n; i++)
        top = rank[i].step > top ? rank[i].step : top;
    if (now - w->sample_ns < 1000000) /* too short to say anything */
        return;
    if (top >= w->sample_step)
        w->steps_per_s = (double)(top - w->sample_step) / ((double)(now - w->sample_ns) * 1e-9);
    w->sample_ns = now;
    w->sample_step = top;
}

static struct agreement agreement_of(struct watch *w, uint64_t id)
{
    return (struct agreement){ .config_dir = w->dir,
                               .id = id,
                               .steps_per_s = w->steps_per_s,
                               .spread_s = SPREAD_S,
                               .hosts_spread_s = HOSTS_SPREAD_S + atomic_load(&w->poll_ms) * 1e-3 };
}

static bool is_open(const struct watch *w, unsigned slot)
{
    uint64_t id;
    return board_offer(&w->board, slot, &id).step == OFFER_OPEN && id == board_newest(&w->board);
}

/* Chooses the step for ranks that wait for one, once all of them have got the request. */
static void watch_choose(struct watch *w)
{
    unsigned slot[BOARD_RANKS];
    struct board_offer offer[BOARD_RANKS];
    struct board_news news;
    struct config c;
    struct error e = { 0 };
    const size_t n = board_listeners(&w->board, w->ranks, slot);
    const uint64_t id = board_newest(&w->board);
    for (size_t i = 0; i < n; i++)
        if (is_open(w, slot[i]) && w->ranks[i].delivered_id != id && now_ns() < w->open_until)
            return;
    w->is_open = false;
    if (!board_take(&w->board, &(uint64_t){ 0 }, &news))
        return;
    if (config_read(&c, w->board.kind, news.text, news.n, false, NULL, NULL, &e)) {
        const struct agreement a = agreement_of(w, id);
        agreement_make(&a, &c, w->ranks, slot, n, true, offer);
        config_fini(&c);
        for (size_t i = 0; i < n; i++)
            if (is_open(w, slot[i]))
                board_offer_set(&w->board, slot[i], id, offer[slot[i]]);
    }
    free(news.text);
}

static void publish(struct watch *w, const struct config_text *t, struct board_rank *rank, const unsigned *slot,
                    size_t n)
{
    struct error e = { 0 };
    struct config c;
    struct board_offer offer[BOARD_RANKS] = { 0 };
    const size_t size = (size_t)t->stamp.size;
    const struct agreement a = agreement_of(w, board_id(t->text, size, t->stamp.mtime_ns));
    w->is_open = false;
    if (!config_read(&c, w->board.kind, t->text, size, false, NULL, NULL, &e)) {
        log_line(w, ASCOPE_ERROR, "Dynamic profiler process load json failed, %s: %s has occur!", w->file, e.text);
        board_publish(&w->board, t->text, size, a.id, &t->stamp, offer); /* each rank reports it */
        return;
    }
    agreement_make(&a, &c, rank, slot, n, false, offer);
    config_fini(&c);
    for (size_t i = 0; i < n; i++)
        w->is_open |= offer[slot[i]].step == OFFER_OPEN;
    w->open_until = now_ns() + OPEN_WAIT_NS;
    if (t->stamp.is_link)
        log_line(w, ASCOPE_WARNING, "%s is a soft link; used all the same", w->file);
    log_line(w, ASCOPE_INFO, "Dynamic profiler process load json success");
    board_publish(&w->board, t->text, size, a.id, &t->stamp, offer);
}

static void report_unread(struct watch *w, int why, const struct error *e)
{
    if (why == ENOENT)
        log_line(w, ASCOPE_ERROR, "Dynamic profiler cfg json not exists: %s", w->file);
    else
        log_line(w, ASCOPE_ERROR, "Dynamic profiler process load json failed, %s has occur!", e->text);
}

/* A file that was missing or unreadable for a while and then is the same as before is no new request. */
static bool watch_is_same(const struct config_stamp *a, struct config_stamp b)
{
    b.why = a->why;
    return config_stamp_equal(a, &b);
}

/* Writes the status file for `ascope dyn` on other hosts. */
static void show_to_hosts(const struct watch *w, size_t n)
{
    uint64_t world = 0;
    for (size_t i = 0; i < n; i++)
        world = w->ranks[i].world_size > world ? w->ranks[i].world_size : world;
    if (world > n)
        host_status_write(w->dir, atomic_load(&w->poll_ms), w->ranks, n);
}

/* One look at the file. */
static void watch_look(struct watch *w)
{
    unsigned slot[BOARD_RANKS];
    struct config_text t;
    struct config_stamp before;
    struct error e = { 0 };
    bool is_torn;
    const bool was_seen = board_seen(&w->board, &before, &is_torn);
    /* No owner has looked before: the file is from before the job. */
    const bool is_first = !was_seen && !is_torn && !w->board.kind->counts_old_file;
    const bool is_read = config_text_read(&t, w->file, &e);
    const size_t n = board_listeners(&w->board, w->ranks, slot);
    sample(w, w->ranks, n);
    board_poll_set(&w->board, atomic_load(&w->poll_ms));
    if (!is_read) {
        const int why = t.stamp.why;
        if (was_seen)
            t.stamp = before;
        t.stamp.why = why;
        if (!was_seen || before.why != why)
            report_unread(w, why, &e);
    }
    if (is_read && !is_first && !(was_seen && watch_is_same(&t.stamp, before)))
        publish(w, &t, w->ranks, slot, n);
    else if (!was_seen || !config_stamp_equal(&t.stamp, &before))
        board_see(&w->board, &t.stamp);
    show_to_hosts(w, n);
    config_text_fini(&t);
}

static void become_owner(struct watch *w)
{
    if (w->board.kind->logs)
        dynamic_log_open(&w->log, w->dir, "monitor_dp", w->rank);
    w->look_at = 0;
    w->is_open = true; /* the owner before may have ended before it chose a step */
    w->open_until = now_ns() + OPEN_WAIT_NS;
}

/* ---- the thread ---- */

void news_free(struct board_news *n)
{
    if (n)
        free(n->text);
    free(n);
}

static void deliver(struct watch *w)
{
    struct board_news *const n = malloc(sizeof *n);
    if (!n || !board_take(&w->board, &w->serial, n)) {
        free(n);
        return;
    }
    const uint64_t id = n->id;               /* the other thread may free it at once */
    news_free(atomic_exchange(&w->mail, n)); /* of several changes the last one is left */
    w->notify(w->user);
    board_delivered(&w->board, id);
}

/* Opens everything again among descriptors of its own: the program may close its own ones at any moment. It calls
 * nobody else's code; notify() only stores. */
static void *watch_run(void *of)
{
    struct watch *const w = of;
    descriptors_apart();
    while (!atomic_load(&w->quits)) {
        const int64_t interval_ns = (int64_t)atomic_load(&w->poll_ms) * 1000000, now = now_ns();
        const uint32_t news = board_news(&w->board);
        if (!w->board.is_owner && board_own(&w->board)) {
            become_owner(w);
            log_line(w, ASCOPE_INFO, "The process that watched the file has ended; this one continues");
        }
        if (w->board.is_owner && now >= w->look_at) {
            watch_look(w);
            w->look_at = now + interval_ns;
        }
        deliver(w);
        if (w->is_open)
            watch_choose(w);
        if (!atomic_load(&w->quits))
            board_wait(&w->board, news, w->is_open ? OPEN_LOOK_NS : w->board.is_owner ? w->look_at - now : interval_ns);
    }
    return NULL;
}

struct board_news *watch_take(struct watch *w)
{
    return atomic_exchange(&w->mail, NULL);
}

bool watch_start(struct watch *w, const struct config_kind *kind, struct error *why, struct error *e)
{
    w->log = (struct dynamic_log)DYNAMIC_LOG_CLOSED;
    w->ranks = calloc(BOARD_RANKS, sizeof *w->ranks);
    if (!w->ranks || !board_join(&w->board, kind, w->dir, why)) {
        free(w->ranks);
        return error_no_memory(e, "dynamic_profile");
    }
    w->serial = kind->counts_old_file ? 0 : board_serial(&w->board);
    w->sample_ns = now_ns();
    if (board_own(&w->board)) {
        become_owner(w);
        watch_look(w);
        w->look_at = now_ns() + (int64_t)atomic_load(&w->poll_ms) * 1000000;
    }
    kept_close(&w->board.file); /* the thread opens its own */
    kept_close(&w->log.file);
    w->has_thread = background_thread(&w->thread, "DynMonitorProc", watch_run, w) == 0;
    if (w->has_thread)
        return true;
    board_leave(&w->board);
    dynamic_log_close(&w->log);
    free(w->ranks);
    return error_no_memory(e, "a thread of dynamic_profile");
}

bool watch_stop(struct watch *w)
{
    const int64_t until = now_ns() + STOP_WAIT_NS;
    atomic_store(&w->quits, true);
    board_wake(&w->board);
    while (w->has_thread && pthread_tryjoin_np(w->thread, NULL) != 0) {
        if (now_ns() > until) {
            pthread_detach(w->thread);
            return false;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    }
    if (w->board.is_owner)
        log_line(w, ASCOPE_INFO, "Dynamic profiler process done");
    if (w->board.is_owner)
        host_status_remove(w->dir); /* another process of this host writes it again */
    board_leave(&w->board);
    dynamic_log_close(&w->log);
    news_free(watch_take(w));
    free(w->ranks);
    return true;
}
