/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/recorder_session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file_tree.h"
#include "base/memory/growing.h"
#include "base/text/framework_names.h"
#include "collect/describe/recording_files.h"
#include "collect/marks/mark_domain.h"
#include "collect/options/options.h"
#include "collect/ring/ring.h"
#include "collect/session/devices.h"
#include "collect/session/listeners.h"
#include "collect/session/message.h"
#include "collect/session/place.h"
#include "collect/session/recording.h"
#include "raw/family.h"

enum { RINGS_NAME_ROOM = 64, STEPS_MOST = 100000 };

static _Atomic(struct ascope_session *) open_session;
static atomic_uint n_prof; /* PROF directories of this process, which their names count */

const struct ascope_options *session_options(void)
{
    const struct ascope_session *s = atomic_load(&open_session);
    return s ? &s->o : NULL;
}

bool session_is_open(const struct ascope_session *s)
{
    return s && s == atomic_load(&open_session);
}

void session_schedule(struct ascope_session *s, const struct ascope_schedule *plan)
{
    s->has_schedule = true;
    s->has_plan = plan != NULL;
    if (plan)
        s->plan = *plan;
}

/* ---- fork and exit ---- */

/* In a forked child the threads of the writer and the device do not exist; only the parent continues to record. */
static void forget_in_child(void)
{
    recording_set(0);
    atomic_store(&open_session, NULL);
}

static struct flight_hooks flight; /* zeros: there was no flight recorder in this process */
static bool is_exiting;

void session_flight_hooks(const struct flight_hooks *h)
{
    flight = *h;
}

static void flight_give_way(const struct session_target *to)
{
    const struct ascope_session *const open = atomic_load(&open_session);
    if (open && open->flight && open->owner == getpid() && !to->flight)
        flight.pause();
}

static void end_at_exit(void)
{
    struct ascope_session *s = atomic_load(&open_session);
    struct ascope_error e;
    if (!s || s->owner != getpid())
        return;
    is_exiting = true;
    if (s->flight) {
        flight.end(s);
        return;
    }
    if (s->state == SESSION_RUNS && !ascope_session_stop(s, &e))
        message(ASCOPE_WARNING, "%s", e.text);
    if (s->state != SESSION_STOPPED)
        ascope_session_discard(s); /* it never recorded */
    else if (!ascope_session_end(s, &e))
        message(ASCOPE_WARNING, "%s", e.text);
}

void session_end_earlier(void)
{
    atexit(end_at_exit);
}

static void watch_process(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(end_at_exit);
}

static bool is_ours(const struct ascope_session *s, unsigned states, const char *what, struct error *e)
{
    static const char *const names[] = { "new", "warming up", "recording", "stopped" };
    if (!s)
        return error_set(e, FAULT_ASKED, "%s: no session", what);
    if (s->owner != getpid())
        return error_set(e, FAULT_ASKED, "%s: the session belongs to the parent process", what);
    if (!(states & 1u << s->state))
        return error_set(e, FAULT_ASKED, "%s: the session is %s", what, names[s->state]);
    return true;
}

/* ---- names and directories ---- */

static void time_digits(char text[32], bool is_utc) /* 17 of them: local time, unless it is UTC, with ms */
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    is_utc ? gmtime_r(&now.tv_sec, &tm) : localtime_r(&now.tv_sec, &tm);
    strftime(text, 32, "%Y%m%d%H%M%S", &tm);
    snprintf(text + 14, 18, "%03ld", now.tv_nsec / 1000000);
}

static void random_bytes(unsigned char *out, size_t n)
{
    const ssize_t got = getrandom(out, n, GRND_NONBLOCK);
    /* early at boot there may be no random numbers: uses the low bits of the clock */
    for (size_t i = got > 0 ? (size_t)got : 0; i < n; i++)
        out[i] = (unsigned char)(host_clock_now() >> i);
}

