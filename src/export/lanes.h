/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - further lanes for slices that overlap without nesting.
 *
 * Viewers have one stack of slices for each track: a slice that begins inside another and ends after it is drawn wrong, or not
 * at all. This happens with several streams on one logic stream, with contexts that run in parallel, and with ranges that a
 * user opens and closes in any order. Such a slice is put into the first further lane of its track in which it nests. Slices
 * of one track must be in the order of their begins; one that is not stays where it is.
 */
#ifndef ASCOPE_EXPORT_LANES_H
#define ASCOPE_EXPORT_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_LANES = 32 }; /* what finds no place in these stays in the last one */

struct lanes;
struct lane_row;

struct lanes *lanes_new(void); /* owner: the caller; NULL: no memory */
void lanes_free(struct lanes *l);

/* The row of that process and number, made when it is new; lent. NULL: no memory, and then there are no lanes. */
struct lane_row *lanes_row(struct lanes *l, uint32_t pid, int64_t tid);
/* Its name, for its further lanes: a copy is kept. */
void lane_row_name(struct lane_row *r, const char *name);
const char *lane_row_text(const struct lane_row *r);

/* The lane of a slice, from 0; is_new: it was empty before (never lane 0). */
unsigned lane_row_place(struct lane_row *r, int64_t begin_ns, int64_t end_ns, bool *is_new);
/* Remembers that a slice is not in lane 0, for what points at it later; lanes_moved() then reports where it is. Of several that
 * begin together in one row the last is meant. False: no memory. */
bool lanes_move(struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns, unsigned lane);
unsigned lanes_moved(const struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns);

/* The lane of the slice that began last, for what points at it. */
unsigned lane_row_last(const struct lane_row *r);

/* The number of a row's lane: rows are numbers below 2^24, as threads and streams are. */
static inline int64_t lane_tid(int64_t tid, unsigned lane)
{
    return tid + ((int64_t)lane << 24);
}

#endif
