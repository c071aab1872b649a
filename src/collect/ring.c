/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "collect/host_clock.h"
#include "collect/ring_inline.h"
#include "collect/rings_guard.h"
#include "collect/rings_outside.h"

__thread struct ring *ring_of_thread __attribute__((tls_model("initial-exec")));
static __thread bool is_taking __attribute__((tls_model("initial-exec"))); /* a handler that interrupts it gets none */
__thread uint32_t ring_thread_number __attribute__((tls_model("initial-exec")));

/* A thread is inside, or it puts a record, which is inside, too. */
enum { INSIDE = 1, PUTTING = RING_PUTTING, LANE_SHIFT = RING_LANE_SHIFT };
enum { NO_SESSION = 0, NEVER_ATTACHED = RING_NEVER_ATTACHED };

struct rings rings = { .fd = -1 };
static struct ring ring_of[RINGS_MOST]; /* not in the heap: a signal handler may be the first to record */
static _Atomic uint32_t n_rings_of;
static _Atomic uint64_t
    free_rings; /* top of a stack: number + 1, below a count that distinguishes an old top from a new one */
static _Atomic uint32_t n_attaching; /* threads whose ring is being made: the disk decides how long that takes */
static _Atomic uint32_t session_own;
static const _Atomic uint32_t *_Atomic session_word = &session_own; /* or that of a collector outside */
_Atomic uint32_t ring_inline_session;
static uint32_t session_last;
static bool is_stopped = true;
static _Atomic uint32_t always_alive = 1;
static _Atomic uint32_t *_Atomic alive = &always_alive; /* 0: this is a child that does not know it yet */
static pthread_key_t leaving;
static _Atomic bool
    has_barrier; /* the kernel makes all threads agree on what they have stored; else each does so itself */

uint32_t ring_thread(void)
{
    if (__builtin_expect(ring_thread_number == 0, 0))
        ring_thread_number = (uint32_t)gettid();
    return ring_thread_number;
}

static inline uint32_t session_now(void)
{
    return atomic_load(atomic_load_explicit(&session_word, memory_order_acquire));
}

uint32_t ring_session(void)
{
    return session_now();
}

struct ring_shared *rings_shared(uint32_t ring)
{
    return (struct ring_shared *)atomic_load_explicit(&rings.base[ring], memory_order_acquire);
}

/* A thread that has got its ring since the count was read has raised the count first. */
bool rings_were_emptied(uint32_t n_read)
{
    return n_read < RINGS_MOST && rings_shared(n_read) &&
           atomic_load_explicit(&rings.front->n_rings, memory_order_acquire) <= n_read;
}

/* In addresses a lane is there twice. */
static uint8_t *lane_of(uint8_t *base, unsigned lane)
{
    const struct rings_layout *h = &rings.layout;
    return base + h->lane_at[lane] + (lane > 0 ? h->lane_bytes[0] : 0);
}

uint8_t *rings_lane(uint32_t ring, unsigned lane)
{
    return lane_of(atomic_load_explicit(&rings.base[ring], memory_order_acquire), lane);
}

/* ---- rings that no thread has ---- */

static struct ring *free_pop(void)
{
    uint64_t top = atomic_load_explicit(&free_rings, memory_order_acquire);
    while ((uint32_t)top != 0) {
        struct ring *r = &ring_of[(uint32_t)top - 1];
        const uint64_t below = atomic_load_explicit(&r->next_free, memory_order_relaxed);
        const uint64_t next = ((top >> 32) + 1) << 32 | below;
        if (atomic_compare_exchange_weak_explicit(&free_rings, &top, next, memory_order_acquire,
                                                  memory_order_acquire)) /* what its last thread left in it */
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
    } while (!atomic_compare_exchange_weak_explicit(&free_rings, &top, next, memory_order_release,
                                                    memory_order_relaxed)); /* first its state, then the news */
}

/* A thread ends. One that ended inside has left a record half done: its ring is nobody's. */
static void ring_leave(void *p)
{
    struct ring *r = p;
    ring_of_thread = NULL;
    r->tried = NO_SESSION; /* the next thread may have more luck */
    if (atomic_load_explicit(&r->inside, memory_order_relaxed) == 0)
        free_push(r);
}

