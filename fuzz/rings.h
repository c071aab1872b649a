/* rings.h - a rings file as pieces: the parts of it that mean something, without the zeros between them. */
#ifndef ASCOPE_FUZZ_RINGS_H
#define ASCOPE_FUZZ_RINGS_H

#include <unistd.h>

#include "collect/rings_file.h"
#include "fuzz.h"

enum { FUZZ_RING_BYTES = 1 << 16, RINGS_PARTS = 10 };

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
    const uint64_t commit = offsetof(struct rings_header, commit), each = sizeof(struct rings_commit);
    const uint64_t output = offsetof(struct rings_commit, output), tail = offsetof(struct rings_commit, tail);
    const uint64_t ring = whole_pages(sizeof(struct rings_header)), open = whole_pages(sizeof(struct ring_shared));
    const uint64_t lane = open + FUZZ_RING_BYTES / 4;
    const struct rings_part all[RINGS_PARTS] = {
        { 0, commit },
        { commit, output },
        { commit + each, output },
        { commit + output, 8 * sizeof(struct output_state) },
        { commit + each + output, 8 * sizeof(struct output_state) },
        { commit + tail, 64 },
        { commit + each + tail, 64 },
        { ring, sizeof(struct ring_shared) },
        { ring + open, 4 * OPEN_SLOT_BYTES },
        { ring + lane, 4096 },
    };
    memcpy(part, all, sizeof all);
}

#endif
