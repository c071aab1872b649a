/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/growing.h"
#include "collect/os_calls/os_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "collect/os_calls/os_call.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"

/* Bytes of the buffers of all CPUs together; 1 MiB holds 7,000 calls. */
enum { BUFFERS_BYTES = 1 << 25, BUFFER_MOST = 1 << 23, BUFFER_LEAST = 1 << 16, CPUS_MOST = 4096, EVENT_MOST = 1 << 16 };
enum { POINT_ENTER, POINT_EXIT, POINTS };

/* ---- the numbers of the trace points, and whether we may ---- */

static uint16_t point_id[POINTS];

/* Mounts tracefs without a name, visible only through this descriptor. -1: not possible. */
static int tracefs_open(void)
{
    int fs = -1;
#if defined(SYS_fsopen) && defined(SYS_fsmount) && defined(SYS_fsconfig)
    enum { CLOEXEC = 1, CONFIG_CREATE = 6 };
    const int made = (int)syscall(SYS_fsopen, "tracefs", CLOEXEC);
    if (made >= 0 && syscall(SYS_fsconfig, made, CONFIG_CREATE, NULL, NULL, 0) == 0)
        fs = (int)syscall(SYS_fsmount, made, CLOEXEC, 0);
    if (made >= 0)
        close(made);
#endif
    return fs;
}

static bool id_read(int dir, const char *path, uint16_t *id)
{
    char text[16] = "";
    const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    const long number = n > 0 ? strtol(text, NULL, 10) : 0;
    *id = (uint16_t)number;
    return number > 0 && number <= UINT16_MAX;
}

static bool ids_read(int dir, const char *above)
{
    char path[POINTS][128];
    snprintf(path[POINT_ENTER], sizeof path[0], "%sevents/raw_syscalls/sys_enter/id", above);
    snprintf(path[POINT_EXIT], sizeof path[0], "%sevents/raw_syscalls/sys_exit/id", above);
    return id_read(dir, path[POINT_ENTER], &point_id[POINT_ENTER]) &&
           id_read(dir, path[POINT_EXIT], &point_id[POINT_EXIT]);
}

static bool ids_find(void)
{
    if (ids_read(AT_FDCWD, "/sys/kernel/tracing/") || ids_read(AT_FDCWD, "/sys/kernel/debug/tracing/"))
        return true;
    const int fs = tracefs_open();
    const bool is_found = fs >= 0 && ids_read(fs, "");
    if (fs >= 0)
        close(fs);
    return is_found;
}

static int event_open(unsigned point, pid_t thread, int cpu)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
                                    .size = sizeof attr,
                                    .config = point_id[point],
                                    .sample_period = 1,
                                    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
                                    .sample_id_all = 1,
                                    /* the kernel refuses a buffer for an inherited event of one thread on all CPUs */
                                    .inherit = cpu >= 0,
                                    .comm = point == POINT_ENTER,
                                    .task = point == POINT_ENTER,
                                    .watermark = 1,
                                    .wakeup_watermark = BUFFER_LEAST / 2,
                                    .use_clockid = 1,
                                    .clockid = CLOCK_MONOTONIC_RAW };
    return (int)syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static const char *not_permitted;

static void permitted_find(void)
{
    static char text[120];
    if (!ids_find()) {
        not_permitted = "the trace points of the kernel (tracefs) are not readable; root is required";
        return;
    }
    const int fd = event_open(POINT_ENTER, 0, -1);
    if (fd < 0) {
        snprintf(text, sizeof text, "perf_event_open: %s; requires CAP_PERFMON or kernel.perf_event_paranoid=-1",
                 strerror(errno));
        not_permitted = text;
        return;
    }
    uint64_t before = 0, after = 0;
    const bool is_read = read(fd, &before, sizeof before) == sizeof before;
    syscall(SYS_getppid);
    if (!is_read || read(fd, &after, sizeof after) != sizeof after || after <= before)
        not_permitted = "perf_event_open: the kernel counts no system calls for this user; requires CAP_PERFMON";
    close(fd);
}

bool kernel_calls_permitted(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, permitted_find);
    *why = not_permitted;
    return !not_permitted;
}