static void after_fork(void);

/* A child that was made without the handlers, by a system call of its own, has none of the memory. */
static void child_notice(void)
{
    const _Atomic uint32_t *const word = atomic_load_explicit(&alive, memory_order_acquire);
    if (__builtin_expect(atomic_load_explicit(word, memory_order_relaxed) == 0, 0))
        after_fork();
}

static struct ring *ring_take(void)
{
    if (is_taking || session_now() == NO_SESSION) /* what was prepared before it is seen */
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
        atomic_signal_fence(memory_order_seq_cst); /* a handler sees it whole */
        ring_of_thread = r;
    }
    is_taking = false;
    return r;
}

/* ---- its memory ---- */

/* Room on the disk, or none: a page of a mapped file that finds no room when it is touched would kill the program, and so would
 * a file that grows beyond what the process may write. */
static bool file_grow(int fd, uint64_t offset, uint64_t bytes, int *why)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur)
        *why = EFBIG;
    else
        *why = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    return *why == 0;
}

static bool map_at(int fd, uint8_t *at, uint64_t bytes, uint64_t offset)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

uint64_t rings_addresses(void)
{
    const struct rings_layout *h = &rings.layout;
    return h->ring_bytes + h->lane_bytes[0] + h->lane_bytes[1];
}

uint8_t *ring_map(int fd, uint32_t number)
{
    const struct rings_layout *h = &rings.layout;
    const uint64_t offset = h->rings_at + number * h->ring_bytes;
    uint8_t *base = mmap(NULL, rings_addresses(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    bool is_mapped = map_at(fd, base, h->lane_at[0], offset);
    for (unsigned l = 0; l < RING_LANES && is_mapped; l++) {
        uint8_t *at = lane_of(base, l);
        is_mapped = map_at(fd, at, h->lane_bytes[l], offset + h->lane_at[l]) &&
                    map_at(fd, at + h->lane_bytes[l], h->lane_bytes[l], offset + h->lane_at[l]);
    }
    if (is_mapped && madvise(base, rings_addresses(), MADV_DONTFORK) == 0)
        return base;
    const int why = errno;
    munmap(base, rings_addresses());
    errno = why;
    return NULL;
}

/* Somebody cut the file, and a ring behind the end would make it long again: its holes would pass for rings that have nothing in
 * them. Of as many rings as come before this one, whichever they are, one ends here or later. */
static bool is_cut_short(int fd, uint32_t n)
{
    const struct rings_layout *h = &rings.layout;
    struct stat st;
    return atomic_load(&rings.front->n_ready) >= n && fstat(fd, &st) == 0 &&
           (uint64_t)st.st_size < h->rings_at + n * h->ring_bytes;
}

/* The number first: where the file system cannot make room by itself, the
 * library touches every block, and must not meet another thread's records there. */
uint32_t ring_claim(int fd, uint32_t owner, int *why)
{
    const struct rings_layout *h = &rings.layout;
    uint32_t n = atomic_load(&rings.front->n_rings);
    for (uint32_t i = 0; i < n && i < RINGS_MOST; i++) { /* one that a process left behind */
        uint32_t left = OWNER_LEFT;
        if (atomic_load_explicit(&rings.front->owner[i], memory_order_relaxed) == left &&
            atomic_compare_exchange_strong(&rings.front->owner[i], &left, owner))
            return i;
    }
    do {
        if (n >= RINGS_MOST) {
            *why = EMFILE;
            return RINGS_MOST;
        }
    } while (!atomic_compare_exchange_weak(&rings.front->n_rings, &n, n + 1));
    if (is_cut_short(fd, n)) {
        rings_end_early();
        return RINGS_MOST;
    }
    if (file_grow(fd, h->rings_at + n * h->ring_bytes, h->ring_bytes, why)) {
        atomic_store_explicit(&rings.front->owner[n], owner, memory_order_release); /* its room is there */
        atomic_fetch_add(&rings.front->n_ready, 1);
        return n;
    }
    uint32_t next = n + 1;
    atomic_compare_exchange_strong(&rings.front->n_rings, &next, n); /* unless somebody has the one behind it */
    return RINGS_MOST;
}

/* ---- a ring for a thread ---- */

static uint8_t *ring_get(uint32_t session, uint32_t *number, int *why)
{
    if (is_outside(session))
        return outside_ring(session, number, why);
    *number = ring_claim(rings.fd, (uint32_t)getpid(), why);
    return *number < RINGS_MOST ? ring_map(rings.fd, *number) : NULL;
}

/* Inside, so that the session stays what it is. A handler that interrupts this finds it tried. */
static bool ring_attach(struct ring *r, uint32_t session)
{
    if (session == NO_SESSION || r->tried == session)
        return false;
    r->tried = session;
    const struct rings_layout *h = &rings.layout;
    const int errno_was = errno; /* the program may be about to look at its own */
    int why = 0;
    uint32_t number = RINGS_MOST;
    bus_errors_admit(); /* from here on it touches the rings */
    atomic_fetch_add(&n_attaching, 1);
    outside_forget(r);
    r->session = NEVER_ATTACHED;
    int cancels; /* files are opened, where threads can be cancelled; what this one holds would stay so */
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
    /* The writer finds it mapped; and so does the handler of bus errors, from the first touch on. */
    atomic_store_explicit(&rings.base[number], base, memory_order_release);
    r->shared = (struct ring_shared *)base;
    for (unsigned l = 0; l < RING_LANES; l++) { /* a process that has ended may have put records into it */
        r->lane[l] =
            (struct ring_lane){ .head = atomic_load_explicit(&r->shared->lane[l].head, memory_order_acquire),
                                .tail_seen = atomic_load_explicit(&r->shared->lane[l].tail, memory_order_acquire),
                                .bytes = h->lane_bytes[l],
                                .seed = lane_seed(rings.id, number, l),
                                .data = lane_of(base, l) };
        r->open_at[l] = 0;
        r->open_full[l] = false;
    }
    r->open = (struct ring_open *)(base + h->open_at);
    r->number = number;
    r->addresses = rings_addresses();
    errno = errno_was;
    atomic_signal_fence(memory_order_seq_cst);
    r->session = session;
    atomic_fetch_sub(&n_attaching, 1);
    return true;
}

/* ---- putting ---- */

/* The other side is rings_stop(): either it sees that this thread is inside, or this thread sees that the session is over. */
static inline uint32_t enter(struct ring *r, uint32_t how)
{
    const uint32_t was = atomic_load_explicit(&r->inside, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&has_barrier, memory_order_relaxed), 1)) /* set before the session */
        atomic_store_explicit(&r->inside, was + how, memory_order_relaxed);
    else
        atomic_exchange(&r->inside, was + how);
    atomic_signal_fence(memory_order_seq_cst);
    return was;
}

