/* SPDX-License-Identifier: Apache-2.0 */
/* ring_inline.h - ring_put() and ring_done(), inlined into the functions that fill a record: for the most frequent
 * records.
 *
 * Only the usual case is inline: the thread has a ring of this session, no signal handler has interrupted it, and there
 * is room. ring.c does everything else.
 */
#ifndef ASCOPE_COLLECT_RING_RING_INLINE_H
#define ASCOPE_COLLECT_RING_RING_INLINE_H

#include <string.h>

#include "collect/ring/ring.h"
#include "collect/ring/rings_file.h"

/* Otherwise the slot is passed through memory, which takes 20 ns of the 30 of a record. */
#define RING_INLINE __attribute__((always_inline))

/* Added to `inside` of a ring. The lower half counts the functions that use the ring's memory. The upper half counts
 * those of them that put a record, one per nested signal handler: it is the number of the lane to use. */
enum { RING_INSIDE = 1, RING_PUTTING = 0x10001, RING_LANE_SHIFT = 16 };

/* The ring stays mapped until ring_leave(): rings_stop() waits for threads that are inside. Either it sees that this
 * thread is inside, or this thread sees that the session is over. Returns `inside` as it was before. */
static inline uint32_t ring_enter(struct ring *r, uint32_t how)
{
    const uint32_t was = atomic_load_explicit(&r->inside, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&ring_has_barrier, memory_order_relaxed), 1)) /* set before the session */
        atomic_store_explicit(&r->inside, was + how, memory_order_relaxed);
    else
        atomic_exchange(&r->inside, was + how);
    atomic_signal_fence(memory_order_seq_cst);
    return was;
}

static inline bool ring_process_is_known(void)
{
    const struct ring_process *const process = atomic_load_explicit(&ring_process, memory_order_acquire);
    return __builtin_expect(atomic_load_explicit(&process->is_known, memory_order_relaxed) != 0, 1);
}

/* The calling thread's. A child that was made without the handlers of fork(), by a system call of its own, finds out
 * here. NULL: none. */
static inline struct ring *ring_find(void)
{
    struct ring *const r = ring_of_thread;
    return __builtin_expect(r != NULL, 1) && ring_process_is_known() ? r : ring_find_first();
}

static inline uint32_t ring_session_now(void)
{
    return atomic_load(atomic_load_explicit(&ring_session_word, memory_order_acquire));
}

/* Whether the ring belongs to the open session; at level 0 it is made so. A handler that interrupts its thread while
 * that puts a record uses the ring as it is: attaching may be what it has interrupted. */
static inline bool ring_is_attached(struct ring *r, uint32_t level)
{
    const uint32_t session = ring_session_now();
    return __builtin_expect(r->session == session, 1) || (level == 0 && ring_attach(r, session));
}

static inline void ring_leave(struct ring *r, uint32_t how)
{
    const uint32_t was = atomic_load_explicit(&r->inside, memory_order_relaxed);
    atomic_store_explicit(&r->inside, was - how, memory_order_release); /* now rings_stop() may unmap the memory */
}

static inline uint32_t ring_thread_inline(void)
{
    return __builtin_expect(ring_thread_number != 0, 1) ? ring_thread_number : ring_thread();
}

/* The pointer changes once, before the first session. A thread that reads the old pointer finds no session there. */
static inline uint32_t ring_session_inline(void)
{
    const struct ring_process *const process = atomic_load_explicit(&ring_process, memory_order_relaxed);
    return atomic_load_explicit(&process->inline_session, memory_order_acquire);
}

static inline RING_INLINE struct ring_slot ring_slot_at(const struct ring_lane *lane, unsigned stream, unsigned device,
                                                        size_t bytes)
{
    uint8_t *const at = lane->data + (lane->head & (lane->bytes - 1));
    memset(at + record_room(bytes) - RECORD_ALIGN, 0, RECORD_ALIGN);
    return (struct ring_slot){ .at = at + RECORD_HEAD, .kind = record_kind(bytes, stream, device) };
}

/* Completes a record: writes its head, with the check. Returns where the next record begins. */
static inline RING_INLINE uint64_t ring_slot_end(struct ring_slot slot, const struct ring_lane *lane)
{
    uint8_t *const at = slot.at - RECORD_HEAD;
    const uint64_t head = slot.kind << 32 | record_check(at, (uint32_t)slot.kind, lane->seed, lane->head);
    memcpy(at, &head, sizeof head); /* a struct record_head */
    return lane->head + record_room(kind_bytes((uint32_t)slot.kind));
}

static inline RING_INLINE struct ring_slot ring_put_inline(enum stream_id stream, size_t bytes)
{
    struct ring *const r = ring_of_thread;
    if (__builtin_expect(!r || atomic_load_explicit(&r->inside, memory_order_relaxed) != 0, 0))
        return ring_put(stream, 0, bytes);
    atomic_store_explicit(&r->inside, RING_PUTTING, memory_order_relaxed); /* as ring_enter() */
    atomic_signal_fence(memory_order_seq_cst);
    struct ring_lane *const lane = &r->lane[0];
    const size_t room = record_room(bytes);
    if (__builtin_expect(r->session != ring_session_inline() || lane->end - lane->head < room ||
                             bytes - 1 >= RECORD_MOST || r->countdown == 1,
                         0)) {
        atomic_store_explicit(&r->inside, 0, memory_order_release);
        return ring_put(stream, 0, bytes);
    }
    r->countdown--;
    return ring_slot_at(lane, stream, 0, bytes);
}

