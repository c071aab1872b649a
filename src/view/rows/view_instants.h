/* SPDX-License-Identifier: Apache-2.0 */
/* view_instants.h - instants, sorted by track and time, for the same views as slices.
 *
 * Pages use one numbering: the numbers of instants follow those of slices, and the rows of instants follow the levels.
 */
#ifndef ASCOPE_VIEW_ROWS_VIEW_INSTANTS_H
#define ASCOPE_VIEW_ROWS_VIEW_INSTANTS_H

#include "profile/chrome_trace.h"
#include "view/rows/levels.h"

/* The instants of one track. */
struct instant_row {
    uint32_t track;
    size_t first, n; /* positions in `order` */
};

struct view_instants {
    const struct chrome_trace *trace; /* lent */
    LIST(struct instant_row) rows;
    size_t n;
    uint32_t *order;        /* instants of the trace, by track, then time */
    uint32_t *row_of_track; /* its row + 1; 0: it has none */
};

/* False only without memory. There are no instants if slices and instants together exceed 2^32. */
bool view_instants_build(struct view_instants *v, const struct chrome_trace *trace, struct arena *mem);

static inline const struct chrome_instant *view_instant(const struct view_instants *v, size_t position)
{
    return &v->trace->instants.at[v->order[position]];
}

/* The positions of those of a row that are in a range: *first … *end - 1. */
void instants_range(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, size_t *first,
                    size_t *end);

/* As level_view(): those that are closer than least_ns to the first of them are one block. Its `slice` is a
 * position. */
size_t instants_view(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                     struct block *out, size_t cap);

#endif
