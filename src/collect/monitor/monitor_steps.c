/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/files/kept.h"
#include "base/process/background.h"
#include "collect/monitor/monitor_steps.h"
#include "collect/options/sized.h"
#include "collect/session/message.h"
#include "collect/session/place.h"
#include "raw/monitor/monitor_record.h"

#define MONITOR_VARIABLE "ASCOPE_MONITOR"
#define SECOND_NS        1000000000LL
enum { EVERY_MS = 500, GROUP_MOST = 1 << 20, RECORDS_LEAST = 64, KEEP_DAYS = 1 };
static const uint64_t FILE_BYTES = 8 << 20;

/* What the thread of the steps reads at the end of each record, to store the difference. */
struct monitor_thread {
    pid_t id;                     /* 0: none yet */
    struct kept delays;           /* its schedstat */
    int64_t cpu_ns, preempted_ns; /* MONITOR_UNKNOWN: cannot be read */
};

static struct monitor {
    bool is_on, is_asked; /* is_asked: the environment was looked at */
    bool has_begun;       /* the first step has begun */
    bool is_failing;      /* the last record could not be written */
    enum monitor_by by;
    char path[PATH_MAX];
    struct kept file, resident;
    void *lock; /* of the whole file, as long as the process lives */
    uint64_t capacity, every_ns, step_began_ns;
    int64_t step;                 /* number of the step that runs */
    uint32_t group;               /* steps of a record: it ends before a multiple of this; a power of two */
    struct monitor_record record; /* that is being made */
    struct monitor_thread thread;
} m = { .file = KEPT_NONE, .resident = KEPT_NONE, .thread.delays = KEPT_NONE };

_Atomic bool monitor_is_off;
/* Any thread changes these. */
static _Atomic int64_t values[MONITOR_VALUES];
static _Atomic uint32_t known_values; /* bits */
static _Atomic int32_t known_rank;
static _Atomic uint32_t known_world;

/* ---- values ---- */

static void value_put(unsigned value, int64_t n)
{
    atomic_store_explicit(&values[value], n, memory_order_relaxed); /* only a number */
    atomic_fetch_or_explicit(&known_values, 1u << value, memory_order_relaxed);
}

void ascope_monitor_add(enum ascope_monitor_value value, int64_t n)
{
    if ((unsigned)value >= MONITOR_VALUES || !monitor_value_rows[value].is_sum)
        return;
    atomic_fetch_add_explicit(&values[value], n, memory_order_relaxed); /* only a number */
    if (!(atomic_load_explicit(&known_values, memory_order_relaxed) & 1u << value))
        atomic_fetch_or_explicit(&known_values, 1u << value, memory_order_relaxed);
}

void ascope_monitor_set(enum ascope_monitor_value value, int64_t n)
{
    if ((unsigned)value < MONITOR_VALUES && !monitor_value_rows[value].is_sum)
        value_put(value, n);
}

void ascope_monitor_rank(int32_t rank, uint32_t world_size)
{
    atomic_store(&known_rank, rank);
    atomic_store(&known_world, world_size);
}

static void values_take(int64_t out[MONITOR_VALUES])
{
    const uint32_t known = atomic_load_explicit(&known_values, memory_order_relaxed);
    for (unsigned i = 0; i < MONITOR_VALUES; i++) {
        int64_t n = MONITOR_UNKNOWN;
        if (known & 1u << i)
            n = monitor_value_rows[i].is_sum ? atomic_exchange_explicit(&values[i], 0, memory_order_relaxed)
                                             : atomic_load_explicit(&values[i], memory_order_relaxed);
        out[i] = n < 0 ? MONITOR_UNKNOWN : n;
    }
}

/* The n-th number of a small file of the system; MONITOR_UNKNOWN: it cannot be read. */
static int64_t number_in(const struct kept *file, int at)
{
    char text[256] = "", *p = text;
    const int fd = kept_fd(file);
    if (fd < 0 || pread(fd, text, sizeof text - 1, 0) <= 0)
        return MONITOR_UNKNOWN;
    long long n = -1;
    for (int i = 0; i <= at; i++) {
        char *end;
        n = strtoll(p, &end, 10);
        if (end == p)
            return MONITOR_UNKNOWN;
        p = end;
    }
    return n;
}

