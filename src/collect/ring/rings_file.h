/* SPDX-License-Identifier: Apache-2.0 */
/* rings_file.h - ascope.rings: what the threads and the writer of a process share, and what is left of it when it is
 * killed.
 *
 *     header | commits | header | ring 0 | ring 1 | ...        every ring: shared | open ranges | lane 0 | lane 1
 *
 * It is written through mappings, in the machine's own layout: only the same version on the same kind of machine reads
 * it. A reader trusts nothing that it cannot verify (rings_left.h):
 *
 * - The header and every commit are there twice, each with a check that begins with the session's id. A commit goes to
 *   the pair that does not hold the last one, first one copy, then the other. Threads get the space that it frees after
 *   both are written. So the last commit is always there, and one damaged place never hides it.
 * - Each record carries a check of its bytes, of its place in the lane's life (bytes ever put, which never come again),
 *   of the ring and of the session. The check does not match if a record is incomplete, of an earlier lap, or changed.
 *   So a reader needs not know where a lane ends, and finds the next good record after a damaged one.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_FILE_H
#define ASCOPE_COLLECT_RING_RINGS_FILE_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "collect/os_calls/os_call.h"
#include "collect/ring/drop_reason.h"
#include "collect/write/streams.h"

enum { RING_LANES = 2, RECORD_HEAD = 8, RECORD_MOST = 1 << 16 };
enum {
    RINGS_MOST = 4096,
    DEVICES_MOST = 64,
    OUTPUTS_MOST = STREAM_STARS + (STREAM_KINDS - STREAM_STARS) * DEVICES_MOST,
    RINGS_VERSION = 7,
    RINGS_OLDEST = 6, /* the oldest version that can be recovered; it has no RECORD_SKIP */
    RINGS_COPIES = 2,
    RINGS_TURNS = 2
};
#define RINGS_NAME  "ascope.rings"
#define RINGS_MAGIC UINT64_C(0x73676e6972637361) /* "ascrings" */

/* The file of a stream at a commit. */
struct output_state {
    uint8_t stream, is_open;
    uint16_t device;
    uint32_t next;  /* number of the slice that is opened next */
    uint64_t bytes; /* of the open slice */
};

/* The history of a flight recorder at a commit (flight_store.h). */
struct flight_state {
    uint64_t segment, bytes; /* number of the last segment, from 1, and its length; 0: there is no segment */
    uint64_t kept_bytes;     /* of the file of records that later ones refer to */
};

struct rings_commit {
    uint64_t check;              /* checksum of the used part of all members below */
    uint64_t number;             /* from 1; in the pair number % RINGS_TURNS */
    uint64_t n_records, n_bytes; /* written */
    uint64_t aged_slices, aged_bytes;
    uint64_t lag_most_ns, fill_most_percent;
    uint64_t dropped[STREAM_KINDS]; /* by the writer, and by threads without a ring */
    uint32_t keeps;                 /* 0: warm-up */
    uint32_t n_rings, n_outputs, rank;
    struct flight_state flight;
    struct os_call_times times; /* of calls whose lines are not written yet */
    struct output_state output[OUTPUTS_MOST];
    uint64_t tail[RINGS_MOST][RING_LANES]; /* up to where each ring was read */
};

struct rings_layout {
    uint64_t rings_at, ring_bytes; /* where ring 0 begins; each takes so much of the file */
    uint64_t open_at, lane_at[RING_LANES], lane_bytes[RING_LANES]; /* in a ring */
};

struct rings_id { /* of a session; also in ascope.json */
    uint64_t word[2];
};

struct rings_header {
    uint64_t magic;
    uint32_t version, bytes; /* bytes: size of this structure; all versions have the first three members */
    uint64_t check;          /* of everything below */
    struct rings_id id;
    uint32_t process;
    uint32_t slice_bytes;
    struct rings_layout layout;
    char prof_name[NAME_MAX + 1]; /* of the PROF directory; "": none */
    uint32_t has_framework;
    uint32_t has_commits; /* the first commit was written; before it nothing is recorded */
    uint64_t flight_ns;   /* how much a flight recorder keeps; 0: this is no flight recorder */
};

/* The beginning of the file. Copies are apart from each other, so that one damage does not hit both. */
struct rings_front {
    struct rings_header header;
    struct rings_commit commit[RINGS_COPIES][RINGS_TURNS];
    _Atomic uint32_t n_rings; /* numbers of rings that were given to threads */
    _Atomic uint32_t n_ready; /* rings whose space in the file is allocated */
    struct rings_header header_again;
    /* The process that has a ring, set when its space in the file is allocated; 0 before. */
    _Atomic uint32_t owner[RINGS_MOST];
    _Atomic uint64_t dropped[DROP_REASONS][STREAM_KINDS]; /* by threads of other processes that have no ring */
    uint32_t grows;             /* rings begin small (ring_growth.c); set before there is one */
    struct drop_counts reasons; /* of those that the last commit counts, but for the copies: not checked */
};
/* OWNER_LEFT: the process has ended, and another one may take the ring. OWNER_UNKNOWN: the process is in another pid
 * namespace. The collector cannot see whether it has ended, so it keeps the ring. */