/* ---- what is read ---- */

enum kernel_calls_event_kind { EVENT_ENTER, EVENT_EXIT, EVENT_NAME, EVENT_START, EVENT_END };

struct kernel_calls_event {
    uint64_t at_ns;
    uint32_t thread, other; /* other: who started it */
    uint16_t kind, number;  /* number: of the system call */
    int64_t value;          /* first argument, or result */
    char command[OS_CALL_COMMAND];
};

/* A thread, with the call that it is in. */
struct traced {
    uint32_t thread;        /* 0: free */
    uint32_t number_plus_1; /* 0: in none that is reported */
    uint64_t begin_ns;
    int64_t argument;
    char command[OS_CALL_COMMAND];
};

struct buffer {
    int fd; /* of the event whose buffer it is; -1: this CPU has none */
    struct perf_event_mmap_page *page;
    size_t bytes; /* of the buffer behind the page; a power of two that differs by CPU */
};

struct kernel_calls {
    struct buffer *buffer;
    unsigned n_cpus;
    size_t buffer_bytes; /* of the next one */
    int *fd;             /* of all events, to be closed */
    size_t n_fds, fds_room;
    struct pollfd *polled;
    struct kernel_calls_event *event; /* events that were read and are not sorted yet */
    size_t n_events, events_room;
    struct traced *traced; /* by the thread's number; a power of two of places */
    size_t n_traced, traced_room;
    /* when the last read of all buffers began: older events of all CPUs have been read */
    uint64_t looked_ns;
    uint8_t joined[EVENT_MOST]; /* an event that lies on both ends of a buffer */
};

/* ---- opening ---- */

static bool fd_keep(struct kernel_calls *k, int fd)
{
    if (!array_reserve(k->fd, k->fds_room, k->n_fds + 1, 64)) {
        close(fd);
        errno = ENOMEM;
        return false;
    }
    k->fd[k->n_fds++] = fd;
    return true;
}

static bool buffer_map(struct kernel_calls *k, struct buffer *b)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (;; k->buffer_bytes /= 2) { /* there is a limit for users without rights */
        void *const at = mmap(NULL, page + k->buffer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
        if (at != MAP_FAILED) {
            b->page = at;
            b->bytes = k->buffer_bytes;
            return true;
        }
        if (errno != EPERM || k->buffer_bytes <= BUFFER_LEAST)
            return false;
    }
}

/* Both points of a thread on one CPU, into the buffer of that CPU. A CPU that is not running has none. */
static bool thread_open(struct kernel_calls *k, pid_t thread, unsigned cpu)
{
    struct buffer *const b = &k->buffer[cpu];
    for (unsigned point = 0; point < POINTS; point++) {
        const int fd = event_open(point, thread, (int)cpu);
        if (fd < 0)
            return errno == ENODEV || errno == ESRCH;
        if (!fd_keep(k, fd))
            return false;
        if (!b->page) {
            b->fd = fd;
            if (!buffer_map(k, b))
                return false;
        } else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, b->fd) != 0) {
            return false;
        }
    }
    return true;
}

static struct traced *traced_find(struct kernel_calls *k, uint32_t thread, bool makes);

static void command_read(pid_t pid, pid_t thread, char command[OS_CALL_COMMAND])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)thread);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? pread(fd, command, OS_CALL_COMMAND - 1, 0) : 0;
    memset(command + (n > 0 ? n : 0), 0, OS_CALL_COMMAND - (size_t)(n > 0 ? n : 0));
    if (n > 0 && command[n - 1] == '\n')
        command[n - 1] = '\0';
    if (fd >= 0)
        close(fd);
}

static bool threads_open(struct kernel_calls *k, pid_t pid, bool (*not_of)(pid_t thread))
{
    char path[64];
    int why = 0;
    bool is_well = true;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *const dir = opendir(path);
    if (!dir)
        return false;
    for (const char *name; is_well && (name = dir_next(dir, &why));) {
        const pid_t thread = (pid_t)atoi(name);
        if (thread <= 0 || (not_of && not_of(thread)))
            continue;
        struct traced *const t = traced_find(k, (uint32_t)thread, true);
        if (t)
            command_read(pid, thread, t->command);
        for (unsigned cpu = 0; cpu < k->n_cpus && is_well; cpu++)
            is_well = thread_open(k, thread, cpu);
    }
    const int errno_was = errno;
    closedir(dir);
    errno = errno_was;
    return is_well;
}

