/* ring.h - where a thread puts its records: memory that is mapped from a file, one ring for each thread.
 *
 * One producer (the thread), one consumer (the writer). Records are bytes for a stream (streams.h), each contiguous: the memory
 * is mapped twice, one copy behind the other, so that no record sees the end of the ring. The file is the collection's
 * ascope.rings; it survives the process, and recover.h writes what the writer could not.
 *
 * A ring has two lanes. The second one is for a signal handler that records while its thread is putting a record into the first;
 * a third level is counted and dropped.
 *
 * Putting takes no lock and makes no system call. The first record of a thread in a session takes a ring: one that another
 * thread has left, or a new one (which costs a few system calls). No ring, no room: the record is counted by stream and dropped.
 *
 *     struct ring_slot slot = ring_put(STREAM_TORCH_OP, 0, bytes);
 *     if (slot.at) { fill slot.at[0 .. bytes); ring_done(slot); }
 */
#ifndef ASCOPE_COLLECT_RING_H
#define ASCOPE_COLLECT_RING_H

#include <stdatomic.h>
#include <stddef.h>

#include "collect/streams.h"

enum { RINGS_MOST = 4096, RING_LANES = 2, RECORD_HEAD = 8, COST_SAMPLED_OF = 64 };

/* What both sides see. In the file, so that it is there after the process is gone. */
struct ring_shared_lane {
    _Alignas(64) _Atomic uint64_t head; /* bytes ever put; written by the producer */
    _Atomic uint64_t n_records;
    _Alignas(64) _Atomic uint64_t tail; /* bytes ever taken; written by the consumer, after they are committed */
};
struct ring_shared {
    struct ring_shared_lane lane[RING_LANES];
    _Alignas(64) _Atomic uint64_t dropped[STREAM_KINDS];
    _Atomic uint64_t cost_ticks, cost_samples; /* time inside ring_put .. ring_done, of one in COST_SAMPLED_OF */
    _Atomic uint32_t thread;
};

struct ring_lane {
    uint64_t head, tail_seen; /* the producer's own */
    uint64_t bytes;           /* a power of two */
    uint8_t *data;            /* 2 * bytes of addresses */
};

struct ring { /* never freed: a thread that leaves gives it to the next */
    struct ring_lane lane[RING_LANES];
    struct ring_shared *shared;
    uint32_t session; /* the one that the memory belongs to */
    _Atomic uint32_t
        depth;          /* how many of the thread's functions are putting a record now; the memory goes when it is 0 */
    uint32_t thread;    /* kernel's number */
    uint32_t countdown; /* to the next record whose cost is measured */
    uint64_t measured_from; /* 0: not this one */
};

struct ring_slot {
    uint8_t *at; /* NULL: dropped, and counted */
    struct ring *ring;
    uint32_t bytes; /* with its head, rounded */
};

extern __thread struct ring *ring_of_thread __attribute__((tls_model("initial-exec")));

/* Bytes for one record of a stream; `device` is for those of devices, else 0. */
struct ring_slot ring_put(enum stream_id stream, unsigned device, size_t bytes);
void ring_done(struct ring_slot slot);

/* Room for a mark's range while it is open: 256 bytes that survive the process as records do. The id is never 0 and tells session,
 * ring and slot; an id from another session, or one that was closed, gives NULL. Several slots when the message is long. */
struct ring_open {
    _Atomic uint64_t id; /* 0: free */
    uint32_t bytes;      /* of the text; the following slots of the chain hold the rest */
    uint32_t next;       /* 0: none */
    uint8_t record[240];
};
struct ring_open *ring_range_open(size_t bytes_of_text); /* NULL: counted and dropped */
struct ring_open *ring_range_find(uint64_t id);
void ring_range_close(struct ring_open *range);

uint32_t ring_thread(void); /* kernel's number of the calling thread; asked once */

/* ---- for sessions ---- */
struct error;
struct rings_options {
    const char *path; /* of the file to be created */
    uint32_t ring_bytes;
};
bool rings_open(const struct rings_options *o, struct error *e); /* from now on threads find rings */
void rings_close(
    void); /* after the writer has taken everything: waits for threads inside ring_put, gives the memory back */

#endif