/* The names are free: processes have other numbers, and a session of this process before us another ms. */
static bool dir_new(char path[PATH_MAX], const char *parent,
                    void (*name)(const struct ascope_session *, char *, size_t), const struct ascope_session *s,
                    struct error *e)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        char last[NAME_MAX + 1];
        name(s, last, sizeof last);
        /* The names inside need room, too. */
        if (snprintf(path, PATH_MAX, "%s/%s", parent, last) >= PATH_MAX - 2 * NAME_MAX)
            return error_set(e, FAULT_ASKED, "%s: the path is too long; use a shorter parent_dir", parent);
        if (place_dir(path, e))
            return true;
        if (e->fault != FAULT_NONE)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return error_set(e, FAULT_IO, "%s: cannot be created: it already exists", path);
}

static void session_name(const struct ascope_session *s, char *name, size_t size)
{
    char host[HOST_NAME_MAX + 1] = "", digits[32];
    gethostname(host, sizeof host - 1);
    const bool is_mindspore = s->o.layout == ASCOPE_LAYOUT_MINDSPORE;
    time_digits(digits, is_mindspore);
    const char *const worker = s->o.worker_name ? s->o.worker_name : *host ? host : "localhost";
    snprintf(name, size, "%s_%d_%s%s", worker, (int)s->pid, digits,
             framework_names[is_mindspore ? FRAMEWORK_MINDSPORE : FRAMEWORK_PYTORCH].suffix);
}

static void prof_name(const struct ascope_session *s, char *name, size_t size)
{
    char digits[32];
    unsigned char letters[8];
    time_digits(digits, false);
    random_bytes(letters, sizeof letters);
    size_t n =
        (size_t)snprintf(name, size, "PROF_%06u_%s_%08d", atomic_load(&n_prof) % 999999 + 1, digits, (int)s->pid);
    for (size_t i = 0; i < sizeof letters; i++)
        name[n++] = (char)('A' + letters[i] % 18);
    name[n] = '\0';
}

static bool folders_below(const char *path, const char *const *names, struct error *e)
{
    for (; *names; names++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%.*s/%s", PATH_MAX - NAME_MAX, path, *names);
        if (!place_dir(folder, e) && e->fault != FAULT_NONE)
            return false;
    }
    return true;
}

static bool device_folder(const struct ascope_session *s, const struct session_device *d, struct error *e)
{
    char name[32], data[40];
    snprintf(name, sizeof name, "device_%d", d->is.id);
    snprintf(data, sizeof data, "%s/data", name);
    return folders_below(s->prof, (const char *const[]){ name, data, NULL }, e);
}

static bool parent_find(const struct ascope_session *s, char parent[PATH_MAX], struct error *e)
{
    const char *const work = getenv("ASCEND_WORK_PATH");
    char wanted[PATH_MAX];
    int n;
    if (s->o.parent_dir)
        n = snprintf(wanted, sizeof wanted, "%s", s->o.parent_dir);
    else if (work && *work)
        n = snprintf(wanted, sizeof wanted, "%s/profiling_data", work);
    else
        n = snprintf(wanted, sizeof wanted, ".");
    if (n >= (int)sizeof wanted)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long; use a shorter parent_dir", wanted);
    if (!place_parents(wanted, e))
        return false;
    if (!realpath(wanted, parent))
        return error_set(e, FAULT_IO, "%s: cannot be used: %s", wanted, place_trouble(errno));
    return true;
}

bool session_devices(struct ascope_session *s, struct error *e)
{
    struct error why = { 0 };
    const unsigned n = s->device ? s->device->probe(&why) : 0;
    if (s->device && n == 0)
        return error_set(e, why.fault == FAULT_NONE ? FAULT_ASKED : why.fault, "device %s: %s", s->device->name,
                         *why.text ? why.text : "not found");
    if (n <= s->n_devices || engine_is_of(s)) /* an engine reports at the end which devices it has recorded */
        return true;
    struct session_device *more = realloc(s->devices, n * sizeof *more);
    if (!more)
        return error_no_memory(e, "the devices of the session");
    s->devices = more;
    memset(more + s->n_devices, 0, (n - s->n_devices) * sizeof *more);
    for (; s->n_devices < n; s->n_devices++)
        if (!s->device->describe(s->n_devices, &more[s->n_devices].is, e) || !device_folder(s, &more[s->n_devices], e))
            return false;
    return true;
}

