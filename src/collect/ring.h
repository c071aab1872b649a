/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - where a thread puts its records: memory that is mapped from a file, one ring for each thread.
 *
 * One producer (the thread), one consumer (the writer). Records are bytes for a stream (streams.h), each contiguous: the memory
 * is mapped twice, one copy behind the other, so that no record sees the end of the ring. The file is the collection's
 * ascope.rings (rings_file.h); it survives the process, and recover.h writes what the writer could not.
 *
 * A ring has two lanes. The second one is for a signal handler that records while its thread is putting a record into the first;
 * a third level is counted and dropped.
 *
 * Putting takes no lock and makes no system call. The first record of a thread in a session takes a ring: one that another
 * thread has left, or a new one (which costs a few system calls). No ring, no room: the record is counted by stream and dropped.
 *
 *     struct ring_slot slot = ring_put(STREAM_TORCH_OP, 0, bytes);
 *     if (slot.at) { fill slot.at[0 .. bytes); ring_done(slot); }
 *
 * Between the two the thread is "inside": the memory stays until it has left, so nothing that may wait belongs there.
 */
#ifndef ASCOPE_COLLECT_RING_H
#define ASCOPE_COLLECT_RING_H

#include <stdatomic.h>
#include <stddef.h>

#include "collect/rings_file.h"

enum { COST_SAMPLED_OF = 64 };
#define RING_NEVER_ATTACHED UINT32_MAX

struct ring_lane {
    uint64_t head, tail_seen; /* the producer's own */
    uint64_t bytes;           /* a power of two */
    uint64_t seed;            /* of the records' checks */
    uint8_t *data;            /* 2 * bytes of addresses */
};

struct ring { /* never freed: a thread that leaves gives it to the next */
    /* What each record needs is one line of the cache, with the first lane. */
    _Alignas(64) struct ring_shared *shared;
    uint32_t session;        /* the one that the memory belongs to, or RING_NEVER_ATTACHED */
    _Atomic uint32_t inside; /* how many of the thread's functions use the memory now; those that put a record count in
                                the upper half, too, and that is their lane */
    uint32_t countdown;      /* to the next record whose cost is measured */
    uint32_t number;         /* in the session's file */
    struct ring_lane lane[RING_LANES];
    uint64_t addresses;     /* bytes that are mapped */
    uint64_t measured_from; /* 0: not this one */
    uint32_t stands_for; /* how many records that one is measured for: the first, which meets fresh pages, for itself */
    uint32_t tried;      /* the last session that it asked for memory */
    uint32_t generation; /* of open ranges */
    uint32_t open_at[RING_LANES]; /* where to look for a free slot */
    bool open_full[RING_LANES];   /* none was found the last time */
    struct ring_open *open;
    _Atomic uint32_t next_free;
};

struct ring_slot { /* two words, which stay in registers */
    uint8_t *at;   /* NULL: dropped, and counted; else aligned to 8 */
    uint64_t kind; /* record_kind() */
};

extern __thread struct ring *ring_of_thread __attribute__((tls_model("initial-exec")));

/* Bytes for one record of a stream, 1 to RECORD_MOST, else it is counted and dropped; `device` is for those of devices, else 0. */
struct ring_slot ring_put(enum stream_id stream, unsigned device, size_t bytes);
void ring_done(struct ring_slot slot);
void ring_put_words(enum stream_id stream, size_t bytes, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f, uint64_t g);                /* a record of up to seven words, complete */
void ring_count_dropped(enum stream_id stream, uint64_t n); /* records that never came here: a device lost them */
bool ring_is_short(void); /* less than half of the thread's ring is free: devices' threads can wait for the writer */

/* A mark's range while it is open: bytes that survive the process as records do, kept in slots of 256 bytes of the thread's ring
 * until any thread takes them. The id is never 0 and contains session, ring and slot. The head and the text are copied one behind
 * the other; a long text takes a chain of slots. Taking gives back what was kept, once: an id from another session, one that was
 * taken, and one whose key is not the one that it was opened with give 0 and change nothing. */
enum { RING_OPEN_MOST = 4096 + 128 }; /* bytes of head and text */
uint64_t ring_range_open(uint64_t key, const void *head, size_t head_bytes, const void *text,
                         size_t text_bytes); /* 0: no room; counted as a dropped record of STREAM_MARK */
size_t ring_range_take(uint64_t id, uint64_t key, void *out, size_t most);

uint32_t ring_thread(void);  /* kernel's number of the calling thread; asked once */
uint32_t ring_session(void); /* number of the open session, counted from 1 in this process; 0: none */

/* ---- for sessions ---- */
struct error;
struct rings_options {
    const char *path; /* of the file to be created */
    const char *id;   /* of the session, 32 hexadecimal digits: what the collection's ascope.json has, too */
    uint32_t ring_bytes;
};
enum { RINGS_ID_DIGITS = 32 };
/* From now on threads find rings. Somebody may cut the file short while it is written to: the program goes on (rings_guard.h), and
 * the session is over. */
bool rings_open(const struct rings_options *o, struct error *e);
void rings_stop(void);  /* from now on they do not, and none is inside; writer_stop() does it, too */
void rings_close(void); /* after writer_stop(): the memory and the file go */
void rings_leave(void); /* the same, but the file stays, as if the process had been killed */

/* The session whose records are put this way; 0: none. It is the open one, where the kernel makes all threads agree on what they
 * have stored (membarrier); elsewhere each has to do so itself. */
extern _Atomic uint32_t ring_inline_session;
extern __thread uint32_t ring_thread_number __attribute__((tls_model("initial-exec"))); /* 0: not asked yet */

/* ---- the open file of this process; for ring.c, rings_guard.c, rings_outside.c and writer.c ---- */

struct rings {
    int fd;
    struct rings_front *front;  /* NULL: none is open */
    struct rings_layout layout; /* a copy: a forked child has no front */
    struct rings_id id;
    char path[PATH_MAX];
    uint64_t device, inode;                 /* so that nobody opens it once more: closing would give up the lock */
    _Atomic(uint8_t *) base[RINGS_MOST];    /* shared | open | lane 0 twice | lane 1 twice; NULL: not yet */
    _Atomic uint64_t dropped[STREAM_KINDS]; /* by threads without a ring */
    _Atomic int trouble;                    /* errno: why a thread got no ring */
    _Atomic uint32_t session;               /* whose file this is */
    _Atomic bool is_gone; /* the file was cut short or changed by somebody else: the session is over */
};
extern struct rings rings;

uint64_t rings_front_bytes(void);                /* in whole pages */
uint64_t rings_addresses(void);                  /* of a ring: more than its bytes, as lanes are mapped twice */
void rings_end_early(void);                      /* the file is not what it was; also from a signal handler */
void rings_header_put(struct rings_header *h);   /* with its check, both copies */
struct ring_shared *rings_shared(uint32_t ring); /* NULL: not mapped yet */
bool rings_were_emptied(uint32_t n_read); /* the file counts fewer rings than there are; n_read: as it did just now */
uint8_t *rings_lane(uint32_t ring, unsigned lane);
uint32_t rings_open_ranges(uint32_t ring);
uint32_t ring_claim(int fd, uint32_t owner, int *why); /* the next ring of the file: its number, or RINGS_MOST */
uint8_t *ring_map(int fd, uint32_t number);            /* NULL: errno says why not */
void rings_session_from(const _Atomic uint32_t *word); /* which session is open is what the word says */

#endif