static inline void leave(struct ring *r, uint32_t how)
{
    const uint32_t was = atomic_load_explicit(&r->inside, memory_order_relaxed);
    atomic_store_explicit(&r->inside, was - how, memory_order_release); /* after it the memory may go */
}

/* A handler that interrupts its thread while that puts a record finds the ring that it has. */
static inline bool is_attached(struct ring *r, uint32_t level)
{
    const uint32_t session = session_now();
    return __builtin_expect(r->session == session, 1) || (level == 0 && ring_attach(r, session));
}

static void count(_Atomic uint64_t *counter, uint64_t n) /* of one thread, and its handlers: some may be lost to them */
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

void ring_count_dropped(enum stream_id stream, uint64_t n)
{
    atomic_fetch_add_explicit(&rings.dropped[stream], n, memory_order_relaxed);
}

static __attribute__((noinline)) struct ring_slot drop(struct ring *r, enum stream_id stream)
{
    if (r && r->session == ring_session()) {
        atomic_fetch_add_explicit(&r->shared->dropped[stream], 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&r->shared->dropped_again[stream], 1, memory_order_relaxed);
    } else if (is_outside(ring_session()))
        outside_drop(stream);
    else if (ring_session() != NO_SESSION)
        atomic_fetch_add_explicit(&rings.dropped[stream], 1, memory_order_relaxed);
    if (r)
        leave(r, PUTTING);
    return (struct ring_slot){ .at = NULL };
}