static bool device_take(struct ascope_session *s, struct error *e)
{
    s->device = device_choose(s->o.device ? s->o.device : "auto", e);
    if (e->fault != FAULT_NONE)
        return false;
    if (s->flight && engine_is_of(s)) {
        const struct device_kind *const instead = s->device->in_rings;
        struct error why = { 0 };
        const bool is_there = instead && instead->is_used(&why) && instead->probe(&why) > 0;
        if (!is_there && !s->flight_facts) /* once, not for each window that is saved */
            message(ASCOPE_WARNING, "flight recorder: device %s writes its own files%s%s; recording the host only",
                    s->device->name, *why.text ? ", and " : "", why.text);
        s->device = is_there ? instead : NULL;
    }
    return true;
}

static bool has_prof(const struct ascope_session *s)
{
    return s->o.layout == ASCOPE_LAYOUT_PROF || (s->o.activities & ASCOPE_NPU);
}

static bool prof_make(struct ascope_session *s, const char *parent, struct error *e)
{
    if (!dir_new(s->prof, parent, prof_name, s, e))
        return false;
    atomic_fetch_add(&n_prof, 1);
    return folders_below(s->prof, (const char *const[]){ "host", "host/data", NULL }, e);
}

bool session_directories(struct ascope_session *s, struct error *e)
{
    char parent[PATH_MAX];
    const bool is_framework = s->o.layout != ASCOPE_LAYOUT_PROF;
    if (!parent_find(s, parent, e) || (has_prof(s) && !device_take(s, e)))
        return false;
    if (is_framework && !dir_new(s->path, parent, session_name, s, e))
        return false;
    if (has_prof(s)) {
        if ((!is_framework || !engine_is_of(s)) && !prof_make(s, is_framework ? s->path : parent, e))
            return false;
        if (!is_framework)
            memcpy(s->path, s->prof, sizeof s->path);
        if (!session_devices(s, e))
            return false;
    }
    if (is_framework && (s->o.activities & ASCOPE_CPU))
        snprintf(s->framework, sizeof s->framework, "%.*s/FRAMEWORK", PATH_MAX - NAME_MAX, s->path);
    /* readers recognise collections of MindSpore by this folder, even if it is empty */
    if (*s->framework || s->o.layout == ASCOPE_LAYOUT_MINDSPORE)
        return folders_below(s->path, (const char *const[]){ "FRAMEWORK", NULL }, e);
    return true;
}

static void rank_find(struct ascope_session *s)
{
    const bool is_mindspore = s->o.layout == ASCOPE_LAYOUT_MINDSPORE;
    const char *const text = getenv(is_mindspore ? "RANK_ID" : "RANK");
    char *end;
    s->rank = s->o.rank >= 0 ? s->o.rank : is_mindspore ? 0 : -1;
    if (s->o.rank >= 0 || !text || !*text)
        return;
    const long rank = strtol(text, &end, 10);
    s->rank_is_text = !*end && rank >= 0 && rank <= INT32_MAX;
    s->rank = s->rank_is_text ? (int32_t)rank : s->rank;
}

/* ---- life ---- */

static void session_free(struct ascope_session *s)
{
    struct ascope_session *expected = s;
    atomic_compare_exchange_strong(&open_session, &expected, NULL);
    host_clock_follow(true);
    metadata_fini(s);
    options_fini(&s->o);
    free(s->devices);
    free(s->steps);
    const bool was_flight = s->flight;
    free(s);
    if (!was_flight && flight.resume && !is_exiting)
        flight.resume();
}

