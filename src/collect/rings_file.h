/* rings_file.h - ascope.rings: what the threads and the writer of a process share, and what is left of it when it is killed.
 *
 *     header | commit A | commit B | ring 0 | ring 1 | ...        every ring: shared | open ranges | lane 0 | lane 1
 *
 * Written through mappings, in the layout of the machine; only the same version on the same machine reads it, and reads it as a
 * file that may hold anything. The writer commits by filling the commit that is not active, then making it active: one store.
 */
#ifndef ASCOPE_COLLECT_RINGS_FILE_H
#define ASCOPE_COLLECT_RINGS_FILE_H

#include <limits.h>

#include "collect/ring.h"

enum {
    RINGS_MOST = 4096,
    DEVICES_MOST = 64,
    OUTPUTS_MOST = STREAM_STARS + (STREAM_KINDS - STREAM_STARS) * DEVICES_MOST,
    RINGS_VERSION = 1
};
#define RINGS_NAME  "ascope.rings"
#define RINGS_MAGIC UINT64_C(0x73676e6972637361) /* "ascrings" */

/* A stream's file as it was at a commit. */
struct output_state {
    uint8_t stream, is_open;
    uint16_t device;
    uint32_t next;  /* number of the slice that is opened next */
    uint64_t bytes; /* of the open slice */
};

struct rings_commit {
    uint64_t n_records, n_bytes; /* written */
    uint64_t aged_slices, aged_bytes;
    uint64_t lag_most_ns, fill_most_percent;
    uint64_t dropped[STREAM_KINDS]; /* by the writer, and by threads without a ring */
    uint32_t keeps;                 /* 0: warm-up */
    uint32_t n_rings, n_outputs;
    struct output_state output[OUTPUTS_MOST];
    uint64_t tail[RINGS_MOST][RING_LANES]; /* how far each ring was read */
};

struct rings_layout {
    uint64_t rings_at, ring_bytes; /* where ring 0 begins; each takes so much of the file */
    uint64_t open_at, lane_at[RING_LANES], lane_bytes[RING_LANES]; /* in a ring */
};

struct rings_header {
    _Atomic uint64_t magic;
    uint32_t version, bytes; /* bytes: of this structure, which tells other versions, too */
    uint32_t process;
    uint32_t slice_bytes;
    struct rings_layout layout;
    char prof_name[NAME_MAX + 1]; /* of the PROF directory; "": none */
    uint32_t has_framework;
    _Atomic uint32_t n_rings;
    _Atomic uint32_t active; /* which commit */
    struct rings_commit commit[2];
};

struct ring_shared_lane {
    _Alignas(64) _Atomic uint64_t head;  /* bytes ever put; written by the producer, as the two that follow */
    _Atomic uint64_t n_records, n_bytes; /* of records, without heads: what was put until a step began */
    _Alignas(64) _Atomic uint64_t tail;  /* bytes ever taken; written by the consumer, after they are committed */
};
struct ring_shared {
    struct ring_shared_lane lane[RING_LANES];
    _Alignas(64) _Atomic uint64_t dropped[STREAM_KINDS];
    _Atomic uint64_t cost_ticks,
        cost_samples; /* time inside ring_put .. ring_done, estimated from one in COST_SAMPLED_OF */
    _Atomic uint32_t is_ready;
    _Atomic uint32_t open_end[RING_LANES]; /* no slot from this one on was ever used */
};

/* A range that is open. Slots are chained when there is more to keep than fits into one. */
enum { OPEN_SLOT_BYTES = 256, OPEN_KEPT = 232, OPEN_ENDING = 1 };
struct ring_open {
    _Atomic uint64_t id; /* 0: free; OPEN_ENDING: being taken, or not the first of its chain; else the range's */
    _Atomic uint64_t key;
    uint32_t bytes; /* of the whole chain */
    uint32_t next;  /* number of the slot that follows, plus 1; 0: none */
    uint8_t kept[OPEN_KEPT];
};

/* The eight bytes in front of a record. */
struct record_head {
    uint32_t bytes;
    uint16_t stream, device;
};

static inline size_t record_room(size_t bytes)
{
    return (RECORD_HEAD + bytes + 7) / 8 * 8;
}

/* The open file of this process; for ring.c and writer.c. */
struct rings {
    int fd;
    struct rings_header *header; /* NULL: none is open */
    struct rings_layout layout;  /* a copy: a forked child has no header */
    char path[PATH_MAX];
    uint64_t device, inode;                 /* so that nobody opens it once more: closing would give up the lock */
    _Atomic(uint8_t *) base[RINGS_MOST];    /* shared | open | lane 0 twice | lane 1 twice; NULL: not yet */
    _Atomic uint64_t dropped[STREAM_KINDS]; /* by threads without a ring */
    _Atomic int trouble;                    /* errno: why a thread got no ring */
};
extern struct rings rings;

struct ring_shared *rings_shared(uint32_t ring); /* NULL: not mapped yet */
uint8_t *rings_lane(uint32_t ring, unsigned lane);
uint32_t rings_open_ranges(uint32_t ring);
struct open_part {
    uint32_t first, n;
};
struct open_part open_part(const struct rings_layout *l, unsigned lane); /* the slots for ranges that a lane has */

#endif
