/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/writer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/kept.h"
#include "base/process/background.h"
#include "base/text/path_name.h"
#include "collect/ring/ring.h"
#include "collect/ring/rings_left.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/session/recording.h"
#include "collect/write/outputs.h"

enum { PAUSE_LEAST_NS = 1000000, PAUSE_MOST_NS = 8 * PAUSE_LEAST_NS, HURRY_PERCENT = 25, WRITER_NICE = -10 };
static const uint64_t CHECK_NS = 250000000; /* how often the writer checks that the directories still exist */
static const uint64_t CLOCK_NS =
    100000000; /* how often it reads both clocks: over this time the first estimate of the frequency is off by 1 us */

static struct {
    struct outputs outputs;
    struct writer_options options;
    char framework_dir[PATH_MAX], prof_dir[PATH_MAX];
    uint64_t tail[RINGS_MOST][RING_LANES];
    bool is_short; /* a ring could not grow: tried again with the next check of the directories */
    uint32_t n_rings;
    uint64_t looked_ns, lag_ns, lag_most_ns; /* the last one, the longest one */
    uint64_t checked_ns, clock_ns;
    uint32_t fill_most_percent;
    struct error gone;
    bool reported_disk, reported_rings, reported_gone, committed_keeps;
    uint64_t n_commits;

    pthread_t thread, voice;
    bool runs, has_voice;
    bool has_stopped;     /* writer_leave() has to end it */
    pthread_mutex_t lock; /* of the fields below; recording threads never take it */
    pthread_cond_t wake, woken;
    uint64_t asked, answered; /* numbers of passes that were requested and completed */
    bool keeps, ends;
    struct clock_reading began;
    struct flight_state flight;
    struct writer_tally tally; /* counts of the last pass, without those that the rings keep */
    struct error wrong;        /* the first error of the files or of the rings */
} w = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- one look at all rings ---- */

/* A flight recorder keeps the bytes as they are in the ring. */
static void run_keep(uint32_t ring, unsigned lane, uint64_t from, uint64_t to)
{
    const uint64_t size = rings.layout.lane_bytes[lane];
    if (w.options.flight && from != to)
        flight_store_run(w.options.flight, ring, lane, from, rings_lane(ring, lane) + (from & (size - 1)), to - from);
}

/* Takes all records of a lane: how full it was, in percent, at least 1 if there was a record. A record whose check is
 * wrong was changed by somebody else: it is not written, and the session ends. */
static uint32_t lane_take(uint32_t ring, unsigned lane, bool keeps)
{
    struct ring_shared *shared = rings_shared(ring);
    const uint64_t size = rings.layout.lane_bytes[lane];
    const uint64_t head =
        atomic_load_explicit(&shared->lane[lane].head, memory_order_acquire); /* the bytes before it */
    const uint8_t *data = rings_lane(ring, lane);
    const uint64_t seed = lane_seed(rings.id, ring, lane);
    const uint64_t n = head - w.tail[ring][lane];
    if (n == 0)
        return 0;
    if (n > size) {
        rings_end_early();
        return 0;
    }
    const uint32_t percent = (uint32_t)(n * 99 / size) + 1;
    uint64_t tail = w.tail[ring][lane], run = tail; /* begin of the current run of adjacent records */
    while (tail != head) {
        const uint8_t *at = data + (tail & (size - 1));
        struct record_head record;
        memcpy(&record, at, sizeof record);
        const size_t room = record_room(record_bytes(record));
        if (room > head - tail || (record.stream >= STREAM_KINDS && record.stream != RECORD_SKIP) ||
            record.check != record_check(at, head_kind(record), seed, tail)) {
            rings_end_early();
            break;
        }
        if (record.stream == RECORD_SKIP) {
            run_keep(ring, lane, run, tail);
            run = tail = (tail | (size - 1)) + 1;
            if (head - tail > size) { /* the tail is behind the head: the file was changed by another process */
                rings_end_early();
                break;
            }
            continue;
        }
        if (w.options.flight)
            flight_store_note(w.options.flight, record, at + RECORD_HEAD);
        else if (!output_exists(record.stream, record.device))
            w.outputs.dropped[record.stream]++;
        else if (keeps || stream_table[record.stream].lasts)
            outputs_put(&w.outputs, record, at + RECORD_HEAD);
        tail += room;
    }
    run_keep(ring, lane, run, tail);
    w.tail[ring][lane] = head;
    if (percent > w.fill_most_percent)
        w.fill_most_percent = percent;
    return percent;
}

