/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/ring.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/ring/ring_inline.h"

enum { LANE_FIRST = 1 << 14, OPEN_FIRST = 64 };

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Not madvise(), which may be wrapped: the call would be recorded while a record is put. */
static bool populate(uint8_t *from, uint8_t *to)
{
    const int errno_was = errno;
    const uintptr_t page = (uintptr_t)page_bytes(), begin = (uintptr_t)from & ~(page - 1),
                    end = ((uintptr_t)to + page - 1) & ~(page - 1);
    const bool is_there = syscall(SYS_madvise, begin, end - begin, (long)MADV_POPULATE_WRITE) == 0;
    errno = errno_was;
    return is_there;
}

bool rings_can_grow(int fd, const void *page)
{
    /* They have room for a page before a process may write to it. */
    static const uint32_t sure[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                     F2FS_SUPER_MAGIC, TMPFS_MAGIC,     OVERLAYFS_SUPER_MAGIC };
    struct statfs fs;
    bool is_sure = false;
    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        is_sure |= (uint32_t)fs.f_type == sure[i];
    uint8_t *const at = (uint8_t *)(uintptr_t)page;
    return is_sure && populate(at, at + 1);
}

uint64_t lane_first_bytes(const struct rings_layout *h, unsigned lane)
{
    const uint64_t page = page_bytes(), first = page > LANE_FIRST ? page : LANE_FIRST;
    return lane > 0 ? 0 : first < h->lane_bytes[lane] ? first : h->lane_bytes[lane];
}

uint64_t lane_grown(const struct ring_shared *shared, unsigned lane, uint64_t bytes)
{
    /* relaxed: the number is not used to publish data */
    const uint64_t grown = atomic_load_explicit(&shared->lane[lane].grown, memory_order_relaxed);
    return grown < bytes ? grown : bytes;
}

bool lane_grow(struct ring_shared *shared, unsigned lane, uint8_t *data, uint64_t bytes, uint64_t to)
{
    uint64_t grown = lane_grown(shared, lane, bytes);
    to = to < bytes ? to : bytes;
    if (grown < to && !populate(data + grown, data + to))
        return false;
    while (grown < to && !atomic_compare_exchange_weak_explicit(&shared->lane[lane].grown, &grown, to,
                                                                memory_order_relaxed, memory_order_relaxed))
        ; /* the writer and the thread may grow it at the same time: the larger one counts */
    return true;
}

/* Up to where the thread may put records without looking again. As long as the lane has not grown to its end, a record
 * that says where to continue has room, too. */
static uint64_t lane_end(const struct ring_lane *lane, uint64_t tail, uint64_t grown)
{
    const uint64_t by_tail = tail + lane->bytes, lap = lane->head & ~(lane->bytes - 1);
    if (grown >= lane->bytes)
        return by_tail;
    const uint64_t by_room = lap + (grown > RECORD_ALIGN ? grown - RECORD_ALIGN : 0);
    const uint64_t end = by_room < by_tail ? by_room : by_tail;
    return end > lane->head ? end : lane->head;
}

void ring_begin_grown(struct ring *r, bool grows)
{
    for (unsigned l = 0; l < RING_LANES; l++) {
        struct ring_shared_lane *const shared = &r->shared->lane[l];
        const struct open_part part = open_part(&rings.layout, l);
        const uint64_t least = grows ? lane_first_bytes(&rings.layout, l) : r->lane[l].bytes;
        if (lane_grown(r->shared, l, r->lane[l].bytes) < least)
            atomic_store_explicit(&shared->grown, least, memory_order_relaxed); /* since the ring was claimed */
        r->lane[l].end = lane_end(&r->lane[l], atomic_load_explicit(&shared->tail, memory_order_acquire),
                                  lane_grown(r->shared, l, r->lane[l].bytes));
        /* In a ring that another thread has used, the slots that it used have room. */
        const uint32_t used = atomic_load_explicit(&r->shared->open_end[l], memory_order_relaxed);
        r->open_grown[l] = !grows || used >= part.n ? part.n : used;
        r->is_stuck[l] = false;
    }
}

/* The lane has less room than a lap, and can get no more: the next record is at the begin of the next lap, if that has
 * been read. */
static bool lane_skip(struct ring *r, unsigned level, uint64_t room, uint64_t tail, uint64_t grown)
{
    struct ring_lane *const lane = &r->lane[level];
    const uint64_t place = lane->head & (lane->bytes - 1), next = lane->head - place + lane->bytes;
    if (place == 0 || place + RECORD_ALIGN > grown || room + RECORD_ALIGN > grown || next + room > tail + lane->bytes)
        return false;
    const struct ring_slot slot = ring_slot_at(lane, RECORD_SKIP, 0, 1);
    memset(slot.at, 0, RECORD_ALIGN - RECORD_HEAD);
    ring_slot_end(slot, lane);
    lane->head = next;
    atomic_store_explicit(&r->shared->lane[level].head, next, memory_order_release); /* the record is stored before */
    return true;
}

bool lane_extend(struct ring *r, unsigned level, uint64_t room)
{
    struct ring_lane *const lane = &r->lane[level];
    uint8_t *const data = lane->data;
    for (;;) {
        /* Only now is the writer's cache line read. Acquire: the writer has read what is overwritten from here on. */
        const uint64_t tail = atomic_load_explicit(&r->shared->lane[level].tail, memory_order_acquire);
        const uint64_t grown = lane_grown(r->shared, level, lane->bytes);
        const uint64_t place = lane->head & (lane->bytes - 1), wanted = place + room + RECORD_ALIGN;
        lane->end = lane_end(lane, tail, grown);
        if (lane->end - lane->head >= room)
            return true;
        if (grown >= lane->bytes || lane->head + room > tail + lane->bytes)
            return false;
        if (!r->is_stuck[level]) {
            const uint64_t page = page_bytes(), twice = 2 * grown > wanted ? 2 * grown : wanted;
            r->is_stuck[level] = !lane_grow(r->shared, level, data, lane->bytes, (twice + page - 1) & ~(page - 1));
        } else if (!lane_skip(r, level, room, tail, grown)) {
            return false;
        }
    }
}

bool open_extend(struct ring *r, unsigned level)
{
    const struct open_part part = open_part(&rings.layout, level);
    const uint32_t had = r->open_grown[level], twice = 2 * had > OPEN_FIRST ? 2 * had : OPEN_FIRST,
                   n = twice < part.n ? twice : part.n;
    if (had >= n || !populate((uint8_t *)&r->open[part.first + had], (uint8_t *)&r->open[part.first + n]))
        return false;
    r->open_grown[level] = n;
    return true;
}
