/* SPDX-License-Identifier: Apache-2.0 */
/* rings_left.h - registry: ascope.rings as a killed program left it, read without trusting it.
 *
 * Records that can be verified (rings_file.h says how) are used. Every place where something was, or may have been,
 * that cannot be read is counted as damaged. The file is never changed. The descriptor stays the caller's.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_LEFT_H
#define ASCOPE_COLLECT_RING_RINGS_LEFT_H

#include "base/text/error.h"
#include "collect/ring/ring.h"
#include "collect/ring/rings_file.h"

enum rings_state {
    RINGS_USABLE,
    RINGS_UNUSED,        /* killed before anything was recorded */
    RINGS_DAMAGED,       /* all headers, or the last commit, are damaged: e says which */
    RINGS_OTHER_VERSION, /* e says so */
    RINGS_NO_MEMORY
};

struct rings_left {
    int fd;
    const char *path; /* for messages */
    uint64_t file_bytes;
    struct rings_header header;
    struct rings_commit *commit; /* the last one */
    uint32_t n_rings;
    uint64_t n_damaged;
    uint64_t open_ranges; /* these four: from rings_left_drain() on */
    uint64_t dropped[STREAM_KINDS];
    struct drop_counts reasons; /* of some of them, if the file can be believed */
    uint64_t cost_ticks;
};

enum rings_state rings_left_read(struct rings_left *l, int fd, uint64_t file_bytes, const char *path, struct error *e);
void rings_left_fini(struct rings_left *l);

/* Passes on every record that is in no file yet, ring by ring, in the order in which it was put. False: no memory. */
bool rings_left_drain(struct rings_left *l, void (*put)(void *, struct record_head, const uint8_t *bytes),
                      void *context, struct error *e);

/* rings_outside.c: rings that two processes share: threads of this process record into the file of a collector, or the
 * writer of this process (the collector) reads rings that other processes use in its file. */

/* ---- sessions of another process (handover.h) ---- rings_follow(): until the process ends, threads put their records
 * into the rings of the session whose number is in *word; 0: none is open. `find` returns the file of a session. The
 * first thread that records in it calls `find`, perhaps in a signal handler. While this process has a session of its
 * own, records go there instead. No descriptor stays open. A program that changes its user keeps the rings that its
 * threads have. */
struct rings_outside {
    char path[PATH_MAX];
    struct rings_id id;
    uint32_t owner; /* the number of this process in the file, or OWNER_UNKNOWN */
};
typedef bool rings_find(uint32_t session, struct rings_outside *out); /* false: it is over */
void rings_follow(const _Atomic uint32_t *word, rings_find *find);
#define OUTSIDE_SESSION UINT32_C(0x80008000) /* the least number of a collector's session; ours stay below */

/* ---- for the writer, of rings that other processes have ---- */
bool rings_adopt(uint32_t ring); /* maps one; false: it is not there yet, or of this process */
/* gives a ring that was read to its end to another process if its own has ended */
void rings_reclaim(uint32_t ring);

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
/* after a fork: the session that the child still follows; NULL: none */
const _Atomic uint32_t *outside_in_child(void);

/* rings_guard.c: the program survives when the memory of its rings is truncated or is not there.
 *
 * The file is mapped, and another process may truncate it. A thread of the program that accesses a page beyond the new
 * end gets SIGBUS. Other memory would be no better: memory that cannot be truncated (memfd) is lost with the process,
 * and a copy in a file lacks the records after the last copy. So the signal is handled. While rings are open, a
 * handler maps anonymous memory in their place, ends the session (rings_end_early(), which the writer reports) and
 * lets the thread continue. Every other fault is passed to the handler that the program had, or ends the program as
 * usual.
 *
 * A child process has none of the memory of the rings, so that it cannot write into its parent's. A signal handler may
 * have made the child by a system call of its own, while its thread put a record. The child then continues with that
 * record and gets SIGSEGV: the handler maps anonymous memory there, too.
 *
 * If the program installs a handler of its own while it records, and that handler does not call the previous one, the
 * signal kills it. */

void faults_guard(void); /* installs the handlers */
void faults_leave(void); /* the program's own handlers are back, unless it has set others meanwhile */
void faults_admit(void); /* in the calling thread: a fault whose signal is blocked kills, whatever the handler */

#endif