/* Two for each CPU and thread: as many as this process may have. */
static void descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct kernel_calls *kernel_calls_open(pid_t pid, bool (*not_of)(pid_t thread), struct error *e)
{
    const char *why;
    const long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    struct kernel_calls *const k = calloc(1, sizeof *k);
    if (!k || !kernel_calls_permitted(&why)) {
        (void)(k ? error_set(e, FAULT_LIMIT, "%s", why) : error_no_memory(e, "the trace of system calls"));
        free(k);
        return NULL;
    }
    k->n_cpus = n_cpus > 0 && n_cpus <= CPUS_MOST ? (unsigned)n_cpus : 1;
    for (k->buffer_bytes = BUFFER_MOST; k->buffer_bytes * k->n_cpus > BUFFERS_BYTES && k->buffer_bytes > BUFFER_LEAST;)
        k->buffer_bytes /= 2;
    k->buffer = calloc(k->n_cpus, sizeof *k->buffer);
    k->polled = calloc(k->n_cpus, sizeof *k->polled);
    for (unsigned i = 0; k->buffer && i < k->n_cpus; i++)
        k->buffer[i].fd = -1;
    descriptors_raise();
    if (!k->buffer || !k->polled || !threads_open(k, pid, not_of) || k->n_fds == 0) {
        error_set(e, FAULT_LIMIT, "perf_event_open for process %d: %s", (int)pid,
                  k->n_fds == 0 && errno == 0 ? "it has no threads" : strerror(errno));
        kernel_calls_close(k);
        return NULL;
    }
    k->looked_ns = host_clock_raw_ns();
    return k;
}

void kernel_calls_close(struct kernel_calls *k)
{
    if (!k)
        return;
    for (unsigned i = 0; k->buffer && i < k->n_cpus; i++)
        if (k->buffer[i].page)
            munmap(k->buffer[i].page, (size_t)sysconf(_SC_PAGESIZE) + k->buffer[i].bytes);
    uint64_t id;
    /* a descriptor that is no event now was closed and reused by the program */
    for (size_t i = 0; i < k->n_fds; i++)
        if (syscall(SYS_ioctl, k->fd[i], PERF_EVENT_IOC_ID, &id) == 0)
            close(k->fd[i]);
    free(k->buffer);
    free(k->polled);
    free(k->fd);
    free(k->event);
    free(k->traced);
    free(k);
}

void kernel_calls_wait(struct kernel_calls *k, int most_ms)
{
    nfds_t n = 0;
    for (unsigned i = 0; i < k->n_cpus; i++)
        if (k->buffer[i].page)
            k->polled[n++] = (struct pollfd){ .fd = k->buffer[i].fd, .events = POLLIN };
    poll(k->polled, n, most_ms);
}

/* ---- threads ---- */

static size_t traced_place(const struct kernel_calls *k, uint32_t thread)
{
    return (thread * UINT32_C(2654435761)) & (k->traced_room - 1);
}

static bool traced_grow(struct kernel_calls *k)
{
    const size_t room = k->traced_room ? k->traced_room * 2 : 64;
    struct traced *const was = k->traced;
    const size_t n_was = k->traced_room;
    struct traced *const now = calloc(room, sizeof *now);
    if (!now)
        return false;
    k->traced = now;
    k->traced_room = room;
    for (size_t i = 0; i < n_was; i++)
        if (was[i].thread) {
            size_t at = traced_place(k, was[i].thread);
            while (now[at].thread)
                at = (at + 1) & (room - 1);
            now[at] = was[i];
        }
    free(was);
    return true;
}

static struct traced *traced_find(struct kernel_calls *k, uint32_t thread, bool makes)
{
    if (makes && k->n_traced * 2 >= k->traced_room)
        traced_grow(k);
    if (k->traced_room == 0)
        return NULL;
    size_t at = traced_place(k, thread);
    for (; k->traced[at].thread; at = (at + 1) & (k->traced_room - 1))
        if (k->traced[at].thread == thread)
            return &k->traced[at];
    if (!makes || k->n_traced + 1 >= k->traced_room)
        return NULL;
    k->n_traced++;
    k->traced[at] = (struct traced){ .thread = thread };
    return &k->traced[at];
}

