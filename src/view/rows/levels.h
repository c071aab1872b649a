/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - the slices of tracks by nesting depth: a slice inside another one is one level below it.
 *
 * The slices of a level do not overlap, so that begins and ends both ascend. For each run of 16 and of 512 slices the
 * longest slice and the longest gap are stored. With them, a view of any range and resolution skips runs of slices that
 * are too short to be seen and merges them into one block. Its cost depends on the number of blocks, hardly on the
 * number of slices.
 */
#ifndef ASCOPE_VIEW_ROWS_LEVELS_H
#define ASCOPE_VIEW_ROWS_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

enum { LEVELS_DEEPEST = 512 }; /* deeper slices are on the last level, where they may overlap */

struct level {
    uint32_t track, depth;
    size_t first, n; /* positions in `slice` */
};

/* The longest slice and gap of a run of a fixed number of positions, to skip runs in which nothing is long enough to be
 * seen. */
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
    int64_t *busy_ns;      /* by position: the sum of the durations of the previous slices of its level */
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

/* The blocks of a level in a range. Slices shorter than least_ns are merged with neighbours at a distance of less than
 * that. Fills at most `cap` blocks and returns their number. */
size_t level_view(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                  struct block *out, size_t cap);

/* The positions in `slice` of a level whose slices lie in a range at least in part: *first … *end - 1. */
void level_range(const struct levels *l, size_t level, int64_t begin_ns, int64_t end_ns, size_t *first, size_t *end);

#endif
