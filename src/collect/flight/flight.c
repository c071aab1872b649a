/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/flight.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ascope/mark.h"
#include "ascope/record.h"
#include "base/process/background.h"
#include "collect/describe/json_text.h"
#include "collect/describe/recording_files.h"
#include "collect/flight/flight_parts.h"
#include "collect/monitor/monitor_steps.h"
#include "collect/options/options.h"
#include "collect/options/sized.h"
#include "collect/session/message.h"
#include "collect/session/place.h"

enum { LOOK_MS = 250, PERMILLE_MOST = 1000000000 };
static const uint64_t SECOND_NS = 1000000000, KEEP_NS = 30 * UINT64_C(1000000000), KEEP_LEAST_NS = 1000000,
                      BETWEEN_NS = 60 * UINT64_C(1000000000), DESCRIBE_NS = 10 * UINT64_C(1000000000);
static const uint64_t MEMORY_BYTES = UINT64_C(256) << 20, MEMORY_LEAST = UINT64_C(1) << 20;

struct slow_step {
    uint64_t number, ns, median_ns; /* ns 0: none */
};

static struct {
    pthread_mutex_t lock;           /* guards the session and a save; recording threads never take it */
    struct ascope_session *session; /* NULL: none */
    struct flight_store store;
    struct ascope_flight how;
    struct flight_clocks clocks;
    uint64_t clocks_ns, described_ns,
        saved_ns; /* times of the last reading, description, and save of a slow step (0: never) */
    uint64_t n_skipped;
    char facts[240];

    pthread_t thread;
    bool has_thread;
    _Atomic uint32_t wakes; /* a futex: the program may close descriptors */
    _Atomic bool ends;
    _Atomic int signals; /* number of a signal that has arrived; 0: none */
    struct sigaction signal_was;
    bool has_signal;
    _Atomic uint32_t slow_permille;                     /* of the median; 0: none is slow */
    char listen_dir[PATH_MAX], listens[PATH_MAX + 320]; /* the file that names the home; "": none */

    struct ascope_options paused; /* of a recorder that has given way to another session */
    bool is_paused;

    pthread_mutex_t slow_lock;
    struct slow_step slow;
    char saved_path[PATH_MAX];
    uint64_t n_saves;

    /* of the thread that counts steps */
    struct flight_steps steps;
    uint64_t step, step_began_ns, mark;
    struct ascope_op range;
    char range_name[40];
    _Atomic bool is_on;
} f = { .lock = PTHREAD_MUTEX_INITIALIZER, .slow_lock = PTHREAD_MUTEX_INITIALIZER };