static void target_take(struct ascope_session *s, const struct session_target *of)
{
    char path[64];
    s->owner = getpid();
    s->pid = of->pid > 0 ? of->pid : s->owner;
    s->has_preloaded = of->has_preloaded;
    s->not_preloaded = of->not_preloaded;
    s->command = of->command;
    s->flight = of->flight;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)s->pid);
    if (of->name)
        snprintf(s->process, sizeof s->process, "%s", of->name);
    else
        info_first_line(path, s->process, sizeof s->process);
}

struct ascope_session *session_new_for(const struct session_target *of, const struct ascope_options *o, bool is_checked,
                                       struct ascope_error *to)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct ascope_session *s = calloc(1, sizeof *s), *none = NULL;
    struct error e = { 0 };
    unsigned char id[16];
    pthread_once(&once, watch_process);
    if (!s) {
        error_no_memory(&e, "the session");
        error_pass(&e, to);
        return NULL;
    }
    target_take(s, of);
    random_bytes(id, sizeof id);
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(s->trace_id + 2 * i, 3, "%02X", id[i]);
    if (!options_take(&s->o, o, &e)) {
        error_pass(&e, to);
        free(s);
        return NULL;
    }
    if (!is_checked)
        options_check(&s->o);
    durable_want(s->o.sync);
    rank_find(s);
    flight_give_way(of);
    if (!atomic_compare_exchange_strong(&open_session, &none, s))
        error_set(&e, FAULT_ASKED, "a session is already open in this process; end it first");
    else if (!session_directories(s, &e) && *s->path)
        tree_remove_path(s->path);
    if (error_pass(&e, to))
        return s;
    session_free(s);
    return NULL;
}

struct ascope_session *session_new(const struct ascope_options *o, bool is_checked, struct ascope_error *to)
{
    return session_new_for(&(struct session_target){ 0 }, o, is_checked, to);
}

struct ascope_session *ascope_session_new(const struct ascope_options *o, struct ascope_error *to)
{
    return session_new(o, false, to);
}

const char *ascope_session_path(const struct ascope_session *s)
{
    return s->path;
}

/* Chooses the place of the rings: in the collection, where recovery looks first, or elsewhere, as ascope.json then
 * says. */
static bool rings_place(struct ascope_session *s, struct error *e)
{
    if (!s->o.ring_dir) {
        snprintf(s->rings, sizeof s->rings, "%.*s/ascope.rings", PATH_MAX - RINGS_NAME_ROOM, s->path);
        return true;
    }
    char dir[PATH_MAX];
    if (!place_parents(s->o.ring_dir, e))
        return false;
    if (!realpath(s->o.ring_dir, dir))
        return error_set(e, FAULT_IO, "%s: cannot be used: %s", s->o.ring_dir, place_trouble(errno));
    if (snprintf(s->rings, sizeof s->rings, "%s/%s.rings", dir, strrchr(s->path, '/') + 1) >= (int)sizeof s->rings)
        return error_set(e, FAULT_ASKED, "%s: the path is too long; use a shorter ring_dir", dir);
    return true;
}

static void device_remove(const struct ascope_session *s, unsigned index)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s/device_%d", PATH_MAX - NAME_MAX, s->prof, s->devices[index].is.id);
    tree_remove_path(folder);
}

/* Continues without the device, which cannot record now. */
static void device_give_up(struct ascope_session *s, const struct error *why)
{
    message(ASCOPE_WARNING, "%s; recording the host only", why->text);
    for (unsigned i = 0; i < s->n_devices; i++)
        device_remove(s, i);
    s->n_devices = 0;
    s->device = NULL;
}