/* Keeps ahead of a thread that records: a first touch costs it a microsecond, and room that it has to get itself
 * more. */
static void lane_keep_ahead(uint32_t ring)
{
    enum { AHEAD = 4 }; /* the lane has room for this many times what was recorded so far */
    const uint64_t size = rings.layout.lane_bytes[0], used = w.tail[ring][0];
    const uint64_t wanted = used < size / AHEAD ? AHEAD * used : size;
    struct ring_shared *const shared = rings_shared(ring);
    uint64_t grown = lane_grown(shared, 0, size);
    if (grown >= wanted || w.is_short)
        return;
    while (grown < wanted)
        grown = 2 * grown > wanted ? 2 * grown : wanted;
    w.is_short = !lane_grow(shared, 0, rings_lane(ring, 0), size, grown);
}

static uint64_t dropped_without_ring(unsigned stream)
{
    uint64_t n = 0;
    for (unsigned r = 0; r < DROP_REASONS; r++)
        n += atomic_load_explicit(&rings.dropped[r][stream], memory_order_relaxed) +
             (rings.front ? atomic_load_explicit(&rings.front->dropped[r][stream], memory_order_relaxed) : 0);
    return n;
}

/* Reads the reasons of dropped records. Those that the writer dropped have the reason of its first error. */
static void reasons_read(struct drop_counts *out)
{
    const struct flight_store *const f = w.options.flight;
    const enum drop_reason own = drop_reason_of(f && f->why ? f->why : outputs_why(&w.outputs));
    for (unsigned s = 0; s < STREAM_KINDS; s++) {
        for (unsigned r = 0; r < DROP_REASONS; r++)
            out->n[r][s] = atomic_load_explicit(&rings.dropped[r][s], memory_order_relaxed) +
                           (rings.front ? atomic_load_explicit(&rings.front->dropped[r][s], memory_order_relaxed) : 0);
        out->n[own][s] += w.outputs.dropped[s] + (f ? f->dropped[s] : 0);
    }
}

/* What threads have counted, also in rings that the writer has not seen yet. */
static struct flight_counts counts_read(void)
{
    struct flight_counts c = { .cost_ticks = 0 };
    const uint32_t n_rings = rings.front ? atomic_load_explicit(&rings.front->n_rings, memory_order_acquire) : 0;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        c.dropped[s] = dropped_without_ring(s);
    for (uint32_t i = 0; i < n_rings && i < RINGS_MOST; i++) {
        const struct ring_shared *const shared = rings_shared(i);
        for (unsigned s = 0; shared && s < STREAM_KINDS; s++)
            c.dropped[s] += atomic_load_explicit(&shared->dropped[s], memory_order_relaxed);
        c.cost_ticks += shared ? atomic_load_explicit(&shared->cost_ticks, memory_order_relaxed) : 0;
    }
    return c;
}

/* No error so far: in the collection's files, or in the history. */
static bool sink_is_well(struct error *e)
{
    const struct flight_store *const f = w.options.flight;
    return outputs_are_well(&w.outputs, e) &&
           (!f || f->error.fault == FAULT_NONE || error_set(e, f->error.fault, "%s", f->error.text));
}

/* Copies only the used part of the arrays, so that pages of the rest are never touched. */
static void commit_copy(struct rings_commit *to, const struct rings_commit *from)
{
    memcpy(to, from, offsetof(struct rings_commit, output));
    memcpy(to->output, from->output, from->n_outputs * sizeof *to->output);
    memcpy(to->tail, from->tail, from->n_rings * sizeof *to->tail);
    atomic_signal_fence(memory_order_seq_cst); /* if the process is killed, at most one copy is incomplete */
}

static void commit_flight(struct rings_commit *c, const struct flight_store *f)
{
    c->n_records = f->n_records;
    c->n_bytes = f->n_bytes;
    c->flight = f->now;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        c->dropped[s] += f->dropped[s];
}