/* May be called in a signal handler. */
static void wake(void)
{
    atomic_fetch_add(&f.wakes, 1);
    syscall(SYS_futex, &f.wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- saving ---- */

static bool save_locked(uint64_t last_ns, const char *trigger, char path[PATH_MAX], struct error *e)
{
    const struct flight_saving of = { .home = f.session,
                                      .clocks = &f.clocks,
                                      .last_ns = last_ns > 0 && last_ns < f.how.keep_ns ? last_ns : f.how.keep_ns,
                                      .trigger = trigger,
                                      .n_skipped = f.n_skipped };
    if (!flight_save(&of, path, e))
        return false;
    f.n_skipped = 0;
    pthread_mutex_lock(&f.slow_lock);
    memcpy(f.saved_path, path, sizeof f.saved_path);
    f.n_saves++;
    pthread_mutex_unlock(&f.slow_lock);
    return true;
}

static void save_by_itself(const char *trigger)
{
    struct error e = { 0 };
    char path[PATH_MAX];
    if (save_locked(0, trigger, path, &e))
        message(ASCOPE_WARNING, "flight recorder: %s: saved to %s", trigger,
                path); /* no caller gets the path: the message has it */
    else
        message(ASCOPE_ERROR, "flight recorder: %s: not saved: %s", trigger, e.text);
}

static void requests_look(void)
{
    struct flight_request r;
    struct error e = { 0 };
    char path[PATH_MAX] = "";
    if (!flight_request_take(f.session->path, &r))
        return;
    if (r.what == FLIGHT_WHEN)
        atomic_store(&f.slow_permille, r.value < PERMILLE_MOST ? (uint32_t)r.value : PERMILLE_MOST);
    const bool is_done = r.what == FLIGHT_WHEN || save_locked(r.value, "request", path, &e);
    flight_request_answer(f.session->path, &r, is_done, is_done ? path : e.text);
}

static void signal_look(void)
{
    const int number = atomic_exchange(&f.signals, 0);
    char trigger[40];
    snprintf(trigger, sizeof trigger, "signal %d", number);
    if (number != 0)
        save_by_itself(trigger);
}

static void slow_look(void)
{
    char trigger[120];
    const uint64_t now_ns = host_clock_raw_ns();
    pthread_mutex_lock(&f.slow_lock);
    const struct slow_step slow = f.slow;
    f.slow.ns = 0;
    pthread_mutex_unlock(&f.slow_lock);
    if (slow.ns == 0)
        return;
    if (f.saved_ns != 0 && now_ns - f.saved_ns < f.how.between_ns) {
        f.n_skipped++;
        return;
    }
    snprintf(trigger, sizeof trigger, "slow step %llu: %.3f ms, median %.3f ms", (unsigned long long)slow.number,
             (double)slow.ns / 1e6, (double)slow.median_ns / 1e6);
    save_by_itself(trigger);
    f.saved_ns = now_ns;
}

/* ---- its thread ---- */

/* Writes the description again, so that a killed program leaves clock readings from the begin of the window, or a
 * little earlier. */
static void home_describe(uint64_t now_ns)
{
    struct error e = { 0 };
    const uint64_t begin_ns = f.clocks.first.mono_raw_ns;
    f.described_ns = now_ns;
    flight_clocks_set(&f.clocks, f.session, now_ns - begin_ns > f.how.keep_ns ? now_ns - f.how.keep_ns : begin_ns);
    writer_began(&f.session->first);
    if (!info_begin(f.session, &e) || !session_describe(f.session, &e))
        message(ASCOPE_WARNING, "flight recorder: %s", e.text);
}

/* Reads the clocks when they are due. True: the description has to be written again. */
static bool clocks_look(uint64_t now_ns)
{
    struct error e = { 0 };
    if (now_ns - f.clocks_ns < f.how.keep_ns / (FLIGHT_READINGS / 2))
        return false;
    f.clocks_ns = now_ns;
    if (!session_devices(f.session, &e) || !flight_clocks_read(&f.clocks, f.session, &e))
        message(ASCOPE_WARNING, "flight recorder: %s", e.text);
    const uint64_t third_ns = f.how.keep_ns / 3, describe_ns = third_ns < DESCRIBE_NS ? third_ns : DESCRIBE_NS;
    return now_ns - f.described_ns >= (describe_ns > SECOND_NS ? describe_ns : SECOND_NS);
}

static bool is_asked(void)
{
    pthread_mutex_lock(&f.slow_lock);
    const bool is_slow = f.slow.ns > 0;
    pthread_mutex_unlock(&f.slow_lock);
    return is_slow || atomic_load(&f.signals) != 0 || flight_request_waits(f.session->path);
}

/* Does everything that needs files. It runs on a thread with its own descriptors, which the program cannot close. */
static void asked_do(void *describes_at_ns)
{
    const uint64_t at_ns = *(const uint64_t *)describes_at_ns;
    messages_hold();
    if (at_ns > 0)
        home_describe(at_ns);
    signal_look();
    slow_look();
    requests_look();
}

/* Readings of devices are the vendor's code, which needs the program's descriptors. */
static void flight_look(void)
{
    const uint64_t now_ns = host_clock_raw_ns();
    uint64_t describes_at_ns = clocks_look(now_ns) ? now_ns : 0;
    if (describes_at_ns > 0 || is_asked())
        background_apart(asked_do, &describes_at_ns);
    messages_pass();
}

static void *flight_main(void *unused)
{
    (void)unused;
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000 };
    bool ends = false; /* once more after that: what was asked for before is done */
    for (uint32_t seen = 0; !ends;) {
        syscall(SYS_futex, &f.wakes, FUTEX_WAIT_PRIVATE, seen, &look, NULL, 0);
        /* read before the requests are examined: a later request changes the value and ends the next wait */
        seen = atomic_load(&f.wakes);
        ends = atomic_load(&f.ends);
        pthread_mutex_lock(&f.lock);
        flight_look();
        pthread_mutex_unlock(&f.lock);
    }
    return NULL;
}

static bool flight_thread_start(struct error *e)
{
    atomic_store(&f.ends, false);
    const int why = background_thread(&f.thread, "ascope-flight", flight_main, NULL);
    f.has_thread = why == 0;
    return f.has_thread || error_set(e, FAULT_LIMIT, "flight recorder: cannot create its thread: %s", strerror(why));
}

/* ---- signals ---- */

static void on_signal(int number)
{
    const int errno_was = errno;
    atomic_store(&f.signals, number);
    wake();
    errno = errno_was;
}

static bool signal_take(struct error *e)
{
    struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    const int number = f.how.signal;
    if (number == 0)
        return true;
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, &f.signal_was) != 0)
        return error_set(e, FAULT_ASKED, "signal %d: %s", number, strerror(errno));
    if ((f.signal_was.sa_flags & SA_SIGINFO) ||
        (f.signal_was.sa_handler != SIG_DFL && f.signal_was.sa_handler != SIG_IGN))
        return error_set(e, FAULT_ASKED, "signal %d: the program has a handler for it; choose another one", number);
    f.has_signal = sigaction(number, &ours, NULL) == 0;
    return f.has_signal || error_set(e, FAULT_ASKED, "signal %d: %s", number, strerror(errno));
}