static bool machinery_start(struct ascope_session *s, bool keeps, struct error *e)
{
    recording_prepare();
    marks_filter(s->o.mstx_domain_include, s->o.mstx_domain_exclude);
    const struct rings_options files = { .path = s->rings, .id = s->trace_id, .ring_bytes = s->o.ring_kb << 10 };
    const struct writer_options writer = { .framework_dir = *s->framework ? s->framework : NULL,
                                           .prof_dir = *s->prof ? s->prof : NULL,
                                           .slice_bytes = (size_t)s->o.slice_kb << 10,
                                           .first_slice = s->is_adopted ? SLICE_BESIDE : 0,
                                           .storage_limit_bytes = (uint64_t)s->o.storage_limit_mb << 20,
                                           .began = s->first,
                                           .flight = s->flight,
                                           .rank = s->rank >= 0 ? (uint32_t)s->rank : 0,
                                           .is_inside = s->pid == s->owner };
    s->has_rings = rings_open(&files, e);
    s->has_writer =
        s->has_rings && (!s->flight || flight_store_open(s->flight, s->rings, rings.id, e)) && writer_start(&writer, e);
    if (!s->has_writer)
        return false;
    if (!keeps)
        writer_keep(false);
    struct error why = { 0 };
    if (s->device && !engine_is_of(s))
        s->device_runs = s->device->start(&s->o, &why);
    if (s->device && !s->device_runs)
        device_give_up(s, &why);
    return true;
}

/* The engine of the device, if it has one: it says where the PROF directory is, so it comes before everything else. */
static bool device_begin(struct ascope_session *s, bool warms_up, struct error *e)
{
    const enum engine_state state = engine_begin(s, warms_up);
    if (state == ENGINE_WAITS || state == ENGINE_ADOPTED || *s->prof || !has_prof(s))
        return true;
    return prof_make(s, s->path, e);
}

/* Starts the samplers. From here on records are kept. */
static bool keeping_start(struct ascope_session *s, struct error *e)
{
    if (s->state == SESSION_WARM) {
        writer_began(&s->first);
        writer_keep(true);
        recording_prepare();
    }
    if (s->device && s->device->kept)
        s->device->kept();
    const struct host_target of = { .pid = s->pid, .owner = s->owner, .name = s->process, .has_device = s->device };
    if (*s->prof)
        s->host = host_sampler_start(&of, &s->o, e);
    if (*s->prof && (s->o.host_sys & ASCOPE_HOST_OSRT) &&
        e->fault == FAULT_NONE) /* started last, so that the threads of the recorder are not traced */
        s->calls = os_trace_start(
            &(struct os_trace_of){ s->pid, s->o.osrt, s->pid == s->owner, s->has_preloaded, s->not_preloaded }, e);
    return e->fault == FAULT_NONE;
}

/* Everything that machinery_start() may have begun, but the rings: whoever is killed before it is written that the
 * recording has ended leaves something to recover. What goes wrong is reported once; the rest ends all the same. */
static void machinery_stop(struct ascope_session *s, struct error *e)
{
    listeners_stopping();
    recording_set(0);
    os_trace_stop(s->calls);
    host_sampler_stop(s->host);
    s->calls = NULL;
    s->host = NULL;
    s->device_is_lost = s->device_runs && !s->device->stop(e);
    s->last = host_clock_read();
    for (unsigned i = 0; i < s->n_devices && s->device_runs && !s->device_is_lost; i++)
        s->device->read_clock(i, &s->devices[i].last, e);
    if (s->has_writer)
        writer_stop(&s->tally, e);
    s->device_runs = s->has_writer = false;
}

/* Ends the rings. is_described: ascope.json is complete and on the disk, so that files for recovery can be removed. */
static void rings_end(struct ascope_session *s, bool is_described)
{
    writer_leave(is_described);
    if (s->has_rings && is_described)
        rings_close();
    else if (s->has_rings)
        rings_leave();
    if (s->flight)
        flight_store_close(s->flight, is_described);
    s->has_rings = false;
}

/* Removes everything that a failed start may have begun. */
static void machinery_undo(struct ascope_session *s)
{
    machinery_stop(s, &(struct error){ 0 });
    facts_remove(s);
    rings_end(s, true);
    engine_forget(s);
}

unsigned session_how(const struct ascope_session *s)
{
    return s->state == SESSION_STOPPED ? PLACE_DURABLE : 0;
}