static void commit(bool keeps)
{
    static struct rings_commit c;
    const size_t turn = ++w.n_commits % RINGS_TURNS;
    c.number = w.n_commits;
    c.n_records = w.outputs.n_records;
    c.n_bytes = w.outputs.n_bytes;
    c.aged_slices = w.outputs.aged_slices;
    c.aged_bytes = w.outputs.aged_bytes;
    c.lag_most_ns = w.lag_most_ns;
    c.fill_most_percent = w.fill_most_percent;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        c.dropped[s] = w.outputs.dropped[s] + dropped_without_ring(s);
    if (w.options.flight)
        commit_flight(&c, w.options.flight);
    c.keeps = w.committed_keeps = keeps;
    c.n_rings = w.n_rings;
    c.times = w.outputs.times;
    c.rank = w.outputs.rank;
    c.n_outputs = outputs_state(&w.outputs, c.output);
    memcpy(c.tail, w.tail, w.n_rings * sizeof *w.tail);
    c.check = commit_check(&c, rings.id);
    for (unsigned copy = 0; copy < RINGS_COPIES; copy++)
        commit_copy(&rings.front->commit[copy][turn], &c);
    reasons_read(&rings.front->reasons);
    for (uint32_t i = 0; i < w.n_rings; i++) {
        struct ring_shared *shared = rings_shared(i);
        for (unsigned l = 0; shared && l < RING_LANES; l++)
            atomic_store_explicit(&shared->lane[l].tail, w.tail[i][l], memory_order_release); /* read, and committed */
    }
}

static void tally_publish(void)
{
    const struct outputs *o = &w.outputs;
    const uint64_t lag_since_ns = w.lag_ns > w.tally.lag_since_ns ? w.lag_ns : w.tally.lag_since_ns;
    w.tally = (struct writer_tally){ .n_records = o->n_records,
                                     .n_bytes = o->n_bytes,
                                     .aged_bytes = o->aged_bytes,
                                     .aged_slices = o->aged_slices,
                                     .lag_most_ns = w.lag_most_ns,
                                     .lag_since_ns = lag_since_ns,
                                     .fill_most_percent = w.fill_most_percent,
                                     .n_rings = w.n_rings };
    memcpy(w.tally.dropped, o->dropped, sizeof o->dropped);
    reasons_read(&w.tally.reasons);
    if (w.options.flight) {
        w.flight = w.options.flight->now;
        w.tally.n_records = w.options.flight->n_records;
        w.tally.n_bytes = w.options.flight->n_bytes;
        for (unsigned s = 0; s < STREAM_KINDS; s++)
            w.tally.dropped[s] += w.options.flight->dropped[s];
    }
    w.tally.is_gone = w.reported_gone;
    if (!sink_is_well(&w.wrong) || !w.reported_gone)
        return;
    error_set(&w.wrong, w.gone.fault, "%s", w.gone.text);
}

/* Reports each problem once. */
static void writer_report(void)
{
    struct error e = { 0 };
    if (!w.reported_gone && atomic_load(&rings.is_gone)) {
        w.reported_gone = true;
        error_set(&w.gone, FAULT_IO, "%s: truncated or changed by another program during the recording", rings.path);
        message(ASCOPE_ERROR, "%s. Recording ends; the program continues", w.gone.text);
    }
    if (!w.reported_disk && !sink_is_well(&e)) {
        w.reported_disk = true;
        message(ASCOPE_ERROR, "%s. Nothing more is recorded", e.text);
    }
    const int why = atomic_load(&rings.trouble);
    if (!w.reported_rings && why) {
        w.reported_rings = true;
        message(ASCOPE_WARNING, "%s: no ring for another thread; its records are dropped and counted: %s", rings.path,
                why == EUSERS ? "more threads record than there are rings" : write_trouble(why));
    }
}

/* An open file can still be written after it was deleted: without this check nobody would notice. */
static void check_places(void)
{
    const struct {
        const char *path;
        struct prof_writer *writer;
    } place[] = { { w.options.framework_dir, &w.outputs.framework }, { w.options.prof_dir, &w.outputs.prof } };
    for (size_t i = 0; i < sizeof place / sizeof *place; i++)
        if (place[i].path && access(place[i].path, F_OK) != 0)
            error_set(&place[i].writer->error, FAULT_IO, "%s: deleted during the recording", place[i].path);
}

