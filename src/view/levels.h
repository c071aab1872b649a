/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - slices of tracks as rows that can be drawn: what is inside another slice lies one level below it.
 *
 * On a level slices follow one another without overlap, so that begins and ends both ascend. A view of any range and any
 * resolution is made from that and from the longest slice and gap of each 16 and each 512, without a pyramid of coarser copies: runs of
 * slices that are too short to be seen are jumped over and become one block. The cost is that of the blocks, hardly of the slices below
 * them.
 */
#ifndef ASCOPE_VIEW_LEVELS_H
#define ASCOPE_VIEW_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { LEVELS_DEEPEST = 512 }; /* what is deeper shares the last level, and may overlap there */

struct level {
    uint32_t track, depth;
    size_t first, n; /* positions in `slice` */
};

/* What a run of a fixed number of positions has at most: runs that are too short to be seen are jumped over by it. */
enum { LEVEL_SPANS = 2 };
struct level_span {
    int64_t longest_ns, gap_ns; /* gaps in front of its slices */
    uint32_t slice;             /* the longest one */
};

struct levels {
    const int64_t *begin_ns, *dur_ns; /* of slices; lent */
    size_t n;
    struct level *level;   /* by track, then depth */
    uint32_t *first_level; /* n_tracks + 1 */
    uint32_t *slice;       /* rows of slices, by level, then begin */
    int64_t *busy_ns;      /* by position: how long slices of its level have lasted before it, together */
    uint16_t *depth;       /* by row of slices */
    struct level_span *span[LEVEL_SPANS]; /* of shorter and longer spans, over all positions */
};

/* Slices of track t are rows first[t] … first[t + 1] - 1, by begin, longer ones first. False only without memory. */
bool levels_build(struct levels *l, const int64_t *begin_ns, const int64_t *dur_ns, const size_t *first,
                  size_t n_tracks, struct arena *mem);

/* One slice, or a run of slices that are too short to be shown separately. */
struct block {
    int64_t begin_ns, end_ns;
    int64_t busy_ns; /* of slices in it */
    uint32_t slice;  /* the one, or the longest one of the run */
    uint32_t n;      /* how many */
};

/* What of a level is between two moments, with slices shorter than least_ns merged with neighbours that are closer than that.
 * At most `cap` blocks; returns how many there are. */
size_t level_view(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                  struct block *out, size_t cap);

/* The positions in `slice` of a level whose slices lie in a range at least in part: *first … *end - 1. */
void level_range(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, size_t *first, size_t *end);

#endif
