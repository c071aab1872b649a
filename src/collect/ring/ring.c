/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/ring.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/text/error.h"
#include "collect/ring/ring_inline.h"
#include "collect/ring/rings_left.h"
#include "collect/session/host_clock.h"

__thread struct ring *ring_of_thread __attribute__((tls_model("initial-exec")));
static __thread bool is_taking __attribute__((
    tls_model("initial-exec"))); /* this thread is getting its ring: a signal handler that interrupts it gets none */
__thread uint32_t ring_thread_number __attribute__((tls_model("initial-exec")));

enum { NO_SESSION = RING_NO_SESSION, NEVER_ATTACHED = RING_NEVER_ATTACHED };

static struct ring ring_of[RINGS_MOST]; /* not in the heap: a signal handler may be the first to record */
static _Atomic uint32_t n_rings_of;
/* A stack of the rings that no thread has: in the lower half the number of the top one plus 1, in the upper half a
 * count of all changes, so that a top that was removed and came back is noticed. */
static _Atomic uint64_t free_rings;
static _Atomic uint32_t
    n_attaching; /* threads that are getting a ring of the file, which may take as long as the disk needs */
static _Atomic uint32_t session_own;
const _Atomic uint32_t *_Atomic ring_session_word = &session_own;
static uint32_t session_last;
static bool is_stopped = true;
static struct ring_process first_process = { .is_known = 1 };
struct ring_process *_Atomic ring_process = &first_process;
static pthread_key_t leaving;
_Atomic bool ring_has_barrier;

uint32_t ring_thread(void)
{
    if (__builtin_expect(ring_thread_number == 0, 0))
        ring_thread_number = (uint32_t)gettid();
    return ring_thread_number;
}

uint32_t ring_session(void)
{
    return ring_session_now();
}

/* ---- rings that no thread has ---- */

static struct ring *free_pop(void)
{
    uint64_t top = atomic_load_explicit(&free_rings, memory_order_acquire);
    while ((uint32_t)top != 0) {
        struct ring *r = &ring_of[(uint32_t)top - 1];
        const uint64_t below = atomic_load_explicit(&r->next_free, memory_order_relaxed);
        const uint64_t next = ((top >> 32) + 1) << 32 | below;
        if (atomic_compare_exchange_weak_explicit(
                &free_rings, &top, next, memory_order_acquire,
                memory_order_acquire)) /* also makes visible what its last thread stored in it */
            return r;
    }
    return NULL;
}

static void free_push(struct ring *r)
{
    uint64_t top = atomic_load_explicit(&free_rings, memory_order_relaxed);
    uint64_t next;
    do {
        atomic_store_explicit(&r->next_free, (uint32_t)top, memory_order_relaxed);
        next = ((top >> 32) + 1) << 32 | (uint32_t)(r - ring_of + 1);
    } while (
        !atomic_compare_exchange_weak_explicit(&free_rings, &top, next, memory_order_release,
                                               memory_order_relaxed)); /* its state is stored before it can be found */
}

/* A thread ends. If it was ended while it put a record, the ring has half a record, and is not used again. */
static void thread_leave(void *p)
{
    struct ring *r = p;
    ring_of_thread = NULL;
    r->tried = NO_SESSION; /* the next thread may try again */
    if (atomic_load_explicit(&r->inside, memory_order_relaxed) == 0)
        free_push(r);
}

static void after_fork(void);

/* Gives a ring to a thread that has none. */
static struct ring *ring_take(void)
{
    if (is_taking || ring_session_now() == NO_SESSION) /* also makes visible what rings_open() prepared */
        return NULL;
    is_taking = true;
    struct ring *r = free_pop();
    if (!r) {
        uint32_t n = atomic_load_explicit(&n_rings_of, memory_order_relaxed);
        while (n < RINGS_MOST && !atomic_compare_exchange_weak(&n_rings_of, &n, n + 1))
            ;
        if (n < RINGS_MOST) {
            r = &ring_of[n];
            r->session = NEVER_ATTACHED;
            r->countdown = r->stands_for = 1;
        }
    }
    if (r) {
        pthread_setspecific(leaving, r);
        /* a signal handler of this thread sees the ring only when it is complete */
        atomic_signal_fence(memory_order_seq_cst);
        ring_of_thread = r;
    }
    is_taking = false;
    return r;
}

__attribute__((noinline)) struct ring *ring_find_first(void)
{
    if (!ring_process_is_known())
        after_fork();
    return ring_of_thread ? ring_of_thread : ring_take();
}

/* ---- a ring for a thread ---- */