static void times_read(const struct clock_reading *began)
{
    const struct clock_reading now = host_clock_read();
    w.outputs.times = (struct os_call_times){ .begin_ns = clock_reading_window_ns(began),
                                              .count = now.count,
                                              .raw_ns = now.mono_raw_ns,
                                              .ns_per_count = 1000 / host_clock_mhz(began, &now),
                                              .wall_less_raw_ns = (int64_t)(began->wall_ns - began->mono_raw_ns) };
}

static void sink_flush(void)
{
    if (!w.options.flight) {
        outputs_flush(&w.outputs);
    } else if (flight_store_flush(w.options.flight)) {
        const struct flight_counts so_far = counts_read();
        flight_store_next(w.options.flight, &so_far);
    }
}

/* Reads all rings once. Returns the fill of the fullest lane in percent. */
static uint32_t look(bool keeps, const struct clock_reading *began)
{
    const uint64_t now = steady_ns();
    if (now - w.clock_ns >= CLOCK_NS || w.outputs.times.begin_ns != clock_reading_window_ns(began)) {
        times_read(began);
        w.clock_ns = now;
    }
    w.lag_ns = now - w.looked_ns;
    if (w.lag_ns > w.lag_most_ns)
        w.lag_most_ns = w.lag_ns;
    w.looked_ns = now;
    const bool is_check = now - w.checked_ns >= CHECK_NS;
    if (is_check) {
        check_places();
        w.checked_ns = now;
        w.is_short = false;
    }
    const uint32_t n = atomic_load_explicit(&rings.front->n_rings, memory_order_acquire);
    if (n > RINGS_MOST || rings_were_emptied(n) || rings.front->header.magic != RINGS_MAGIC)
        rings_end_early(); /* overwritten with zeros at the same length, which raises no SIGBUS */
    else
        w.n_rings = n;
    uint32_t most = 0;
    for (uint32_t i = 0; i < w.n_rings; i++) {
        if (!rings_shared(i) && !rings_adopt(i))
            continue;
        lane_keep_ahead(i);
        for (unsigned l = 0; l < RING_LANES; l++) {
            const uint32_t percent = lane_take(i, l, keeps);
            most = percent > most ? percent : most;
        }
    }
    if (most > 0) {
        sink_flush();
        if (most > w.fill_most_percent)
            w.fill_most_percent = most;
    }
    if (most > 0 || is_check || keeps != w.committed_keeps)
        commit(keeps);
    const uint64_t aged_slices = w.outputs.aged_slices;
    for (uint32_t i = 0; i < w.n_rings && is_check; i++)
        rings_reclaim(i);
    if (w.options.flight)
        flight_store_age(w.options.flight);
    else if (w.options.storage_limit_bytes)
        outputs_age(&w.outputs, w.options.storage_limit_bytes);
    if (w.outputs.aged_slices !=
        /* slices are deleted after the commit that does not need them; a second commit has their count */
        aged_slices)
        commit(keeps);
    writer_report();
    return most;
}

static void pause_until(uint64_t ns)
{
    const struct timespec until = steady_time(ns);
    pthread_cond_timedwait(&w.wake, &w.lock, &until);
}

/* The thread has little to do and should do it soon, also where every CPU has more work than it can do: a short slice
 * is a near deadline for the scheduler, and where the user has the right to it, a higher priority. Neither is
 * needed. */
static void hurry(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = { .size = sizeof attributes, .policy = SCHED_OTHER, .nice = WRITER_NICE, .runtime_ns = 100000 };
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) {
        attributes.nice = getpriority(PRIO_PROCESS, (id_t)gettid());
        syscall(SYS_sched_setattr, 0, &attributes, 0);
    }
}

/* Closes the descriptors: those of a thread with its own table are not valid in other threads. */
static void files_rest(void)
{
    outputs_rest(&w.outputs);
    if (w.options.flight)
        flight_store_forget(w.options.flight);
}

/* Passes on what the writer has to report: the user's function may need descriptors of the program. */
static void *voice_main(void *unused)
{
    while (messages_wait())
        ;
    return unused;
}

