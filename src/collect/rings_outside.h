/* SPDX-License-Identifier: Apache-2.0 */
/* rings_outside.h - rings and processes: threads of this one record into the file of a collector outside, and the writer of this one
 * reads the rings that other processes have in its own file.
 */
#ifndef ASCOPE_COLLECT_RINGS_OUTSIDE_H
#define ASCOPE_COLLECT_RINGS_OUTSIDE_H

#include "collect/ring.h"

/* ---- sessions of another process (handover.h) ----
 * From now on threads put their records into the rings of whatever session the word names; 0: none is open. `find` gives the file
 * of one; it is called by whichever thread comes first, also in a signal handler. A session of this process comes before it. No descriptor
 * stays open, and a program that takes other rights keeps the rings that its threads have. Until the process ends. */
struct rings_outside {
    char path[PATH_MAX];
    struct rings_id id;
    uint32_t owner; /* how this process is called in the file: its number, or OWNER_UNKNOWN */
};
typedef bool rings_find(uint32_t session, struct rings_outside *out); /* false: it is over */
void rings_follow(const _Atomic uint32_t *word, rings_find *find);
#define OUTSIDE_SESSION UINT32_C(0x80008000) /* their numbers begin here: those of this process never come so far */

/* ---- for the writer, of rings that other processes have ---- */
bool rings_adopt(uint32_t ring);   /* maps one; false: it is not there yet, or of this process */
void rings_reclaim(uint32_t ring); /* one that was read to its end is for the next process, once its own has ended */

/* ---- for ring.c ---- */

static inline bool is_outside(uint32_t session)
{
    return session >= OUTSIDE_SESSION;
}

uint8_t *outside_ring(uint32_t session, uint32_t *number, int *why); /* a new one, mapped; NULL: none */
/* Replaces the ring that a thread had in such a session, now over, by plain memory: its file can be freed, and other threads may still read
 * these addresses. */
void outside_forget(const struct ring *r);
void outside_drop(enum drop_reason reason, enum stream_id stream);
bool outside_leave(void); /* a session of this process begins; true: one of another was followed, and is not any more */
const _Atomic uint32_t *outside_in_child(void); /* after a fork: what is still followed; NULL: nothing */

#endif
