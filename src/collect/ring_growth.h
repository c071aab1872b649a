/* SPDX-License-Identifier: Apache-2.0 */
/* ring_growth.h - a ring begins small: its place in the file is a hole, and pages get room on the disk when they are needed.
 *
 * The first lap of a lane goes through pages that have none yet. Whoever comes first gives it to the next ones: the writer, which keeps ahead
 * of a thread that records, or the thread itself, at most a few times in the life of a ring, as the pages double. This is one system call on
 * the mapping, without a descriptor: MADV_POPULATE_WRITE reports a full disk, where a store would end the program by SIGBUS. What does not
 * grow that way (older kernels; file systems that find out later that they are full) has all of its room from the begin.
 *
 * A lane that cannot grow, because the disk is full, goes on within what it has: its thread puts a record of the stream RECORD_SKIP, and
 * continues where the next lap begins. Places of records, their checks, and the free room of a lane count as if the rest had been used.
 */
#ifndef ASCOPE_COLLECT_RING_GROWTH_H
#define ASCOPE_COLLECT_RING_GROWTH_H

#include "collect/ring.h"

bool rings_can_grow(int fd, const void *page); /* of the file, and mapped with room */

uint64_t lane_first_bytes(const struct rings_layout *h, unsigned lane); /* that a new ring has */
/* How much of a lane has room; at most all of it, whatever the file says. */
uint64_t lane_grown(const struct ring_shared *shared, unsigned lane, uint64_t bytes);
bool lane_grow(struct ring_shared *shared, unsigned lane, uint8_t *data, uint64_t bytes, uint64_t to); /* false: full */

/* For the thread of a ring. */
void ring_begin_grown(struct ring *r, bool grows); /* when it gets its ring: r->lane is set but for `end` */
bool lane_extend(struct ring *r, unsigned level, uint64_t room); /* false: the lane is full */
bool open_extend(struct ring *r, unsigned level); /* more slots for open ranges; false: there are no more */

#endif