/* What the calling thread has used since it was asked last. A step may end on another thread than the one before: then
 * nobody knows. */
static void thread_look(struct monitor_thread *t)
{
    char path[80];
    struct timespec cpu;
    const pid_t id = (pid_t)syscall(SYS_gettid);
    int64_t cpu_ns = MONITOR_UNKNOWN;
    const bool is_same = id == t->id;
    if (!is_same) {
        kept_close(&t->delays);
        *t = (struct monitor_thread){ .id = id, .delays = KEPT_NONE };
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)id);
        kept_open(&t->delays, AT_FDCWD, path, O_RDONLY, 0);
    }
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        cpu_ns = cpu.tv_sec * SECOND_NS + cpu.tv_nsec;
    const int64_t preempted_ns = number_in(&t->delays, 1);
    if (is_same && cpu_ns != MONITOR_UNKNOWN)
        value_put(ASCOPE_MONITOR_CPU, cpu_ns - t->cpu_ns);
    if (is_same && preempted_ns != MONITOR_UNKNOWN && t->preempted_ns != MONITOR_UNKNOWN)
        value_put(ASCOPE_MONITOR_PREEMPTED, preempted_ns - t->preempted_ns);
    t->cpu_ns = cpu_ns;
    t->preempted_ns = preempted_ns;
    if (!is_same)
        atomic_fetch_and(&known_values, ~(1u << ASCOPE_MONITOR_CPU | 1u << ASCOPE_MONITOR_PREEMPTED));
}

/* ---- records ---- */

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static void record_begin(int64_t begin_unix_ns)
{
    const struct monitor_record was = m.record;
    m.record = (struct monitor_record){ .number = was.number, .lost = was.lost, .step = m.step };
    m.record.begin_unix_ns = begin_unix_ns;
}

static void record_write(struct monitor_record *r)
{
    const int fd = kept_fd(&m.file);
    if (fd < 0)
        kept_open(&m.file, AT_FDCWD, m.path, O_WRONLY | O_NOFOLLOW, 0); /* the program has closed it */
    monitor_record_seal(r);
    const ssize_t n = pwrite(m.file.fd, r, sizeof *r, monitor_record_at(r->number % m.capacity));
    const bool is_written = n == (ssize_t)sizeof *r;
    if (is_written) {
        r->number++;
    } else {
        if (!m.is_failing)
            message(ASCOPE_WARNING, "monitor: %s: %s; steps are lost until it can be written", m.path,
                    strerror(n < 0 ? errno : ENOSPC));
        r->lost++;
    }
    m.is_failing = !is_written;
}

static void record_end(uint32_t flags)
{
    struct monitor_record *const r = &m.record;
    const int64_t pages = number_in(&m.resident, 1);
    if (flags & MONITOR_STOPPED) /* what the thread did since the last step belongs to none */
        m.thread.id = 0;
    thread_look(&m.thread);
    if (pages != MONITOR_UNKNOWN)
        value_put(ASCOPE_MONITOR_RESIDENT, pages * sysconf(_SC_PAGESIZE));
    values_take(r->value);
    r->rank = atomic_load(&known_rank);
    r->world = atomic_load(&known_world);
    r->flags = flags;
    const double mean_ns = r->n_steps > 0 ? (double)r->time_ns / r->n_steps : 0;
    record_write(r);
    if (r->n_steps > 0)
        for (m.group = 1; m.group < GROUP_MOST && m.group * mean_ns < (double)m.every_ns;)
            m.group *= 2;
    record_begin(wall_ns());
}

/* Ranks of a job choose their groups alone. As all begin and end at multiples of powers of two, readers can put the
 * records of different ranks together. A record of steps that have become longer ends at the next smaller power. */
static bool is_record_due(void)
{
    const uint64_t ns = (uint64_t)m.record.time_ns;
    while (m.group > 1 && ns >= 2 * m.every_ns && m.step % m.group != 0)
        m.group /= 2;
    return m.step % m.group == 0;
}

