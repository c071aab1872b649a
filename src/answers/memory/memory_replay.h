/* SPDX-License-Identifier: Apache-2.0 */
/* memory_replay.h - the allocations of one device again, in their order: which release belongs to which allocation, what
 * was there before, and how much there was at each moment.
 *
 * Bytes are those that the program asked for. Those of blocks, which are larger, are known of the last moment only.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_REPLAY_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_REPLAY_H

#include "profile/snapshot/memory_snapshot.h"

struct memory_replay {
    const struct memory_snapshot *s;
    uint32_t device;
    uint32_t first, n;  /* its events */
    uint32_t *pair;     /* of event first + i: the event of the release or of the allocation; SNAPSHOT_NONE: none */
    LIST(uint32_t) old; /* blocks at the end that are not allocated in the trace */
    uint64_t begin_bytes, begin_reserved;
    uint64_t end_bytes, end_allocated, end_reserved; /* asked for, of blocks, of segments */
    uint64_t peak_bytes, peak_reserved;
    uint32_t peak; /* before this event */
};

bool memory_replay(struct memory_replay *r, const struct memory_snapshot *s, uint32_t device, struct arena *mem);

/* Blocks are multiples of 512 bytes, and larger where a remainder is too small to be split off. */
static inline uint64_t memory_block_bytes(uint64_t requested)
{
    enum { BLOCK_UNIT = 512 };
    return (requested + BLOCK_UNIT - 1) & ~(uint64_t)(BLOCK_UNIT - 1);
}

/* Whether what an event allocates is in use before another one. */
static inline bool memory_is_alive(const struct memory_replay *r, uint32_t alloc, uint32_t before)
{
    return alloc < before && r->pair[alloc - r->first] >= before;
}

#endif
