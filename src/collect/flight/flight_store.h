/* SPDX-License-Identifier: Apache-2.0 */
/* flight_store.h - registry: where the writer of a flight recorder puts records: a chain of files of which the oldest are deleted, so that they
 * never need more than so many bytes, nor hold more than so many seconds.
 *
 *     ascope.flight/  kept | history.00000007 | history.00000008 | ...       a history: head | batch | batch | ...
 *     batch: head | run of a ring's lane | run | ...                          a run: head | records as they were in the ring
 *
 * A batch is what one pass over the rings has found. Records keep their heads and checks (rings_file.h), so that a reader
 * (flight_history.c) can verify each of them. What later records refer to (names, frames: stream_row.lasts) is in `kept` as
 * well, once, and is never deleted. A history begins with the last flips of each stream: the parser counts them, and must count the
 * same on the host and on the device wherever a window begins.
 *
 * As with other files of a collection, a commit says what belongs to it: bytes behind it, and later files, are in the rings still. The
 * first thing that goes wrong is remembered; from then on records are counted as dropped. Only the writer's thread uses it.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_STORE_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_STORE_H

#include <limits.h>
#include <sys/types.h>

#include "base/files/kept.h"
#include "base/text/error.h"
#include "collect/ring/rings_file.h"

#define FLIGHT_MAGIC  UINT64_C(0x7468676c66637361) /* "ascflght" */
#define FLIGHT_SUFFIX ".flight"                    /* of the directory, where the file of the rings has ".rings" */
#define FLIGHT_KEPT   "kept"
#define FLIGHT_FILE   "history.%08llu"

struct flight_counts { /* so far */
    uint64_t dropped[STREAM_KINDS];
    uint64_t cost_ticks; /* of the clock of records, inside recording functions */
};

struct flight_head {
    uint64_t magic;
    uint32_t version, bytes; /* RINGS_VERSION; of this structure */
    uint64_t check;          /* of everything below */
    struct rings_id id;
    uint64_t number;
    uint64_t since_ns;     /* raw monotonic clock: what was put before is in files before */
    uint64_t bytes_before; /* of the file before it */
    struct flight_counts before;
};

struct flight_batch {
    uint64_t check;
    uint64_t since_ns, until_ns; /* what was put before, and after, is in other batches */
    uint64_t bytes;              /* of the runs behind it */
};

struct flight_run {
    uint64_t check;
    uint32_t ring,
        lane; /* FLIGHT_FLIPS: the last flips, lane 0; their place is the number of bytes before them in the run */
    uint64_t place; /* of the first record in its lane */
    uint64_t bytes;
};
enum { FLIGHT_FLIPS = RINGS_MOST, FLIGHT_KEPT_LANE = 1 };

uint64_t flight_head_check(const struct flight_head *h);
/* Both with the session's id, the number of the file and the offset in it, and both of everything but the check. */
uint64_t flight_check(struct rings_id id, uint64_t number, uint64_t offset, const void *head, size_t bytes);

/* A record of a flip: the numbers of the tasks of a device's stream begin again. */
struct flight_flip {
    bool is_host;
    uint16_t device, stream, number;
};
bool flight_flip(struct record_head head, const uint8_t *bytes,
                 struct flight_flip *out); /* false: it is another record */

/* ---- writing ---- */
enum { FLIGHT_FLIPS_KEPT = 4, FLIGHT_FLIP_ROOM = 80, FLIGHT_FILES_MOST = 64 };

struct flight_last { /* of one side of one stream */
    struct flight_flip of;
    uint32_t n; /* flips ever seen */
    uint8_t record[FLIGHT_FLIPS_KEPT][FLIGHT_FLIP_ROOM];
};

struct flight_file {
    uint64_t number, bytes, since_ns, until_ns;
};

struct flight_buffer {
    uint8_t *at;
    size_t n, room;
};