struct ring_slot ring_put(enum stream_id stream, unsigned device, size_t bytes)
{
    child_notice();
    struct ring *r = ring_of_thread;
    if (__builtin_expect(!r, 0) && !(r = ring_take()))
        return drop(NULL, stream);
    const uint32_t level = enter(r, PUTTING) >> LANE_SHIFT;
    if (__builtin_expect(!is_attached(r, level) || level >= RING_LANES || bytes - 1 >= RECORD_MOST, 0))
        return drop(r, stream);

    struct ring_lane *lane = &r->lane[level];
    const size_t room = record_room(bytes);
    if (__builtin_expect(lane->bytes - (lane->head - lane->tail_seen) < room, 0)) {
        /* Looks full: only now is the shared line worth reading. What was there may be overwritten once it is freed. */
        lane->tail_seen = atomic_load_explicit(&r->shared->lane[level].tail, memory_order_acquire);
        if (lane->bytes - (lane->head - lane->tail_seen) < room)
            return drop(r, stream);
    }
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
    enter(r, INSIDE);
    bool is_short = false;
    if (r->session != NO_SESSION && r->session == ring_session()) {
        struct ring_lane *lane = &r->lane[0];
        lane->tail_seen = atomic_load_explicit(&r->shared->lane[0].tail, memory_order_acquire);
        is_short = lane->head - lane->tail_seen > lane->bytes / 2;
    }
    leave(r, INSIDE);
    return is_short;
}

void ring_done(struct ring_slot slot)
{
    struct ring *r = ring_of_thread;
    const uint32_t level = (atomic_load_explicit(&r->inside, memory_order_relaxed) >> LANE_SHIFT) - 1;
    struct ring_lane *lane = &r->lane[level];
    lane->head = ring_slot_end(slot, lane);
    count(&r->shared->lane[level].n_records, 1);
    atomic_store_explicit(&r->shared->lane[level].head, lane->head,
                          memory_order_release); /* first the bytes, then the news */
    if (__builtin_expect(r->measured_from != 0, 0) && level == 0) {
        count(&r->shared->cost_ticks, (host_clock_now() - r->measured_from) * r->stands_for);
        count(&r->shared->cost_samples, 1);
        r->measured_from = 0;
        r->stands_for = COST_SAMPLED_OF;
    }
    leave(r, PUTTING);
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

/* ---- ranges that are open ----
 * Each lane has slots of its own, so that a handler never meets its thread on the way to one. The memory may become zeros at any
 * moment (rings_guard.h): numbers of slots are looked at before they are used. */
enum { OPEN_LOOKS_WHEN_FULL = 8 };

uint32_t rings_open_ranges(uint32_t ring)
{
    const struct ring_shared *shared = rings_shared(ring);
    uint32_t n = 0;
    for (unsigned l = 0; shared && l < RING_LANES; l++) {
        const struct ring_open *open = (const struct ring_open *)((const uint8_t *)shared + rings.layout.open_at);
        const uint32_t first = open_part(&rings.layout, l).first;
        for (uint32_t i = atomic_load_explicit(&shared->open_end[l], memory_order_relaxed); i-- > 0;)
            n += atomic_load_explicit(&open[first + i].id, memory_order_relaxed) > OPEN_ENDING;
    }
    return n;
}

/* Its number, or UINT32_MAX. A program that never ends its ranges does not pay for a long search each time. */
static uint32_t open_take(struct ring *r, unsigned lane)
{
    const struct open_part part = open_part(&rings.layout, lane);
    uint32_t looks = r->open_full[lane] ? OPEN_LOOKS_WHEN_FULL : part.n;
    uint32_t at = r->open_at[lane];
    for (; looks > 0; looks--) {
        const uint32_t slot = part.first + at;
        at = at + 1 < part.n ? at + 1 : 0;
        if (atomic_load_explicit(&r->open[slot].id, memory_order_acquire) == 0) { /* its last reader is done */
            r->open_at[lane] = at;
            r->open_full[lane] = false;
            r->open[slot].next = 0;
            if (atomic_load_explicit(&r->shared->open_end[lane], memory_order_relaxed) < slot - part.first + 1)
                atomic_store_explicit(&r->shared->open_end[lane], slot - part.first + 1, memory_order_relaxed);
            atomic_store_explicit(&r->open[slot].id, OPEN_ENDING, memory_order_relaxed);
            return slot;
        }
    }
    r->open_at[lane] = at;
    r->open_full[lane] = true;
    return UINT32_MAX;
}

static void open_free(struct ring_open *open, uint32_t slot)
{
    for (uint32_t next; slot < open_slots(&rings.layout); slot = next) {
        next = open[slot].next - 1;                                     /* 0, none, becomes UINT32_MAX */
        atomic_store_explicit(&open[slot].id, 0, memory_order_release); /* read before it is filled again */
    }
}

/* As many as are needed, chained, filled later. UINT32_MAX: not enough are free. */
static uint32_t open_take_chain(struct ring *r, unsigned lane, size_t bytes)
{
    uint32_t first = UINT32_MAX;
    for (size_t n = (bytes + OPEN_KEPT - 1) / OPEN_KEPT; n > 0; n--) {
        const uint32_t slot = open_take(r, lane);
        if (slot == UINT32_MAX) {
            open_free(r->open, first);
            return UINT32_MAX;
        }
        r->open[slot].next = first + 1;
        first = slot;
    }
    return first;
}

struct open_cursor {
    struct ring_open *open;
    uint32_t slot, at;
};

static void open_write(struct open_cursor *c, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        if (c->at == OPEN_KEPT && c->open[c->slot].next - 1 >= open_slots(&rings.layout))
            return;
        if (c->at == OPEN_KEPT)
            *c = (struct open_cursor){ c->open, c->open[c->slot].next - 1, 0 };
        const size_t part = n < OPEN_KEPT - c->at ? n : OPEN_KEPT - c->at;
        memcpy(c->open[c->slot].kept + c->at, bytes, part);
        c->at += (uint32_t)part;
        bytes += part;
        n -= part;
    }
}