bool session_describe(const struct ascope_session *s, struct error *e)
{
    bool is_well = true;
    if (s->o.layout != ASCOPE_LAYOUT_PROF) {
        is_well &= s->o.layout == ASCOPE_LAYOUT_MINDSPORE ? mindspore_info_write(s, e) : profiler_info_write(s, e);
        is_well &= metadata_write(s, e);
    }
    return (s->state == SESSION_STOPPED ? facts_end(s, e) : facts_write(s, e)) && is_well;
}

/* The arguments of operators are in a directory beside the collection. */
static void op_args_path(const struct ascope_session *s, char path[PATH_MAX])
{
    static const char suffix[] = "_op_args";
    snprintf(path, PATH_MAX, "%.*s%s", (int)(PATH_MAX - sizeof suffix), s->path, suffix);
}

static bool op_args_write(const struct ascope_session *s, struct error *e)
{
    char path[PATH_MAX];
    if (!s->o.record_op_args)
        return true;
    if (!s->device || !s->device->op_args) {
        message(ASCOPE_WARNING, "record_op_args: not supported by the device; nothing is recorded");
        return true;
    }
    op_args_path(s, path);
    return s->device->op_args(path, e);
}

static bool clocks_read(struct ascope_session *s, struct error *e)
{
    if (s->o.layout == ASCOPE_LAYOUT_MINDSPORE && !has_prof(s))
        host_clock_follow(false); /* what is recorded in ns becomes what readers expect exactly (mindspore_calls.c) */
    s->mhz = host_clock_first_mhz();
    s->first = host_clock_read();
    for (unsigned i = 0; i < s->n_devices; i++) {
        struct error why = { 0 };
        if (s->device->read_clock(i, &s->devices[i].first, &why))
            continue;
        if (s->device_runs) /* since its warm-up */
            return error_set(e, why.fault, "%s", why.text);
        device_give_up(s, &why);
    }
    return true;
}

bool ascope_session_warmup(struct ascope_session *s, struct ascope_error *to)
{
    struct error e = { 0 };
    if (is_ours(s, 1u << SESSION_NEW, "warm-up", &e)) {
        /* The owner of the rings is written before the rings exist. */
        const bool begins = device_begin(s, true, &e), waits = begins && has_prof(s) && !*s->prof;
        if (waits || (begins && rings_place(s, &e) && clocks_read(s, &e) && facts_write(s, &e) &&
                      machinery_start(s, false, &e))) {
            s->state = SESSION_WARM;
            recording_set(waits ? 0 : options_recorded(&s->o));
        } else {
            machinery_undo(s);
        }
    }
    return error_pass(&e, to);
}

/* Appends "+PID PATH" or "-PID PATH" to the file of a supervisor (cli/run/supervise.h). One write: ranks append at the
 * same time. A disk that is full costs a line of the supervisor's report. */
static void supervisor_notify(const struct ascope_session *s, char sign)
{
    const char *const notes = secure_getenv("ASCOPE_SUPERVISED");
    char line[PATH_MAX + 32];
    if (!notes || s->flight || strchr(s->path, '\n'))
        return;
    const int n = snprintf(line, sizeof line, "%c%d %s\n", sign, (int)s->owner, s->path);
    const int fd = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        (void)!write(fd, line, (size_t)n);
        close(fd);
    }
}

bool ascope_session_start(struct ascope_session *s, struct ascope_error *to)
{
    struct error e = { 0 };
    if (!is_ours(s, 1u << SESSION_NEW | 1u << SESSION_WARM, "start", &e))
        return error_pass(&e, to);
    const bool is_warm = s->has_writer;
    if (device_begin(s, false, &e) && (is_warm || rings_place(s, &e)) && clocks_read(s, &e) && info_begin(s, &e) &&
        session_describe(s, &e) && (is_warm || machinery_start(s, true, &e)) && keeping_start(s, &e)) {
        s->state = SESSION_RUNS;
        supervisor_notify(s, '+');
        recording_set(options_recorded(&s->o));
        listeners_started(&s->o);
    } else {
        machinery_undo(s);
        s->state = SESSION_NEW;
    }
    return error_pass(&e, to);
}