static uint8_t *ring_get(uint32_t session, uint32_t *number, int *why)
{
    if (is_outside(session))
        return outside_ring(session, number, why);
    enum { TRIES = 8 }; /* the program may close the descriptor in between */
    uint8_t *base = NULL;
    *number = RINGS_MOST;
    *why = EBADF;
    for (int i = 0; i < TRIES && !base && *why == EBADF; i++) {
        struct kept own;
        const int fd = rings_fd(&own);
        *why = fd < 0 ? errno : 0;
        if (fd >= 0 && *number >= RINGS_MOST)
            *number = ring_claim(fd, (uint32_t)getpid(), why);
        if (fd >= 0 && *number < RINGS_MOST)
            base = ring_map(fd, *number);
        if (!base && *why == 0)
            *why = errno;
        kept_close(&own);
    }
    return base;
}

/* A signal handler that interrupts a thread before it has its ring has nowhere to put its records. Getting a ring takes
 * long enough for that to happen: a shell's child makes its first call when SIGCHLD arrives. Signals that the thread
 * itself raises are not blocked, because blocking them would end the program. */
static void signals_hold(sigset_t *were)
{
    static const int own[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT };
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&held, own[i]);
    pthread_sigmask(SIG_BLOCK, &held, were);
}

static bool attach(struct ring *r, uint32_t session)
{
    const struct rings_layout *h = &rings.layout;
    const int errno_was = errno; /* the program may read errno of its own call after this */
    int why = 0;
    uint32_t number = RINGS_MOST;
    atomic_fetch_add(&n_attaching, 1);
    outside_forget(r);
    r->session = NEVER_ATTACHED;
    int cancels; /* open() is a cancellation point, and this thread may hold the lock of rings_outside.c */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
    uint8_t *const base = ring_get(session, &number, &why);
    pthread_setcancelstate(cancels, NULL);
    if (!base) {
        if (!atomic_load(&rings.is_gone)) /* which the writer reports */
            atomic_store(&rings.trouble, why ? why : errno);
        errno = errno_was;
        atomic_fetch_sub(&n_attaching, 1);
        return false;
    }
    /* Before the first touch: the handler of bus errors has to find the mapping, and so does the writer. */
    atomic_store_explicit(&rings.base[number], base, memory_order_release);
    r->shared = (struct ring_shared *)base;
    for (unsigned l = 0; l < RING_LANES;
         l++) { /* a ring that another process left behind continues where that process stopped */
        r->lane[l] = (struct ring_lane){ .head = atomic_load_explicit(&r->shared->lane[l].head, memory_order_acquire),
                                         .bytes = h->lane_bytes[l],
                                         .seed = lane_seed(rings.id, number, l),
                                         .data = ring_lane_at(base, l) };
        r->open_at[l] = 0;
        r->open_full[l] = false;
    }
    r->open = (struct ring_open *)(base + h->open_at);
    ring_begin_grown(r, rings.front->grows);
    r->number = number;
    r->addresses = rings_addresses();
    errno = errno_was;
    atomic_signal_fence(memory_order_seq_cst);
    r->session = session;
    atomic_fetch_sub(&n_attaching, 1);
    return true;
}

/* The caller is inside, so that the session cannot end meanwhile. A signal handler that interrupts this finds `tried`
 * set, and does not try. */
__attribute__((noinline)) bool ring_attach(struct ring *r, uint32_t session)
{
    sigset_t signals;
    if (session == NO_SESSION || r->tried == session)
        return false;
    faults_admit(); /* from here on this thread touches mapped pages */
    signals_hold(&signals);
    r->tried = session;
    const bool has_ring = attach(r, session);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    return has_ring;
}

/* ---- putting ---- */

/* Only this thread and its signal handlers write the counter; an increment that a handler interrupts may lose the
 * handler's. */
static void ring_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

void ring_count_dropped(enum stream_id stream, uint64_t n)
{
    atomic_fetch_add_explicit(&rings.dropped[DROP_FULL][stream], n, memory_order_relaxed);
}

/* Why a record is dropped by a thread without a ring, or with a ring that cannot grow. */
static enum drop_reason drop_reason(const struct ring *r)
{
    if (r && r->session == ring_session())
        return r->is_stuck[0] || r->is_stuck[1] ? DROP_SPACE : DROP_FULL;
    if (!r)
        return atomic_load_explicit(&n_rings_of, memory_order_relaxed) < RINGS_MOST ? DROP_FULL : DROP_THREADS;
    return drop_reason_of(atomic_load_explicit(&rings.trouble, memory_order_relaxed));
}