enum { OWNER_LEFT = INT32_MAX - 1, OWNER_UNKNOWN = INT32_MAX };

struct ring_shared_lane {
    _Alignas(64) _Atomic uint64_t head; /* bytes ever put; written by the producer, as the number of records */
    _Atomic uint64_t n_records;
    _Alignas(64) _Atomic uint64_t tail; /* bytes ever taken; written by the consumer, after they are committed */
    _Atomic uint64_t grown;             /* bytes that have room in the file; written by both */
};
struct ring_shared {
    struct ring_shared_lane lane[RING_LANES];
    _Alignas(64) _Atomic uint64_t dropped[STREAM_KINDS];
    _Atomic uint64_t dropped_again[STREAM_KINDS]; /* a copy: where they differ, the larger one counts */
    _Atomic uint64_t cost_ticks,
        cost_samples; /* time inside ring_put .. ring_done, estimated from one in COST_SAMPLED_OF */
    _Atomic uint32_t open_end[RING_LANES]; /* slots from this number on were never used */
};

/* A slot of an open range. A range that needs more than one slot has a chain of them. */
enum { OPEN_SLOT_BYTES = 256, OPEN_KEPT = 232, OPEN_ENDING = 1 };
struct ring_open {
    _Atomic uint64_t id; /* 0: free; OPEN_ENDING: being taken, or not the first of its chain; else the range's */
    _Atomic uint64_t key;
    uint32_t bytes; /* bytes in all slots of the chain */
    uint32_t next;  /* number of the slot that follows, plus 1; 0: none */
    uint8_t kept[OPEN_KEPT];
};
/* An id is session, ring, slot and a number that distinguishes the users of a slot: 16 + 12 + 16 + 20 bits. */
enum { ID_SESSION = 48, ID_RING = 36, ID_SLOT = 20 };

/* ---- checks ---- */

#define CHECK_ODD UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t check_word(uint64_t check, uint64_t word) /* a different word always gives a different check */
{
    check = (check ^ word) * CHECK_ODD;
    return check ^ check >> 29;
}

/* Of whole words. */
static inline uint64_t check_bytes(uint64_t check, const void *bytes, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        check = check_word(check, word);
    }
    return check;
}

static inline uint64_t check_id(struct rings_id id)
{
    return check_word(check_word(RINGS_MAGIC, id.word[0]), id.word[1]);
}

uint64_t header_check(const struct rings_header *h);
/* the caller has checked that its counts are within the arrays */
uint64_t commit_check(const struct rings_commit *c, struct rings_id id);
uint64_t lane_seed(struct rings_id id, uint32_t ring, unsigned lane); /* for records */

/* ---- records ---- */

/* The eight bytes in front of a record. A record is a multiple of 16 bytes; what it does not need is zeros. */
enum { RECORD_ALIGN = 16, RECORD_SKIP = UINT8_MAX }; /* a stream: the next record is where the next lap begins */
struct record_head {
    uint32_t check;
    uint16_t bytes_less_1;
    uint8_t stream, device;
};

static inline size_t record_room(size_t bytes)
{
    return (RECORD_HEAD + bytes + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
}

static inline size_t record_bytes(struct record_head head)
{
    return (size_t)head.bytes_less_1 + 1;
}

/* The head without its check, as one number, so that it is composed in registers. */
static inline uint32_t record_kind(size_t bytes, unsigned stream, unsigned device)
{
    return (uint32_t)(bytes - 1) | (uint32_t)stream << 16 | (uint32_t)device << 24;
}

static inline size_t kind_bytes(uint32_t kind)
{
    return (size_t)(kind & UINT16_MAX) + 1;
}

static inline uint32_t head_kind(struct record_head head)
{
    return record_kind(record_bytes(head), head.stream, head.device);
}

/* Two sums, over every second word each, 16 bytes at a time: it is computed on the program's threads, from bytes that
 * were written just before, where fewer and larger loads are what counts. One changed bit always gives another sum, and
 * another check; anything else in all but one of 2^32 cases. */
static inline uint32_t record_check_of(uint64_t one, uint64_t other, uint32_t kind, uint64_t seed)
{
    other += kind * seed; /* an odd factor loses no bits of `kind` */
    return (uint32_t)((one ^ (other << 31 | other >> 33)) * CHECK_ODD >> 32);
}

static inline __attribute__((always_inline)) uint32_t record_check(const uint8_t *at, uint32_t kind, uint64_t seed,
                                                                   uint64_t place)
{
    typedef uint64_t pair __attribute__((vector_size(16)));
    uint64_t first;
    memcpy(&first, at + RECORD_HEAD, sizeof first);
    pair sum = { first + seed, place * CHECK_ODD };
    const size_t room = record_room(kind_bytes(kind));
    for (size_t i = RECORD_ALIGN; i < room; i += RECORD_ALIGN) {
        pair two;
        memcpy(&two, at + i, sizeof two);
        sum += two;
    }
    return record_check_of(sum[0], sum[1], kind, seed);
}

uint32_t open_slots(const struct rings_layout *l); /* for open ranges, of a ring */
struct open_part {
    uint32_t first, n;
};
struct open_part open_part(const struct rings_layout *l, unsigned lane); /* the slots for ranges that a lane has */

#endif