/* ---- start, pause, stop ---- */

/* Removes the session and its directories. */
static void flight_end(struct ascope_session *s)
{
    atomic_store(&f.is_on, false);
    if (*f.listens)
        unlink(f.listens);
    *f.listens = '\0';
    if (f.has_signal)
        sigaction(f.how.signal, &f.signal_was, NULL);
    f.has_signal = false;
    atomic_store(&f.ends, true);
    wake();
    if (f.has_thread)
        pthread_join(f.thread, NULL);
    f.has_thread = false;
    pthread_mutex_lock(&f.lock);
    f.session = NULL;
    ascope_session_discard(s);
    pthread_mutex_unlock(&f.lock);
}

static void forget_in_child(void)
{
    pthread_mutex_init(&f.lock, NULL);
    pthread_mutex_init(&f.slow_lock, NULL);
    atomic_store(&f.is_on, false);
    if (f.has_signal)
        sigaction(f.how.signal, &f.signal_was, NULL);
    f.has_signal = false;
    f.has_thread = false;
    f.session = NULL;
    f.is_paused = false;
    *f.listens = '\0';
}

static bool session_begin(const struct ascope_options *o, struct error *e)
{
    struct ascope_error text = { "" };
    struct ascope_options mine;
    ascope_options_init(&mine);
    if (o && !sized_over(&mine, sizeof mine, o))
        return error_set(e, FAULT_ASKED, "options of %u bytes: call ascope_options_init()", o->size);
    mine.size = sizeof mine;
    if (mine.record_op_args) {
        message(ASCOPE_WARNING, "record_op_args: not supported by the flight recorder; nothing of it is recorded");
        mine.record_op_args = false;
    }
    f.store = (struct flight_store){ .limit_bytes = f.how.memory_bytes, .keep_ns = f.how.keep_ns };
    f.session = session_new_for(&(struct session_target){ .flight = &f.store }, &mine, false, &text);
    if (!f.session)
        return error_set(e, FAULT_IO, "%s", text.text);
    const struct clock_reading now = host_clock_read();
    snprintf(f.facts, sizeof f.facts,
             "{\"keep_ns\": %llu, \"memory_bytes\": %llu, \"began_unix_ns\": %llu, \"began_raw_ns\": %llu}",
             (unsigned long long)f.how.keep_ns, (unsigned long long)f.how.memory_bytes, (unsigned long long)now.wall_ns,
             (unsigned long long)now.mono_raw_ns);
    f.session->flight_facts = f.facts;
    f.clocks.n = 0;
    return (ascope_session_start(f.session, &text) || error_set(e, FAULT_IO, "%s", text.text)) &&
           flight_clocks_read(&f.clocks, f.session, e);
}