uint64_t ring_range_open(uint64_t key, const void *head, size_t head_bytes, const void *text, size_t text_bytes)
{
    child_notice();
    struct ring *r = ring_of_thread;
    if (__builtin_expect(!r, 0) && !(r = ring_take()))
        return drop(NULL, STREAM_MARK), 0;
    const uint32_t level = enter(r, PUTTING) >> LANE_SHIFT;
    const size_t bytes = head_bytes + text_bytes;
    const bool is_room = is_attached(r, level) && level < RING_LANES && bytes > 0 && bytes <= RING_OPEN_MOST;
    const uint32_t slot = is_room ? open_take_chain(r, level, bytes) : UINT32_MAX;
    if (__builtin_expect(slot == UINT32_MAX, 0))
        return drop(r, STREAM_MARK), 0;
    const uint64_t id = (uint64_t)(uint16_t)r->session << ID_SESSION | (uint64_t)r->number << ID_RING |
                        (uint64_t)slot << ID_SLOT | (++r->generation & ((1u << ID_SLOT) - 1));
    struct open_cursor c = { r->open, slot, 0 };
    open_write(&c, head, head_bytes);
    open_write(&c, text, text_bytes);
    r->open[slot].bytes = (uint32_t)bytes;
    atomic_store_explicit(&r->open[slot].key, key, memory_order_relaxed);
    atomic_store_explicit(&r->open[slot].id, id, memory_order_release); /* whoever finds it finds all of it */
    leave(r, PUTTING);
    return id;
}

static size_t open_read(const struct ring_open *open, uint32_t slot, uint8_t *out, size_t most)
{
    const size_t bytes = open[slot].bytes < most ? open[slot].bytes : most;
    for (size_t done = 0; done < bytes; slot = open[slot].next - 1) {
        if (slot >= open_slots(&rings.layout))
            return 0;
        const size_t part = bytes - done < OPEN_KEPT ? bytes - done : OPEN_KEPT;
        memcpy(out + done, open[slot].kept, part);
        done += part;
    }
    return bytes;
}