static void *writer_main(void *unused)
{
    hurry();
    if (w.has_voice && descriptors_apart())
        messages_hold();
    faults_admit();
    uint64_t pause_ns = PAUSE_LEAST_NS;
    pthread_mutex_lock(&w.lock);
    for (bool ends = false; !ends;) {
        ends = w.ends;
        const uint64_t asked = w.asked;
        const bool keeps = w.keeps;
        const struct clock_reading began = w.began;
        pthread_mutex_unlock(&w.lock);
        const uint32_t percent = look(keeps, &began);
        pthread_mutex_lock(&w.lock);
        tally_publish();
        w.answered = asked;
        pthread_cond_broadcast(&w.woken);
        pause_ns = percent > 0 ? PAUSE_LEAST_NS : pause_ns * 2 < PAUSE_MOST_NS ? pause_ns * 2 : PAUSE_MOST_NS;
        if (percent < HURRY_PERCENT && w.asked == asked && !w.ends)
            pause_until(steady_ns() + pause_ns);
    }
    pthread_mutex_unlock(&w.lock);
    files_rest();
    return unused;
}

/* ---- for the thread that has the session ---- */

/* Waits for a pass that begins after this call. With the lock. */
static void look_wait(void)
{
    const uint64_t mine = ++w.asked;
    pthread_cond_signal(&w.wake);
    while (w.answered < mine)
        pthread_cond_wait(&w.woken, &w.lock);
}

static void after_fork(void)
{
    messages_forget();
    if (!w.runs)
        return;
    w.runs = w.has_voice = false; /* the threads are the parent's */
    outputs_forget(&w.outputs);
    if (w.options.flight)
        flight_store_forget(w.options.flight);
}

static void fork_handle(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static bool path_copy(char *to, const char **path, struct error *e)
{
    if (!*path)
        return true;
    size_t n = strlen(*path);
    while (n > 1 && (*path)[n - 1] == '/')
        n--;
    if (n >= PATH_MAX - 256)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long", *path);
    memcpy(to, *path, n);
    to[n] = '\0';
    *path = to;
    return true;
}

static void voice_end(void)
{
    messages_end(true);
    if (w.has_voice)
        pthread_join(w.voice, NULL);
    w.has_voice = false;
}

static bool writer_thread_start(struct error *e)
{
    pthread_mutex_init(&w.lock, NULL);
    steady_condition(&w.wake);
    steady_condition(&w.woken);
    messages_end(false);
    w.has_voice = w.options.is_inside && background_thread(&w.voice, "ascope-voice", voice_main, NULL) == 0;
    if (w.has_voice)
        files_rest(); /* the thread opens them again in its own table of descriptors */
    const int why = background_thread(&w.thread, "ascope-writer", writer_main, NULL);
    if (why != 0)
        voice_end();
    return why == 0 || error_set(e, FAULT_LIMIT, "cannot create the writer thread: %s", strerror(why));
}

bool writer_start(const struct writer_options *o, struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_handle);
    if (w.runs || !rings.front)
        return error_set(e, FAULT_ASKED, w.runs ? "a writer is running" : "no rings to write from");
    writer_leave(false); /* ends a writer that was left running */
    w.options = *o;
    memset(w.tail, 0, sizeof w.tail);
    w.is_short = false;
    w.n_rings = w.fill_most_percent = 0;
    w.lag_ns = w.lag_most_ns = w.asked = w.answered = 0;
    w.reported_disk = w.reported_rings = w.reported_gone = w.ends = false;
    w.gone = (struct error){ 0 };
    w.n_commits = 0;
    w.flight = (struct flight_state){ 0 };
    w.keeps = true;
    w.tally = (struct writer_tally){ 0 };
    w.wrong = (struct error){ 0 };
    if (!path_copy(w.framework_dir, &w.options.framework_dir, e) || !path_copy(w.prof_dir, &w.options.prof_dir, e) ||
        !outputs_open(&w.outputs, w.options.framework_dir, w.options.prof_dir, o->slice_bytes, e))
        return false;
    w.outputs.prof.first_slice = o->first_slice;
    w.outputs.rank = o->rank;
    atomic_store(&recording_frames, 0);
    w.looked_ns = w.checked_ns = w.clock_ns = steady_ns();
    w.began = o->began;
    times_read(&w.began);
    commit(w.keeps);
    struct rings_header h = rings.front->header;
    h.slice_bytes = (uint32_t)o->slice_bytes;
    h.has_framework = w.options.framework_dir != NULL;
    h.has_commits = 1;
    h.flight_ns = o->flight ? o->flight->keep_ns : 0;
    if (w.options.prof_dir)
        strncpy(h.prof_name, path_name(w.options.prof_dir), sizeof h.prof_name - 1);
    rings_header_put(&h);
    w.runs = writer_thread_start(e);
    if (!w.runs)
        outputs_forget(&w.outputs);
    return w.runs;
}