static void step_begin(void)
{
    f.step_began_ns = host_clock_raw_ns();
    snprintf(f.range_name, sizeof f.range_name, "ProfilerStep#%llu", (unsigned long long)f.step);
    f.mark =
        ascope_range_begin(NULL, f.range_name, ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_current_stream() : NULL);
    ascope_op_begin(&f.range, f.range_name);
    f.range.scope = ASCOPE_SCOPE_USER;
}

/* Writes a file that names the home, for `ascope dyn DIR`. A directory that cannot be written is only reported. */
static void listen_begin(void)
{
    struct error e = { 0 };
    char host[HOST_NAME_MAX + 1] = "", text[PATH_MAX + 1];
    if (!*f.listen_dir)
        return;
    gethostname(host, sizeof host - 1);
    snprintf(f.listens, sizeof f.listens, "%s/" FLIGHT_LISTENS "%s_%d", f.listen_dir, host, (int)getpid());
    const int n = snprintf(text, sizeof text, "%.*s\n", PATH_MAX - 1, f.session->path);
    if (place_file(f.listens, text, (size_t)n, 0, &e))
        return;
    message(ASCOPE_WARNING, "flight recorder: %s", e.text);
    *f.listens = '\0';
}

static bool flight_begin(const struct ascope_options *o, struct error *e)
{
    f.clocks_ns = f.described_ns = host_clock_raw_ns();
    f.steps = (struct flight_steps){ 0 };
    f.slow = (struct slow_step){ 0 };
    atomic_store(&f.signals, 0); /* of a handler that came too late for the recorder before */
    if (session_begin(o, e) && flight_thread_start(e) && signal_take(e)) {
        listen_begin();
        atomic_store(&f.is_on, true);
        step_begin();
        return true;
    }
    if (f.session)
        flight_end(f.session);
    return false;
}

static void flight_pause(void)
{
    struct error e = { 0 };
    if (!options_take(&f.paused, &f.session->o, &e))
        return; /* out of memory: the other session is refused */
    message(ASCOPE_INFO, "flight recorder: paused while another session is open; its history then starts anew");
    flight_end(f.session);
    f.is_paused = true;
}

static void flight_resume(void)
{
    struct error e = { 0 };
    if (!f.is_paused)
        return;
    f.is_paused = false;
    if (!flight_begin(&f.paused, &e))
        message(ASCOPE_ERROR, "flight recorder: stopped: %s", e.text);
    options_fini(&f.paused);
}

static void prepare_once(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
    session_flight_hooks(&(struct flight_hooks){ flight_end, flight_pause, flight_resume });
}

static bool how_take(const struct ascope_flight *how, struct error *e)
{
    f.how = (struct ascope_flight){ .size = sizeof f.how };
    if (how && !sized_copy(&f.how, sizeof f.how, how))
        return error_set(e, FAULT_ASKED, "flight recorder of %u bytes: set its size to sizeof(struct ascope_flight)",
                         how->size);
    if (f.how.slow_step != 0 && !(f.how.slow_step > 1 && f.how.slow_step < 1e5))
        return error_set(e, FAULT_ASKED,
                         "slow_step: invalid value %g; use a number above 1, such as 1.5, or 0 for none",
                         f.how.slow_step);
    f.listen_dir[0] = '\0';
    const char *const listen_dir = f.how.listen_dir ? f.how.listen_dir : secure_getenv("PROF_CONFIG_PATH");
    if (listen_dir && strlen(listen_dir) < sizeof f.listen_dir)
        strcpy(f.listen_dir, listen_dir);
    f.how.listen_dir = NULL;
    atomic_store(&f.slow_permille, (uint32_t)(f.how.slow_step * 1000 + 0.5));
    f.how.keep_ns = f.how.keep_ns == 0 ? KEEP_NS : f.how.keep_ns < KEEP_LEAST_NS ? KEEP_LEAST_NS : f.how.keep_ns;
    f.how.between_ns = f.how.between_ns == 0 ? BETWEEN_NS : f.how.between_ns;
    f.how.memory_bytes = f.how.memory_bytes == 0             ? MEMORY_BYTES
                         : f.how.memory_bytes < MEMORY_LEAST ? MEMORY_LEAST
                                                             : f.how.memory_bytes;
    return true;
}