struct flight_store {
    uint64_t limit_bytes, keep_ns; /* set by the caller, before it is opened */
    char path[PATH_MAX];
    struct kept dir, last_file, kept_file; /* the last one of `file`; FLIGHT_KEPT */
    struct rings_id id;
    struct flight_state now;
    struct flight_file file[FLIGHT_FILES_MOST]; /* that exist, oldest first */
    unsigned n_files;
    uint64_t files_bytes;
    struct flight_buffer batch, kept;
    uint64_t since_ns;
    uint64_t n_records, n_bytes;                       /* written */
    uint64_t batch_records[STREAM_KINDS], batch_bytes; /* not yet */
    uint64_t dropped[STREAM_KINDS]; /* records that could not be written, or for which `kept` has no room */
    int why;                        /* the errno value of a write that failed; 0: none did */
    uint64_t *said;                 /* hashes of what is kept, a set with open addressing; 0: free */
    size_t n_said, said_room;       /* a power of two */
    struct flight_last *last;
    size_t n_last, last_room;
    struct error error;
};

/* The directory of the history beside the file of the rings: its path with another suffix. False: it is too long. */
bool flight_path(const char *rings_path, char path[PATH_MAX]);
bool flight_store_open(struct flight_store *s, const char *rings_path, struct rings_id id, struct error *e);
void flight_store_note(struct flight_store *s, struct record_head head,
                       const uint8_t *bytes); /* for each record of a run, before: */
void flight_store_run(struct flight_store *s, uint32_t ring, unsigned lane, uint64_t place, const uint8_t *records,
                      size_t bytes);
bool flight_store_flush(
    struct flight_store *s); /* writes everything to the files. True: the last one is full, and the caller calls: */
void flight_store_next(struct flight_store *s, const struct flight_counts *so_far);
void flight_store_age(struct flight_store *s);                 /* deletes files beyond the limits; after a commit */
void flight_store_close(struct flight_store *s, bool removes); /* does nothing if it was never opened */
void flight_store_forget(
    struct flight_store *s); /* closes descriptors, until they are used again: for a forked child, or another thread */

/* flight_history.c: the last seconds of what a flight recorder keeps (flight_store.h), read without trusting it.
 *
 * While it records, or after it was killed. Files that are open stay readable when the recorder deletes them: a window
 * is whole from the moment that it is open, however long reading takes, and nothing waits for it. Files are opened
 * newest first, so that a window never has a gap.
 *
 *     history_open(&h, ...);        which files, and when the window begins and ends
 *     history_read(&h, put, ...);   what is kept, then flips before the window, then every record of the window, once
 *     history_close(&h);
 *
 * A record that cannot be verified is counted as damaged, and the rest of its run or file is left out. */

struct history_of {
    int dir;          /* of the files; stays the caller's */
    const char *path; /* of it, for messages */
    uid_t owner;      /* files of other users are not read */
    struct rings_id id;
    struct flight_state state; /* what belongs to it */
};

struct history {
    struct history_of of;
    struct kept file[FLIGHT_FILES_MOST]; /* newest first */
    struct flight_head head[FLIGHT_FILES_MOST];
    unsigned n_files;
    struct kept kept_file;
    uint64_t oldest_ns;        /* when the oldest record that still exists was put, or a little earlier */
    uint64_t begin_ns, end_ns; /* of the window: raw monotonic clock; every record that was put in it will be read */
    uint64_t files_before;     /* that were deleted */
    uint64_t n_records;        /* these from history_read() on: of the window */
    uint64_t n_damaged;
    uint64_t flips_before; /* records older than the window that are needed to read it */
};

/* Opens the last `last_ns` before `end_ns` (0: before the last record). False: e says why nothing can be used. */
bool history_open(struct history *h, const struct history_of *of, uint64_t last_ns, uint64_t end_ns, struct error *e);
struct flight_counts history_before(const struct history *h); /* what was counted before the first file that is read */
bool history_read(struct history *h, void (*put)(void *, struct record_head, const uint8_t *bytes), void *context,
                  struct error *e); /* false: no memory */
void history_close(struct history *h);

#endif
