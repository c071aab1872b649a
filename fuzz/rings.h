/* SPDX-License-Identifier: Apache-2.0 */
/* rings.h - a rings file as pieces: the parts of it that mean something, without the zeros between them. */
#ifndef ASCOPE_FUZZ_RINGS_H
#define ASCOPE_FUZZ_RINGS_H

#include <unistd.h>

#include "collect/ring/ring.h"
#include "fuzz.h"

enum { FUZZ_RING_BYTES = 1 << 16, RINGS_PARTS = 8 };
#define FUZZ_SESSION "00112233445566778899AABBCCDDEEFF"

struct rings_part {
    uint64_t at;
    size_t bytes;
};

static inline uint64_t whole_pages(uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Where they are in a file that rings_open() has made with rings of FUZZ_RING_BYTES. */
static inline void rings_parts(struct rings_part part[RINGS_PARTS])
{
    const uint64_t commit = offsetof(struct rings_front, commit), each = sizeof(struct rings_commit);
    const uint64_t head = offsetof(struct rings_commit, output) + 8 * sizeof(struct output_state);
    const uint64_t tail = offsetof(struct rings_commit, tail);
    const uint64_t ring = whole_pages(sizeof(struct rings_front)), open = whole_pages(sizeof(struct ring_shared));
    const uint64_t lane = open + FUZZ_RING_BYTES / 4;
    const struct rings_part all[RINGS_PARTS] = {
        { 0, sizeof(struct rings_header) },
        { commit, head },
        { commit + each, head },
        { commit + tail, 64 },
        { commit + each + tail, 64 },
        { ring, sizeof(struct ring_shared) },
        { ring + open, 4 * OPEN_SLOT_BYTES },
        { ring + lane, 4096 },
    };
    memcpy(part, all, sizeof all);
}

#endif