size_t ring_range_take(uint64_t id, uint64_t key, void *out, size_t most)
{
    const uint32_t number = id >> ID_RING & (RINGS_MOST - 1), slot = (uint16_t)(id >> ID_SLOT);
    child_notice();
    struct ring *r = ring_of_thread;
    if (__builtin_expect(!r, 0) && !(r = ring_take()))
        return 0;
    size_t n = 0;
    enter(r, INSIDE);
    const uint32_t session = session_now();
    uint8_t *base =
        session != NO_SESSION && (uint16_t)session == id >> ID_SESSION ? (uint8_t *)rings_shared(number) : NULL;
    if (base && slot < open_slots(&rings.layout)) {
        struct ring_open *open = (struct ring_open *)(base + rings.layout.open_at);
        uint64_t expected = id;
        if (atomic_load_explicit(&open[slot].id, memory_order_acquire) == id &&
            atomic_load_explicit(&open[slot].key, memory_order_relaxed) == key &&
            atomic_compare_exchange_strong_explicit(&open[slot].id, &expected, OPEN_ENDING, memory_order_acquire,
                                                    memory_order_relaxed)) {
            n = open_read(open, slot, out, most);
            open_free(open, slot);
            if (number == r->number && slot < r->open_at[0]) /* the next one finds it warm */
                r->open_at[0] = slot;
        }
    }
    leave(r, INSIDE);
    return n;
}

/* ---- sessions ---- */

static void session_set(uint32_t session)
{
    atomic_store(&session_own, session);
    atomic_store(&session_word, &session_own);
    atomic_store(&rings.session, session);
    atomic_store(&ring_inline_session, has_barrier ? session : NO_SESSION);
}

static void barrier_register(void)
{
    has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* The child has none of the memory and none of the threads. If a handler forked while its thread was putting a record, the
 * child will finish that, into nowhere. */
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
        if (rings.fd >= 0)
            close(rings.fd);
        rings.fd = -1;
        rings.front = NULL; /* its memory is gone, too */
    }
    if (r) {
        r->session = NEVER_ATTACHED;
        r->tried = NO_SESSION;
    }
    const _Atomic uint32_t *const followed = outside_in_child();
    if (followed)
        atomic_store(&session_word, followed);
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
    atomic_store(atomic_load(&alive), 1);
}

/* A page that a child finds empty, however it was made: not every fork asks the handlers. */
static void alive_prepare(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, page, MADV_WIPEONFORK) != 0)
        return; /* an old kernel: such a child must not record */
    _Atomic uint32_t *const word = at;
    atomic_store(word, 1);
    atomic_store(&alive, word);
}

