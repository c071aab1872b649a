/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/ring.h"

#include <string.h>

#include "collect/ring/ring_inline.h"

/* Each lane has its own slots, so that a signal handler never changes what its thread is changing. The memory may
 * become zeros at any moment (rings_guard.c): numbers of slots that are read from it are checked before they are
 * used. */

enum { OPEN_LOOKS_WHEN_FULL = 8 };

uint32_t rings_open_ranges(uint32_t ring)
{
    const struct ring_shared *shared = rings_shared(ring);
    uint32_t n = 0;
    for (unsigned l = 0; shared && l < RING_LANES; l++) {
        const struct ring_open *open = (const struct ring_open *)((const uint8_t *)shared + rings.layout.open_at);
        const struct open_part part = open_part(&rings.layout, l);
        const uint32_t end = atomic_load_explicit(&shared->open_end[l], memory_order_relaxed);
        /* bounded: another process may have changed the file */
        for (uint32_t i = end < part.n ? end : part.n; i-- > 0;)
            n += atomic_load_explicit(&open[part.first + i].id, memory_order_relaxed) > OPEN_ENDING;
    }
    return n;
}

/* Reserves a slot: its number; UINT32_MAX: none is free. After a search that found none the next ones look at a few
 * slots only: a program that never ends its ranges should not pay for a long search each time. */
static uint32_t open_take(struct ring *r, unsigned lane)
{
    const struct open_part part = open_part(&rings.layout, lane);
    const uint32_t n = r->open_grown[lane];
    uint32_t looks = !r->open_full[lane] ? n + 1 : n < OPEN_LOOKS_WHEN_FULL ? n : OPEN_LOOKS_WHEN_FULL;
    uint32_t at = r->open_at[lane];
    for (; looks > 0; looks--) {
        if (looks == 1 && !r->open_full[lane]) { /* no slot with room in the file is free */
            if (!open_extend(r, lane))
                break;
            at = n;
        }
        const uint32_t slot = part.first + at;
        at = at + 1 < r->open_grown[lane] ? at + 1 : 0;
        if (atomic_load_explicit(&r->open[slot].id, memory_order_acquire) ==
            0) { /* acquire: its last reader has finished */
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
        next = open[slot].next - 1; /* 0, none, becomes UINT32_MAX */
        atomic_store_explicit(&open[slot].id, 0,
                              memory_order_release); /* release: it was read before it is filled again */
    }
}

/* Reserves as many slots as the bytes need, as a chain: the first one's number. UINT32_MAX: not enough are free. */
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
    struct ring *const r = ring_find();
    if (__builtin_expect(!r, 0))
        return ring_drop(NULL, STREAM_MARK), 0;
    const uint32_t level = ring_enter(r, RING_PUTTING) >> RING_LANE_SHIFT;
    const size_t bytes = head_bytes + text_bytes;
    const bool is_room = ring_is_attached(r, level) && level < RING_LANES && bytes > 0 && bytes <= RING_OPEN_MOST;
    const uint32_t slot = is_room ? open_take_chain(r, level, bytes) : UINT32_MAX;
    if (__builtin_expect(slot == UINT32_MAX, 0))
        return ring_drop(r, STREAM_MARK), 0;
    const uint64_t id = (uint64_t)(uint16_t)r->session << ID_SESSION | (uint64_t)r->number << ID_RING |
                        (uint64_t)slot << ID_SLOT | (++r->generation & ((1u << ID_SLOT) - 1));
    struct open_cursor c = { r->open, slot, 0 };
    open_write(&c, head, head_bytes);
    open_write(&c, text, text_bytes);
    r->open[slot].bytes = (uint32_t)bytes;
    atomic_store_explicit(&r->open[slot].key, key, memory_order_relaxed);
    atomic_store_explicit(&r->open[slot].id, id,
                          memory_order_release); /* release: whoever finds the id finds everything above */
    ring_leave(r, RING_PUTTING);
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

/* Others have no room in the file yet, and are not even read. */
static bool open_is_used(const struct ring_shared *shared, uint32_t slot)
{
    for (unsigned l = 0; l < RING_LANES; l++) {
        const struct open_part part = open_part(&rings.layout, l);
        if (slot - part.first < part.n)
            return slot - part.first < atomic_load_explicit(&shared->open_end[l], memory_order_relaxed);
    }
    return false;
}

size_t ring_range_take(uint64_t id, uint64_t key, void *out, size_t most)
{
    const uint32_t number = id >> ID_RING & (RINGS_MOST - 1), slot = (uint16_t)(id >> ID_SLOT);
    struct ring *const r = ring_find();
    if (__builtin_expect(!r, 0))
        return 0;
    size_t n = 0;
    ring_enter(r, RING_INSIDE);
    const uint32_t session = ring_session_now();
    uint8_t *base =
        session != RING_NO_SESSION && (uint16_t)session == id >> ID_SESSION ? (uint8_t *)rings_shared(number) : NULL;
    if (base && open_is_used((const struct ring_shared *)base, slot)) {
        struct ring_open *open = (struct ring_open *)(base + rings.layout.open_at);
        uint64_t expected = id;
        if (atomic_load_explicit(&open[slot].id, memory_order_acquire) == id &&
            atomic_load_explicit(&open[slot].key, memory_order_relaxed) == key &&
            atomic_compare_exchange_strong_explicit(&open[slot].id, &expected, OPEN_ENDING, memory_order_acquire,
                                                    memory_order_relaxed)) {
            n = open_read(open, slot, out, most);
            open_free(open, slot);
            if (number == r->number && slot < r->open_at[0]) /* reused next, while it is in the cache */
                r->open_at[0] = slot;
        }
    }
    ring_leave(r, RING_INSIDE);
    return n;
}
