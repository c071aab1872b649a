/* SPDX-License-Identifier: Apache-2.0 */
/* rings_outside.h - rings that two processes share: threads of this process record into the file of a collector, or the
 * writer of this process (the collector) reads rings that other processes use in its file.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_OUTSIDE_H
#define ASCOPE_COLLECT_RING_RINGS_OUTSIDE_H

#include "collect/ring/ring.h"

/* ---- sessions of another process (handover.h) ---- rings_follow(): until the process ends, threads put their records
 * into the rings of the session whose number is in *word; 0: none is open. `find` returns the file of a session. The
 * first thread that records in it calls `find`, perhaps in a signal handler. While this process has a session of its
 * own, records go there instead. No descriptor stays open. A program that changes its user keeps the rings that its
 * threads have. */
struct rings_outside {
    char path[PATH_MAX];
    struct rings_id id;
    uint32_t owner; /* how this process is called in the file: its number, or OWNER_UNKNOWN */
};
typedef bool rings_find(uint32_t session, struct rings_outside *out); /* false: it is over */
void rings_follow(const _Atomic uint32_t *word, rings_find *find);
#define OUTSIDE_SESSION UINT32_C(0x80008000) /* the least number of a collector's session; ours stay below */

/* ---- for the writer, of rings that other processes have ---- */
bool rings_adopt(uint32_t ring);   /* maps one; false: it is not there yet, or of this process */
void rings_reclaim(uint32_t ring); /* one that was read to its end: if its process has ended, another may have it */

/* ---- for ring.c ---- */

static inline bool is_outside(uint32_t session)
{
    return session >= OUTSIDE_SESSION;
}

uint8_t *outside_ring(uint32_t session, uint32_t *number, int *why); /* a new one, mapped; NULL: none */
/* Replaces the ring that a thread had in such a session, now over, by plain memory: its file can be freed, and other
 * threads may still read these addresses. */
void outside_forget(const struct ring *r);
void outside_drop(enum drop_reason reason, enum stream_id stream);
bool outside_leave(void); /* a session of this process begins; true: one of another was followed, and is not any more */
const _Atomic uint32_t *outside_in_child(void); /* after a fork: what is still followed; NULL: nothing */

#endif