/* Moves entries behind it up, because a search ends at the first free place. */
static void traced_remove(struct kernel_calls *k, struct traced *t)
{
    size_t hole = (size_t)(t - k->traced);
    const size_t last = k->traced_room - 1;
    for (size_t at = (hole + 1) & last; k->traced[at].thread; at = (at + 1) & last)
        if (((at - traced_place(k, k->traced[at].thread)) & last) >= ((at - hole) & last)) {
            k->traced[hole] = k->traced[at];
            hole = at;
        }
    k->traced[hole] = (struct traced){ 0 };
    k->n_traced--;
}

/* ---- events in the order of time ---- */

/* This thread may wait for the writer: the kernel buffers events meanwhile. */
static void room_wait(void)
{
    enum { PAUSE_NS = 200000, TRIES = 500 };
    for (int i = 0; i < TRIES && ring_is_short(); i++)
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static void call_put(const struct traced *t, const struct kernel_calls_event *end)
{
    room_wait();
    const struct ring_slot slot = ring_put(STREAM_SYSTEM_CALL, 0, sizeof(struct os_call));
    if (!slot.at)
        return;
    struct os_call *const c = (struct os_call *)slot.at;
    *c = (struct os_call){ .begin = t->begin_ns,
                           .duration = end->at_ns - t->begin_ns,
                           .argument = t->argument,
                           .result = end->value,
                           .thread = t->thread,
                           .number = (uint16_t)(t->number_plus_1 - 1),
                           .clock = OS_CALL_RAW_NS };
    memcpy(c->command, t->command, sizeof c->command);
    ring_done(slot);
}

static void event_use(struct kernel_calls *k, const struct kernel_calls_event *v)
{
    struct traced *t = traced_find(k, v->thread, v->kind != EVENT_END);
    const struct traced *other;
    if (!t)
        return;
    switch (v->kind) {
    case EVENT_ENTER:
        t->number_plus_1 = (uint32_t)v->number + 1;
        t->begin_ns = v->at_ns;
        t->argument = v->value;
        break;
    case EVENT_EXIT: /* the begin of a call from before the trace is not known */
        if (t->number_plus_1 == (uint32_t)v->number + 1)
            call_put(t, v);
        t->number_plus_1 = 0;
        break;
    case EVENT_NAME: memcpy(t->command, v->command, sizeof t->command); break;
    case EVENT_START:
        other = traced_find(k, v->other, false);
        if (other)
            memcpy(t->command, other->command, sizeof t->command);
        break;
    case EVENT_END: traced_remove(k, t); break;
    default: break;
    }
}

static int kernel_calls_by_time(const void *a, const void *b)
{
    const struct kernel_calls_event *const x = a, *const y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* ---- the buffers ---- */

static struct kernel_calls_event *event_add(struct kernel_calls *k)
{
    return array_reserve(k->event, k->events_room, k->n_events + 1, 4096) ? &k->event[k->n_events++] : NULL;
}

static uint64_t word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint32_t half_at(const uint8_t *p)
{
    uint32_t half;
    memcpy(&half, p, sizeof half);
    return half;
}

/* header | process, thread | time | bytes | what the trace point says: its number, ..., call, arguments or result */
static void sample_read(struct kernel_calls *k, const uint8_t *p, size_t n)
{
    enum { THREAD = 12, TIME = 16, BYTES = 24, POINT = 28, CALL = POINT + 8, VALUE = CALL + 8, LEAST = VALUE + 8 };
    uint16_t point;
    if (n < LEAST || half_at(p + BYTES) < LEAST - POINT)
        return;
    memcpy(&point, p + POINT, sizeof point);
    const uint64_t number = word_at(p + CALL);
    if (number > UINT16_MAX || !system_call_name((unsigned)number))
        return;
    struct kernel_calls_event *const v = event_add(k);
    if (v)
        *v = (struct kernel_calls_event){ .at_ns = word_at(p + TIME),
                                          .thread = half_at(p + THREAD),
                                          .kind = point == point_id[POINT_ENTER] ? EVENT_ENTER : EVENT_EXIT,
                                          .number = (uint16_t)number,
                                          .value = (int64_t)word_at(p + VALUE) };
    else
        ring_count_dropped(STREAM_SYSTEM_CALL, 1);
}

/* Other kinds of events end with their process and thread and their time. */
static void other_read(struct kernel_calls *k, uint32_t type, const uint8_t *p, size_t n)
{
    enum { FIRST = 8, SECOND = 12, THIRD = 16, FOURTH = 20, COMMAND = 16, TAIL = 16 };
    if (type == PERF_RECORD_LOST && n >= 24) /* id, number of events: half of them are begins */
        ring_count_dropped(STREAM_SYSTEM_CALL, (word_at(p + 16) + 1) / 2);
    const bool is_name = type == PERF_RECORD_COMM, is_start = type == PERF_RECORD_FORK,
               is_end = type == PERF_RECORD_EXIT;
    if ((!is_name && !is_start && !is_end) || n < FOURTH + 4 + TAIL)
        return;
    struct kernel_calls_event *const v = event_add(k);
    if (!v)
        return;
    *v = (struct kernel_calls_event){ .at_ns = word_at(p + n - 8),
                                      .kind = is_name    ? EVENT_NAME
                                              : is_start ? EVENT_START
                                                         : EVENT_END,
                                      .thread = half_at(p + (is_name ? SECOND : THIRD)),
                                      .other = half_at(p + FOURTH) };
    if (is_name) {
        const size_t bytes = n - COMMAND - TAIL;
        memcpy(v->command, p + COMMAND, bytes < sizeof v->command - 1 ? bytes : sizeof v->command - 1);
    }
}

static void buffer_read(struct kernel_calls *k, struct buffer *b)
{
    const uint8_t *const data = (const uint8_t *)b->page + sysconf(_SC_PAGESIZE);
    const uint64_t size = b->bytes;
    const uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE); /* the bytes before it */
    uint64_t tail = b->page->data_tail;
    while (tail != head) {
        struct perf_event_header h;
        /* headers are aligned to 8 bytes, so that none lies on both ends of the buffer */
        memcpy(&h, data + (tail & (size - 1)), sizeof h);
        const uint8_t *p = data + (tail & (size - 1));
        const uint64_t until_end = size - (tail & (size - 1));
        if (h.size < sizeof h || h.size % sizeof h != 0 || h.size > head - tail)
            break;
        if (h.size > until_end) {
            memcpy(k->joined, p, until_end);
            memcpy(k->joined + until_end, data, h.size - until_end);
            p = k->joined;
        }
        if (h.type == PERF_RECORD_SAMPLE)
            sample_read(k, p, h.size);
        else
            other_read(k, h.type, p, h.size);
        tail += h.size;
    }
    /* everything up to `head` was read: the kernel may overwrite it */
    __atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
}

/* A thread may begin a call on one CPU and end it on another, so events of all buffers are sorted by time. Events older
 * than the last look are complete: whichever CPU they came from, they are in a buffer now. */
void kernel_calls_look(struct kernel_calls *k, bool is_last)
{
    const uint64_t until_ns = is_last ? UINT64_MAX : k->looked_ns;
    if (is_last)
        for (size_t i = 0; i < k->n_fds; i++)
            ioctl(k->fd[i], PERF_EVENT_IOC_DISABLE, 0);
    k->looked_ns = host_clock_raw_ns();
    for (unsigned i = 0; i < k->n_cpus; i++)
        if (k->buffer[i].page)
            buffer_read(k, &k->buffer[i]);
    if (k->n_events == 0)
        return;
    qsort(k->event, k->n_events, sizeof *k->event, kernel_calls_by_time);
    size_t used = 0;
    for (; used < k->n_events && k->event[used].at_ns < until_ns; used++)
        event_use(k, &k->event[used]);
    memmove(k->event, k->event + used, (k->n_events - used) * sizeof *k->event);
    k->n_events -= used;
}