/* One that was recorded because nothing was known of what the program would use, and that it has not used. */
static void unused_forget(struct ascope_session *s)
{
    for (unsigned i = s->n_devices; s->device && s->device->forget && i-- > 0;) {
        if (!s->device->forget(i))
            continue;
        device_remove(s, i);
        memmove(s->devices + i, s->devices + i + 1, (--s->n_devices - i) * sizeof *s->devices);
    }
}

/* A device that the program came to use while it was recorded: its folder has its data, and gets what describes it
 * now. */
static bool late_devices(struct ascope_session *s, struct error *e)
{
    const unsigned before = s->n_devices;
    if (engine_is_of(s))
        return engine_devices(s, e);
    if (s->device_is_lost)
        return true;
    if (!session_devices(s, e))
        return false;
    for (unsigned i = before; i < s->n_devices; i++)
        if (!s->device->read_clock(i, &s->devices[i].first, e))
            return false;
    const bool is_well = s->n_devices == before || info_begin(s, e);
    unused_forget(s);
    return is_well;
}

bool ascope_session_stop(struct ascope_session *s, struct ascope_error *to)
{
    struct error e = { 0 };
    if (!is_ours(s, 1u << SESSION_RUNS | 1u << SESSION_WARM, "stop", &e))
        return error_pass(&e, to);
    const bool was_recording = s->state == SESSION_RUNS;
    machinery_stop(s, &e);
    s->state = was_recording ? SESSION_STOPPED : SESSION_NEW;
    if (!was_recording) {
        facts_remove(s); /* nothing was recorded */
        rings_end(s, true);
        return error_pass(&e, to);
    }
    s->mhz = host_clock_mhz(&s->first, &s->last);
    late_devices(s, &e);
    info_end(s, &e);
    /* if the description fails, recovery can still read what is in the rings */
    rings_end(s, session_describe(s, &e));
    op_args_write(s, &e);
    supervisor_notify(s, '-');
    return error_pass(&e, to);
}

bool ascope_session_end(struct ascope_session *s, struct ascope_error *to)
{
    struct error e = { 0 };
    if (!is_ours(s, 1u << SESSION_NEW | 1u << SESSION_WARM | 1u << SESSION_RUNS | 1u << SESSION_STOPPED, "end", &e))
        return error_pass(&e, to);
    struct ascope_error of_stop;
    if ((s->state == SESSION_RUNS || s->state == SESSION_WARM) && !ascope_session_stop(s, &of_stop))
        error_set(&e, FAULT_IO, "%s", of_stop.text);
    session_free(s);
    return error_pass(&e, to);
}

void ascope_session_discard(struct ascope_session *s)
{
    if (!s || s->owner != getpid())
        return;
    if (s->state == SESSION_RUNS || s->state == SESSION_WARM)
        machinery_undo(s);
    tree_remove_path(s->path);
    char path[PATH_MAX];
    op_args_path(s, path);
    if (s->o.record_op_args)
        tree_remove_path(path);
    session_free(s);
}

void ascope_session_step(struct ascope_session *s, uint64_t number)
{
    if (!is_ours(s, 1u << SESSION_RUNS, "step", &(struct error){ 0 }))
        return;
    atomic_store_explicit(&recording_step, number, memory_order_relaxed);
    if (s->n_steps >= STEPS_MOST)
        return;
    if (!array_reserve(s->steps, s->room_for_steps, s->n_steps + 1, 64))
        return;
    struct writer_tally now;
    writer_look(&now);
    struct session_step step = { .number = number,
                                 .n_records = now.put_records,
                                 .n_bytes = now.put_bytes,
                                 .hook_ns = now.hook_ns,
                                 .lag_most_ns = now.lag_since_ns };
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        step.n_dropped += now.dropped[i];
    s->steps[s->n_steps++] = step;
}
