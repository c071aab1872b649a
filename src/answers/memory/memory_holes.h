/* SPDX-License-Identifier: Apache-2.0 */
/* memory_holes.h - reserved memory that nothing uses: whole segments, which can be returned to the device, and holes
 * between blocks, which cannot.
 *
 * Holes are the normal state of an allocator; they cost memory when a segment is reserved although the holes together
 * have as many bytes as were asked for.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_HOLES_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_HOLES_H

#include "answers/memory/memory_steps.h"

/* Blocks of a place that keep segments with holes. */
struct memory_pin {
    frame_id place;
    uint64_t bytes, n;   /* its blocks in such segments */
    uint64_t hole_bytes; /* of the holes of these segments, the part that is its, by number of blocks */
    double hole_share;
};

struct memory_holes {
    uint64_t reserved, allocated, requested; /* at the end; allocated: with what is awaiting its release */
    uint64_t free_segments;                  /* bytes of segments without a block in use */
    uint64_t holes, largest_hole, n_holes;   /* free in the others */
    LIST(struct memory_pin) pin;             /* the most hole_bytes first */
    uint32_t n_reserved;                     /* segments in the trace, without those of the first steps */
    uint32_t n_avoidable;                    /* of them those for which the holes had enough bytes */
    uint64_t avoidable;                      /* their bytes */
};

/* What a request found, of memory for requests of its size. */
struct memory_pool {
    uint64_t reserved, used; /* used: asked for, rounded up as blocks are */
};

bool memory_holes_find(struct memory_holes *h, const struct memory_replay *r, const struct memory_steps *t,
                       struct arena *mem);
/* The memory for requests of this size on this stream, before an event. */
struct memory_pool memory_pool_before(const struct memory_replay *r, uint32_t event, uint64_t bytes, uint8_t stream);

#endif