static void begin_with(enum monitor_by by, int64_t number)
{
    m.by = by;
    m.has_begun = true;
    m.step = number < 0 ? m.step : number;
    m.group = 1;
    m.step_began_ns = steady_ns();
    thread_look(&m.thread);
    int64_t ignored[MONITOR_VALUES]; /* of the time before the first step */
    values_take(ignored);
    record_begin(wall_ns());
}

bool monitor_step_taken(enum monitor_by by, int64_t number)
{
    if (!m.is_on && !m.is_asked) {
        const struct ascope_monitor how = { .size = sizeof how, .rank = -1 };
        struct ascope_error e = { "" };
        m.is_asked = true;
        if (secure_getenv(MONITOR_VARIABLE) && !ascope_monitor_start(&how, &e))
            message(ASCOPE_WARNING, "%s; the program is not monitored", e.text);
    }
    if (!m.is_on)
        return atomic_store(&monitor_is_off, true), false;
    if (m.has_begun && by > m.by)
        return false;
    if (!m.has_begun || by < m.by) {
        begin_with(by, number);
        return false;
    }
    const uint64_t now_ns = steady_ns();
    const int64_t ns = (int64_t)(now_ns - m.step_began_ns);
    m.step_began_ns = now_ns;
    m.record.n_steps++;
    m.record.time_ns += ns;
    m.record.longest_ns = ns > m.record.longest_ns ? ns : m.record.longest_ns;
    const bool is_jump = number >= 0 && number != m.step + 1; /* the program has set its number */
    m.step = number >= 0 ? number : m.step + 1;
    if (!is_jump && !is_record_due())
        return false;
    record_end(0);
    return true;
}

void ascope_monitor_step(void)
{
    monitor_step(BY_MONITOR, -1);
}

bool ascope_monitor_iteration(void)
{
    return monitor_step(BY_ITERATION, -1);
}

/* ---- the file ---- */

/* Removes what processes of this host left more than a day ago: the directory must not grow with each start. */
static void old_files_remove(const char *dir, const char *prefix)
{
    char path[PATH_MAX];
    struct dir_names names;
    int why = 0;
    if (!dir_names_read(&names, dir, name_is_visible, &why))
        return;
    for (size_t i = 0; i < names.n; i++) {
        struct stat st;
        int unknown;
        if (strncmp(names.at[i], prefix, strlen(prefix)) != 0 ||
            snprintf(path, sizeof path, "%s/%s", dir, names.at[i]) >= (int)sizeof path)
            continue;
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            time(NULL) - st.st_mtime > KEEP_DAYS * 24 * 3600 && !lock_is_held(fd, 0, 0, &unknown))
            unlink(path);
        if (fd >= 0)
            close(fd);
    }
    dir_names_free(&names);
}

/* A signal would end the program if the file became larger than it may have files. */
static uint64_t capacity_of(uint64_t bytes)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && most.rlim_cur < bytes)
        bytes = most.rlim_cur;
    return bytes < MONITOR_HEADER_BYTES ? 0 : (bytes - MONITOR_HEADER_BYTES) / sizeof(struct monitor_record);
}

static bool file_create(const char *dir, uint64_t bytes, struct error *e)
{
    struct monitor_header h = { .record_bytes = sizeof(struct monitor_record),
                                .pid = getpid(),
                                .began_unix_ns = wall_ns() };
    char host[MONITOR_HOST_BYTES] = "", prefix[sizeof MONITOR_PREFIX + MONITOR_HOST_BYTES];
    memcpy(h.magic, MONITOR_MAGIC, sizeof h.magic);
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        strcpy(host, "localhost");
    strcpy(h.host, host);
    m.capacity = capacity_of(bytes);
    if (m.capacity < RECORDS_LEAST)
        return error_set(e, FAULT_ASKED, "monitor: a file of %llu bytes is too small", (unsigned long long)bytes);
    h.capacity = (uint32_t)(m.capacity < UINT32_MAX ? m.capacity : UINT32_MAX);
    m.capacity = h.capacity;
    monitor_header_seal(&h);
    if (!place_parents(dir, e))
        return false;
    snprintf(prefix, sizeof prefix, MONITOR_PREFIX "%s_", host);
    old_files_remove(dir, prefix);
    if (snprintf(m.path, sizeof m.path, "%s/%s%d_%llx" MONITOR_SUFFIX, dir, prefix, (int)getpid(),
                 (unsigned long long)h.began_unix_ns) >= (int)sizeof m.path)
        return error_set(e, FAULT_IO, "%.200s: the path is too long", dir);
    m.file = (struct kept)KEPT_NONE;
    struct kept locked = KEPT_NONE;
    bool done = kept_open(&m.file, AT_FDCWD, m.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0640) &&
                pwrite(m.file.fd, &h, sizeof h, 0) == (ssize_t)sizeof h;
    const int why = errno;
    /* An open file of its own: the lock must not be shared with a forked child, which has this descriptor. */
    if (done && kept_open(&locked, AT_FDCWD, m.path, O_RDWR | O_NOFOLLOW, 0) && lock_try(locked.fd, 0, 0))
        m.lock = lock_keep(locked.fd);
    kept_close(&locked);
    if (!done) {
        if (m.file.fd >= 0)
            unlink(m.path);
        kept_close(&m.file);
        error_set(e, FAULT_IO, "monitor: %s: %s", m.path, strerror(why ? why : ENOSPC));
    }
    return done;
}