/* The writer's CPU has read the memory that comes next, and may still have it; the check of a record reads what was
 * stored just before, and would wait until it is here. It comes while the program does something else. */
enum { CACHE_LINE = 64, LINES_FETCHED = 4 }; /* enough for most operators with shapes */

static inline RING_INLINE void ring_fetch_next(const struct ring_lane *lane)
{
    const uint8_t *const next = lane->data + (lane->head & (lane->bytes - 1));
    for (unsigned i = 0; i < LINES_FETCHED; i++)
        __builtin_prefetch(next + i * CACHE_LINE, 1);
}

static inline RING_INLINE void ring_done_inline(struct ring_slot slot)
{
    struct ring *const r = ring_of_thread;
    if (__builtin_expect(
            atomic_load_explicit(&r->inside, memory_order_relaxed) != RING_PUTTING || r->measured_from != 0, 0)) {
        ring_done(slot);
        return;
    }
    struct ring_shared_lane *const shared = &r->shared->lane[0];
    const uint64_t n_records = atomic_load_explicit(&shared->n_records, memory_order_relaxed);
    r->lane[0].head = ring_slot_end(slot, &r->lane[0]);
    atomic_store_explicit(&shared->n_records, n_records + 1, memory_order_relaxed);
    atomic_store_explicit(&shared->head, r->lane[0].head,
                          memory_order_release); /* the bytes are stored before the writer sees them */
    ring_fetch_next(&r->lane[0]);
    atomic_store_explicit(&r->inside, 0, memory_order_release); /* now rings_stop() may unmap the memory */
}

/* A record of seven words, which is a line of the cache with its head, or of five: put and done in one go, and checked
 * by the words themselves. Reading back what was stored just before, by larger loads than it was stored by, waits until
 * the stores are done. Words are passed one by one, as they stay in registers then; of five the last two are 0. The
 * last one has zeros behind the record's bytes. */
enum { LINE_WORDS = 7, LINE_BYTES = CACHE_LINE - RECORD_HEAD, FIVE_WORDS = 5 };
_Static_assert(RECORD_HEAD == 8 && (RECORD_HEAD + LINE_BYTES) % RECORD_ALIGN == 0 &&
                   (RECORD_HEAD + FIVE_WORDS * 8) % RECORD_ALIGN == 0,
               "no zeros behind it");

/* How far ahead memory is prefetched: such records come every 20 ns, and fetching a line takes as long as ten of them. */
enum { WORDS_AHEAD = 32 * CACHE_LINE };

static inline RING_INLINE void ring_word(uint8_t *to, unsigned i, uint64_t word)
{
    memcpy(to + RECORD_HEAD + i * sizeof word, &word, sizeof word);
}

static inline RING_INLINE void ring_put_words_inline(enum stream_id stream, size_t bytes, uint64_t a, uint64_t b,
                                                     uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
    struct ring *const r = ring_of_thread;
    const size_t room = record_room(bytes);
    if (__builtin_expect(!r || atomic_load_explicit(&r->inside, memory_order_relaxed) != 0, 0)) {
        ring_put_words(stream, bytes, a, b, c, d, e, f, g);
        return;
    }
    atomic_store_explicit(&r->inside, RING_PUTTING, memory_order_relaxed); /* as ring_enter() */
    atomic_signal_fence(memory_order_seq_cst);
    struct ring_lane *const lane = &r->lane[0];
    if (__builtin_expect(r->session != ring_session_inline() || lane->end - lane->head < room || r->countdown == 1,
                         0)) {
        atomic_store_explicit(&r->inside, 0, memory_order_release);
        ring_put_words(stream, bytes, a, b, c, d, e, f, g);
        return;
    }
    r->countdown--;
    const uint32_t kind = record_kind(bytes, stream, 0);
    uint8_t *const at = lane->data + (lane->head & (lane->bytes - 1));
    ring_word(at, 0, a);
    ring_word(at, 1, b);
    ring_word(at, 2, c);
    ring_word(at, 3, d);
    ring_word(at, 4, e);
    if (room == CACHE_LINE) {
        ring_word(at, 5, f);
        ring_word(at, 6, g);
    }
    const uint64_t check = record_check_of(lane->seed + a + b + d + f, lane->head * CHECK_ODD + c + e + g, kind,
                                           lane->seed), /* as record_check() pairs them */
        head = (uint64_t)kind << 32 | check;
    memcpy(at, &head, sizeof head); /* a struct record_head */
    struct ring_shared_lane *const shared = &r->shared->lane[0];
    const uint64_t n_records = atomic_load_explicit(&shared->n_records, memory_order_relaxed);
    lane->head += room;
    atomic_store_explicit(&shared->n_records, n_records + 1, memory_order_relaxed);
    atomic_store_explicit(&shared->head, lane->head,
                          memory_order_release); /* the bytes are stored before the writer sees them */
    __builtin_prefetch(at + WORDS_AHEAD, 1);
    atomic_store_explicit(&r->inside, 0, memory_order_release); /* now rings_stop() may unmap the memory */
}

#endif
