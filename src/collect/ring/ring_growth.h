/* SPDX-License-Identifier: Apache-2.0 */
/* ring_growth.h - a ring begins small: its part of the file is a hole, and pages get space on the disk when they are
 * needed.
 *
 * In the first lap of a lane most pages have no space yet. The writer allocates it ahead of the thread that records. If
 * the thread is faster, it does so itself. The allocated part doubles each time, so this happens at most a few times
 * for each ring. It is one system call on the mapping, without a descriptor: MADV_POPULATE_WRITE reports a full disk,
 * where a store would end the program by SIGBUS. Where that does not work (older kernels; file systems that notice only
 * later that they are full), a ring has all of its space from the begin.
 *
 * A lane that cannot grow, because the disk is full, continues with the space that it has: its thread puts a record of
 * the stream RECORD_SKIP, and continues at the begin of the lane with the next lap. Positions of records, their
 * checksums, and the free space of the lane are counted as if the skipped rest had been used.
 */
#ifndef ASCOPE_COLLECT_RING_RING_GROWTH_H
#define ASCOPE_COLLECT_RING_RING_GROWTH_H

#include "collect/ring/ring.h"

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