/* ---- life ---- */

static void forget_in_child(void)
{
    m.is_on = m.has_begun = false;
    atomic_store(&monitor_is_off, true); /* not by the environment: only what is asked for in the child */
    kept_close(&m.file);
    kept_close(&m.resident);
    kept_close(&m.thread.delays);
    m.thread.id = 0;
    m.lock = NULL; /* not in the child */
}

static void prepare_once(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(ascope_monitor_stop);
}

static int64_t number_of(const char *variable, int64_t otherwise)
{
    const char *const text = getenv(variable);
    char *end = NULL;
    const long long n = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && !*end && n >= 0 && n <= INT32_MAX ? n : otherwise;
}

bool ascope_monitor_start(const struct ascope_monitor *given, struct ascope_error *to)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct error e = { 0 };
    struct ascope_monitor how = { .size = sizeof how, .rank = -1 };
    if (given && !sized_copy(&how, sizeof how, given)) {
        error_set(&e, FAULT_ASKED, "monitor of %u bytes: set its size to sizeof(struct ascope_monitor)", given->size);
        return error_pass(&e, to);
    }
    const char *const dir = how.dir && *how.dir ? how.dir : secure_getenv(MONITOR_VARIABLE);
    if (m.is_on)
        error_set(&e, FAULT_ASKED, "monitor: already running; stop it first");
    else if (!dir || !*dir)
        error_set(&e, FAULT_ASKED, "monitor: no directory given");
    if (e.fault != FAULT_NONE || !file_create(dir, how.file_bytes ? how.file_bytes : FILE_BYTES, &e))
        return error_pass(&e, to);
    pthread_once(&once, prepare_once);
    ascope_monitor_rank(how.rank >= 0 ? how.rank : (int32_t)number_of("RANK", -1),
                        how.world_size ? how.world_size : (uint32_t)number_of("WORLD_SIZE", 0));
    m.every_ns = (uint64_t)(how.every_ms ? how.every_ms : EVERY_MS) * 1000000;
    m.resident = (struct kept)KEPT_NONE;
    kept_open(&m.resident, AT_FDCWD, "/proc/self/statm", O_RDONLY, 0);
    m.record = (struct monitor_record){ 0 };
    m.has_begun = m.is_failing = false;
    m.step = 0;
    m.is_asked = m.is_on = true;
    atomic_store(&known_values, 0);
    for (unsigned i = 0; i < MONITOR_VALUES; i++)
        atomic_store(&values[i], 0);
    atomic_store(&monitor_is_off, false);
    return error_pass(&e, to);
}

const char *ascope_monitor_path(void)
{
    return m.is_on ? m.path : NULL;
}

void ascope_monitor_stop(void)
{
    if (!m.is_on)
        return;
    if (!m.has_begun)
        record_begin(wall_ns());
    record_end(MONITOR_STOPPED);
    m.is_on = false;
    atomic_store(&monitor_is_off, true);
    kept_close(&m.file);
    kept_close(&m.resident);
    kept_close(&m.thread.delays);
    m.thread.id = 0;
    lock_release(m.lock);
    m.lock = NULL;
}
