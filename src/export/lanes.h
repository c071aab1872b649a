/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - further lanes for slices that overlap without nesting.
 *
 * Viewers have one stack of slices for each track: a slice that begins inside another and ends after it is drawn wrong,
 * or not at all. This happens with several streams on one logic stream, with contexts that run in parallel, and with
 * ranges that a user opens and closes in any order. Such a slice is put into the first further lane of its track in
 * which it nests. Slices of one track must be in the order of their begins; one that is not stays where it is.
 */
#ifndef ASCOPE_EXPORT_LANES_H
#define ASCOPE_EXPORT_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_LANES = 32 }; /* of a track; a slice that fits into none of them is put into the last one */

struct lanes;
struct lane_row;

struct lanes *lanes_new(void);    /* owner: the caller; NULL: no memory */
void lanes_free(struct lanes *l); /* NULL is fine */

/* The track of this pid and tid, added if it is new; lent as long as `l`. NULL: no memory; its slices then stay on the
 * track. */
struct lane_row *lanes_row(struct lanes *l, uint32_t pid, int64_t tid);
/* The name of the track, from which its further lanes get theirs. The first 63 bytes are copied. */
void lane_row_name(struct lane_row *r, const char *name);
const char *lane_row_text(const struct lane_row *r);

/* Puts a slice into a lane and returns its number, from 0. is_new: it is the first slice of a further lane. */
unsigned lane_row_place(struct lane_row *r, int64_t begin_ns, int64_t end_ns, bool *is_new);
/* Remembers the lane of a slice that is not in lane 0, for flow events that are written later: lanes_moved() returns
 * it. Of several slices of a track that begin together the last one is remembered. False: no memory. */
bool lanes_move(struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns, unsigned lane);
unsigned lanes_moved(const struct lanes *l, uint32_t pid, int64_t tid, int64_t begin_ns);

/* The lane of the slice that was placed last, for its flow events. */
unsigned lane_row_last(const struct lane_row *r);

/* The tid of a lane of a track. Tids of tracks are below 2^24, as those of threads and streams are. */
static inline int64_t lane_tid(int64_t tid, unsigned lane)
{
    return tid + ((int64_t)lane << 24);
}

#endif