void writer_began(const struct clock_reading *began)
{
    pthread_mutex_lock(&w.lock);
    w.began = *began;
    pthread_mutex_unlock(&w.lock);
}

void writer_keep(bool keeps)
{
    if (!w.runs)
        return;
    pthread_mutex_lock(&w.lock);
    look_wait(); /* records put until now are treated as before */
    w.keeps = keeps;
    look_wait(); /* and the change is committed, for recovery */
    pthread_mutex_unlock(&w.lock);
}

/* Adds the counts of the rings. The caller holds the lock, or the thread has ended. */
static void tally_read(struct writer_tally *out)
{
    const struct flight_counts counted = counts_read();
    *out = w.tally;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        out->dropped[s] += counted.dropped[s];
    const uint32_t n_rings = rings.front ? atomic_load_explicit(&rings.front->n_rings, memory_order_acquire) : 0;
    for (uint32_t i = 0; i < n_rings && i < RINGS_MOST; i++) { /* with those that the thread has not seen yet */
        const struct ring_shared *shared = rings_shared(i);
        if (!shared)
            continue;
        for (unsigned lane = 0; lane < RING_LANES; lane++) {
            out->put_records += atomic_load_explicit(&shared->lane[lane].n_records, memory_order_relaxed);
            out->put_bytes += atomic_load_explicit(&shared->lane[lane].head, memory_order_relaxed);
        }
    }
    out->hook_ns = (uint64_t)((double)counted.cost_ticks * 1000 / host_clock_first_mhz());
}

void writer_look(struct writer_tally *out)
{
    *out = (struct writer_tally){ 0 };
    if (!w.runs)
        return;
    pthread_mutex_lock(&w.lock);
    tally_read(out);
    w.tally.lag_since_ns = 0;
    pthread_mutex_unlock(&w.lock);
}

bool writer_flush(struct writer_tally *out, struct error *e)
{
    *out = (struct writer_tally){ 0 };
    if (!w.runs)
        return error_set(e, FAULT_ASKED, "no writer is running");
    pthread_mutex_lock(&w.lock);
    look_wait();
    tally_read(out);
    const struct error wrong = w.wrong;
    pthread_mutex_unlock(&w.lock);
    return wrong.fault == FAULT_NONE || error_set(e, wrong.fault, "%s", wrong.text);
}

struct flight_state writer_flight(void)
{
    pthread_mutex_lock(&w.lock);
    const struct flight_state now = w.flight;
    pthread_mutex_unlock(&w.lock);
    return now;
}

bool writer_stop(struct writer_tally *out, struct error *e)
{
    *out = (struct writer_tally){ 0 };
    rings_stop();
    if (!w.runs)
        return error_set(e, FAULT_ASKED, "no writer is running");
    pthread_mutex_lock(&w.lock);
    w.ends = true;
    pthread_cond_signal(&w.wake);
    pthread_mutex_unlock(&w.lock);
    pthread_join(w.thread, NULL);
    voice_end();
    w.runs = false;
    outputs_close(&w.outputs);
    w.has_stopped = true;
    writer_report();
    tally_publish();
    tally_read(out);
    for (uint32_t i = 0; i < out->n_rings; i++)
        out->open_ranges += rings_open_ranges(i);
    return w.wrong.fault == FAULT_NONE || error_set(e, w.wrong.fault, "%s", w.wrong.text);
}

void writer_leave(bool is_complete)
{
    if (!w.has_stopped)
        return;
    outputs_leave(&w.outputs, is_complete);
    w.outputs.n_used = 0;
    w.has_stopped = false;
}

void writer_sums(struct file_tree *t)
{
    if (w.has_stopped)
        outputs_sums(&w.outputs, t);
}