__attribute__((noinline)) void ring_drop(struct ring *r, enum stream_id stream)
{
    const enum drop_reason reason = drop_reason(r);
    if (r && r->session == ring_session() && reason == DROP_FULL) {
        atomic_fetch_add_explicit(&r->shared->dropped[stream], 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&r->shared->dropped_again[stream], 1, memory_order_relaxed);
    } else if (is_outside(ring_session()))
        outside_drop(reason, stream);
    else if (ring_session() != NO_SESSION)
        atomic_fetch_add_explicit(&rings.dropped[reason][stream], 1, memory_order_relaxed);
    if (r)
        ring_leave(r, RING_PUTTING);
}

static struct ring_slot dropped(struct ring *r, enum stream_id stream)
{
    ring_drop(r, stream);
    return (struct ring_slot){ .at = NULL };
}

/* Signals are blocked before the thread is inside its ring, so that a handler finds it either outside or with its
 * ring. */
__attribute__((noinline)) void ring_prepare(void)
{
    const uint32_t session = ring_session_now();
    sigset_t signals;
    if (session == NO_SESSION || (ring_of_thread && ring_of_thread->tried == session))
        return;
    faults_admit();
    signals_hold(&signals);
    struct ring *const r = ring_find();
    if (r) {
        const uint32_t level = ring_enter(r, RING_PUTTING) >> RING_LANE_SHIFT;
        ring_is_attached(r, level);
        ring_leave(r, RING_PUTTING);
    }
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

struct ring_slot ring_put(enum stream_id stream, unsigned device, size_t bytes)
{
    if (__builtin_expect(!ring_of_thread || ring_of_thread->session != ring_session_now(), 0))
        ring_prepare();
    struct ring *const r = ring_find();
    if (__builtin_expect(!r, 0))
        return dropped(NULL, stream);
    const uint32_t level = ring_enter(r, RING_PUTTING) >> RING_LANE_SHIFT;
    if (__builtin_expect(!ring_is_attached(r, level) || level >= RING_LANES || bytes - 1 >= RECORD_MOST, 0))
        return dropped(r, stream);

    struct ring_lane *lane = &r->lane[level];
    const size_t room = record_room(bytes);
    if (__builtin_expect(lane->end - lane->head < room, 0) && !lane_extend(r, level, room))
        return dropped(r, stream);
    if (level == 0 && __builtin_expect(--r->countdown == 0, 0)) {
        r->countdown = COST_SAMPLED_OF;
        r->measured_from = host_clock_now();
    }
    return ring_slot_at(lane, stream, device < UINT8_MAX ? device : UINT8_MAX, bytes);
}

bool ring_is_short(void)
{
    struct ring *r = ring_of_thread;
    if (!r)
        return false;
    ring_enter(r, RING_INSIDE);
    bool is_short = false;
    if (r->session != NO_SESSION && r->session == ring_session()) {
        struct ring_lane *lane = &r->lane[0];
        is_short = lane->head - atomic_load_explicit(&r->shared->lane[0].tail, memory_order_relaxed) > lane->bytes / 2;
    }
    ring_leave(r, RING_INSIDE);
    return is_short;
}

void ring_done(struct ring_slot slot)
{
    struct ring *r = ring_of_thread;
    const uint32_t level = (atomic_load_explicit(&r->inside, memory_order_relaxed) >> RING_LANE_SHIFT) - 1;
    struct ring_lane *lane = &r->lane[level];
    lane->head = ring_slot_end(slot, lane);
    ring_count(&r->shared->lane[level].n_records, 1);
    atomic_store_explicit(&r->shared->lane[level].head, lane->head,
                          memory_order_release); /* the bytes are stored before the writer sees them */
    if (__builtin_expect(r->measured_from != 0, 0) && level == 0) {
        ring_count(&r->shared->cost_ticks, (host_clock_now() - r->measured_from) * r->stands_for);
        ring_count(&r->shared->cost_samples, 1);
        r->measured_from = 0;
        r->stands_for = COST_SAMPLED_OF;
    }
    ring_leave(r, RING_PUTTING);
}

void ring_put_words(enum stream_id stream, size_t bytes, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f, uint64_t g)
{
    const uint64_t word[] = { a, b, c, d, e, f, g };
    const struct ring_slot slot = ring_put(stream, 0, bytes);
    if (!slot.at)
        return;
    memcpy(slot.at, word, bytes);
    ring_done(slot);
}

/* ---- sessions ---- */

static void session_set(uint32_t session)
{
    atomic_store(&session_own, session);
    atomic_store(&ring_session_word, &session_own);
    atomic_store(&rings.session, session);
    atomic_store(&atomic_load(&ring_process)->inline_session, ring_has_barrier ? session : NO_SESSION);
}

static void barrier_register(void)
{
    ring_has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* The child has neither the mapped memory nor the other threads. If a signal handler forked while its thread put a
 * record, the child will finish that record, in memory that nobody reads. */
static void after_fork(void)
{
    struct ring *r = ring_of_thread;
    ring_thread_number = 0;
    is_taking = false;
    atomic_store(&n_attaching, 0);
    session_set(NO_SESSION);
    is_stopped = true;
    if (rings.front) {
        if (r && r->session != NEVER_ATTACHED && atomic_load(&r->inside) != 0)
            mmap(r->shared, r->addresses, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        kept_close(&rings.file);
        rings.front = NULL; /* a forked child has no mapping of it */
        rings.lock = NULL;  /* nor of the lock */
    }
    if (r) {
        r->session = NEVER_ATTACHED;
        r->tried = NO_SESSION;
    }
    const _Atomic uint32_t *const followed = outside_in_child();
    if (followed)
        atomic_store(&ring_session_word, followed);
    atomic_store(&free_rings, 0);
    for (uint32_t i = 0; i < RINGS_MOST; i++)
        atomic_store(&rings.base[i], NULL);
    for (uint32_t i = atomic_load(&n_rings_of); i-- > 0;)
        if (&ring_of[i] != r) {
            atomic_store(&ring_of[i].inside, 0);
            ring_of[i].session = NEVER_ATTACHED;
            ring_of[i].tried = NO_SESSION;
            free_push(&ring_of[i]);
        }
    barrier_register();
    atomic_store(&atomic_load(&ring_process)->is_known, 1);
}

/* A page that the kernel clears in a child, however the child was made: not every fork calls the handlers. */
static void process_prepare(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, page, MADV_WIPEONFORK) != 0)
        return; /* before Linux 4.14: a child that was made without the handlers must not record */
    struct ring_process *const process = at;
    atomic_store(&process->is_known, 1);
    atomic_store(&ring_process, process);
}

static void prepare_once(void)
{
    process_prepare();
    pthread_key_create(&leaving, thread_leave);
    pthread_atfork(NULL, NULL, after_fork);
    barrier_register();
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

bool rings_open(const struct rings_options *o, struct error *e)
{
    prepare();
    if (outside_leave()) {
        is_stopped = false;
        rings_stop();
        if (rings.file.fd < 0) /* of another process */
            rings.front = NULL;
    }
    if (rings.front)
        return error_set(e, FAULT_ASKED, "%s: another session is open", rings.path);
    if (!rings_create(o, e))
        return false;
    faults_guard();
    rings_header_put(&(struct rings_header){ .magic = RINGS_MAGIC,
                                             .version = RINGS_VERSION,
                                             .bytes = sizeof(struct rings_header),
                                             .id = rings.id,
                                             .process = (uint32_t)getpid(),
                                             .layout = rings.layout });
    is_stopped = false;
    session_set(++session_last);
    return true;
}

void rings_end_early(void)
{
    atomic_store(&rings.is_gone, true);
    session_set(NO_SESSION);
}

/* Threads are inside for less than a microsecond. One that is still inside after a second was stopped or ended there:
 * its memory stays mapped, so that it can continue at any time. */
enum { STUCK_AFTER_MS = 1000 };

static bool is_left(const struct ring *r)
{
    return atomic_load(&r->inside) == 0;
}

void rings_stop(void)
{
    session_set(NO_SESSION);
    if (is_stopped)
        return;
    is_stopped = true;
    if (ring_has_barrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    unsigned waited_ms = 0;
    for (uint32_t i = atomic_load(&n_rings_of); i-- > 0;)
        for (; !is_left(&ring_of[i]) && (waited_ms < STUCK_AFTER_MS || atomic_load(&n_attaching) > 0); waited_ms++)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void rings_session_from(const _Atomic uint32_t *word)
{
    prepare();
    atomic_store(&ring_session_word, word);
}

static void close_all(bool removes)
{
    rings_stop();
    if (!rings.front)
        return;
    uint8_t *kept[RINGS_MOST] = { NULL };
    for (uint32_t i = atomic_load(&n_rings_of); i-- > 0;)
        if (!is_left(&ring_of[i]) && ring_of[i].session == session_last)
            kept[ring_of[i].number] = (uint8_t *)ring_of[i].shared;
    rings_unmap(kept);
    faults_leave();
    if (removes)
        unlink(rings.path);
    kept_close(&rings.file);
}

void rings_close(void)
{
    close_all(true);
}

void rings_leave(void)
{
    close_all(false);
}