bool ascope_flight_start(const struct ascope_options *o, const struct ascope_flight *how, struct ascope_error *to)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct error e = { 0 };
    pthread_once(&once, prepare_once);
    if (f.session || f.is_paused) {
        error_set(&e, FAULT_ASKED, "flight recorder: already running; stop it first");
        return error_pass(&e, to);
    }
    if (!how_take(how, &e))
        return error_pass(&e, to);
    f.saved_ns = f.n_skipped = f.n_saves = f.step = 0;
    *f.saved_path = '\0';
    flight_begin(o, &e);
    return error_pass(&e, to);
}

static bool is_running(struct error *e)
{
    return f.session || error_set(e, FAULT_ASKED,
                                  f.is_paused ? "flight recorder: paused while another session is open"
                                              : "flight recorder: none is running");
}

bool ascope_flight_save(uint64_t last_ns, const char *trigger, char *path, size_t path_bytes, struct ascope_error *to)
{
    struct error e = { 0 };
    char saved[PATH_MAX] = "";
    pthread_mutex_lock(&f.lock);
    if (is_running(&e))
        save_locked(last_ns, trigger ? trigger : "call", saved, &e);
    pthread_mutex_unlock(&f.lock);
    if (path && path_bytes > 0)
        snprintf(path, path_bytes, "%s", e.fault == FAULT_NONE ? saved : "");
    return error_pass(&e, to);
}

bool ascope_flight_metadata(const char *key, const char *json, struct ascope_error *to)
{
    struct error e = { 0 };
    struct ascope_error text = { "" };
    pthread_mutex_lock(&f.lock);
    if (is_running(&e) && !ascope_metadata_json(f.session, key, json, &text))
        error_set(&e, FAULT_ASKED, "%s", text.text);
    pthread_mutex_unlock(&f.lock);
    return error_pass(&e, to);
}

void ascope_flight_step(void)
{
    monitor_step(BY_FLIGHT, -1);
    if (!atomic_load_explicit(&f.is_on, memory_order_acquire))
        return;
    ascope_op_end(&f.range);
    ascope_range_end(NULL, f.mark);
    const uint64_t ns = host_clock_raw_ns() - f.step_began_ns, median_ns = flight_steps_median(&f.steps);
    const uint32_t permille = atomic_load_explicit(&f.slow_permille, memory_order_relaxed);
    if (permille > 0 && median_ns > 0 && (double)ns * 1000 > (double)permille * (double)median_ns) {
        pthread_mutex_lock(&f.slow_lock);
        /* replaces a slow step that was not handled yet: one save contains both */
        f.slow = (struct slow_step){ f.step, ns, median_ns };
        pthread_mutex_unlock(&f.slow_lock);
        wake();
    }
    flight_steps_add(&f.steps, ns);
    f.step++;
    step_begin();
}

uint64_t ascope_flight_saves(char *path, size_t path_bytes)
{
    pthread_mutex_lock(&f.slow_lock);
    const uint64_t n = f.n_saves;
    if (path && path_bytes > 0)
        snprintf(path, path_bytes, "%s", f.saved_path);
    pthread_mutex_unlock(&f.slow_lock);
    return n;
}

const char *ascope_flight_path(void)
{
    return f.session ? f.session->path : NULL;
}

bool ascope_flight_stop(struct ascope_error *to)
{
    struct error e = { 0 };
    if (f.is_paused)
        options_fini(&f.paused);
    else if (is_running(&e))
        flight_end(f.session);
    f.is_paused = false;
    return error_pass(&e, to);
}