static void prepare_once(void)
{
    alive_prepare();
    pthread_key_create(&leaving, ring_leave);
    pthread_atfork(NULL, NULL, after_fork);
    barrier_register();
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

static uint64_t page_round(uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

uint64_t rings_front_bytes(void)
{
    return page_round(sizeof(struct rings_front));
}

enum { LANE_LEAST = 1 << 16 };

static struct rings_layout layout_for(uint32_t wanted)
{
    struct rings_layout l;
    uint64_t bytes = page_round(LANE_LEAST);
    while (bytes < wanted && bytes < (uint64_t)1 << 30)
        bytes *= 2;
    l.rings_at = rings_front_bytes();
    l.open_at = page_round(sizeof(struct ring_shared));
    l.lane_bytes[0] = bytes;
    l.lane_bytes[1] = bytes / 16 > page_round(LANE_LEAST) ? bytes / 16 : page_round(LANE_LEAST);
    const uint64_t open_most = (uint64_t)OPEN_SLOT_BYTES << 16; /* as ids have bits for them */
    l.lane_at[0] = l.open_at + page_round(bytes / 4 < open_most ? bytes / 4 : open_most);
    l.lane_at[1] = l.lane_at[0] + l.lane_bytes[0];
    l.ring_bytes = l.lane_at[1] + l.lane_bytes[1];
    return l;
}

void rings_header_put(struct rings_header *h)
{
    h->check = header_check(h);
    rings.front->header = *h;
    atomic_signal_fence(memory_order_seq_cst); /* killed here, one of them is whole */
    rings.front->header_again = *h;
}

/* False: these are no 32 hexadecimal digits. */
static bool id_read(struct rings_id *id, const char *digits)
{
    *id = (struct rings_id){ { 0, 0 } };
    for (size_t i = 0; i < RINGS_ID_DIGITS; i++) {
        static const char known[] = "0123456789ABCDEF";
        const char *const at = digits[i] ? strchr(known, digits[i]) : NULL;
        if (!at)
            return false;
        id->word[i / 16] = id->word[i / 16] << 4 | (uint64_t)(at - known);
    }
    return digits[RINGS_ID_DIGITS] == '\0';
}

/* The file, its lock, and the mapping of its beginning. NULL: *why says why not. */
static struct rings_front *front_map(const char *path, struct stat *st, int *why)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const uint64_t bytes = rings_front_bytes();
    fcntl(rings.fd, F_SETLK, &lock); /* where there are no locks, recovery says so */
    if (fchmod(rings.fd, 0640) != 0 || fstat(rings.fd, st) != 0) {
        *why = errno;
    } else if (file_grow(rings.fd, 0, bytes, why)) {
        void *front = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rings.fd, 0);
        if (front != MAP_FAILED) {
            madvise(front, bytes, MADV_DONTFORK);
            return front;
        }
        *why = errno;
    }
    unlink(path);
    close(rings.fd);
    rings.fd = -1;
    return NULL;
}

bool rings_open(const struct rings_options *o, struct error *e)
{
    prepare();
    if (outside_leave()) {
        is_stopped = false;
        rings_stop();
        if (rings.fd < 0)
            rings.front = NULL;
    }
    if (rings.front)
        return error_set(e, FAULT_ASKED, "%s: another session is open", rings.path);
    if (strlen(o->path) >= sizeof rings.path)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long", o->path);
    if (!id_read(&rings.id, o->id))
        return error_set(e, FAULT_ASKED, "%s: a session's id has %d hexadecimal digits", o->id, RINGS_ID_DIGITS);
    strcpy(rings.path, o->path);
    int why = 0;
    struct stat st;
    rings.fd = (int)TEMP_FAILURE_RETRY(open(o->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (rings.fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", o->path, write_trouble(errno));
    struct rings_front *front = front_map(o->path, &st, &why);
    if (!front)
        return error_set(e, FAULT_IO, "%s: no space for records: %s", o->path, write_trouble(why));
    rings.device = st.st_dev;
    rings.inode = st.st_ino;
    rings.layout = layout_for(o->ring_bytes);
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        atomic_store(&rings.dropped[s], 0);
    atomic_store(&rings.trouble, 0);
    atomic_store(&rings.is_gone, false);
    rings.front = front;
    bus_errors_guard();
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

/* Threads are inside for less than a microsecond. One that is not out after a second was stopped, or ended, there: its memory
 * stays where it is, so that it may go on whenever it wants. */
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
    if (has_barrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    unsigned waited_ms = 0;
    for (uint32_t i = atomic_load(&n_rings_of); i-- > 0;)
        for (; !is_left(&ring_of[i]) && (waited_ms < STUCK_AFTER_MS || atomic_load(&n_attaching) > 0); waited_ms++)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void rings_session_from(const _Atomic uint32_t *word)
{
    prepare();
    atomic_store(&session_word, word);
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
    for (uint32_t i = 0; i < RINGS_MOST; i++) {
        uint8_t *base = atomic_exchange(&rings.base[i], NULL);
        if (base && base != kept[i])
            munmap(base, rings_addresses());
    }
    munmap(rings.front, rings_front_bytes());
    rings.front = NULL;
    bus_errors_leave();
    if (removes)
        unlink(rings.path);
    close(rings.fd);
    rings.fd = -1;
}

void rings_close(void)
{
    close_all(true);
}

void rings_leave(void)
{
    close_all(false);
}
