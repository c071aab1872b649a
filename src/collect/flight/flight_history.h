/* SPDX-License-Identifier: Apache-2.0 */
/* flight_history.h - the last seconds of what a flight recorder keeps (flight_store.h), read without trusting it.
 *
 * While it records, or after it was killed. Files that are open stay readable when the recorder deletes them: a window
 * is whole from the moment that it is open, however long reading takes, and nothing waits for it. Files are opened
 * newest first, so that a window never has a gap.
 *
 *     history_open(&h, ...);        which files, and when the window begins and ends
 *     history_read(&h, put, ...);   what is kept, then flips before the window, then every record of the window, once
 *     history_close(&h);
 *
 * A record that cannot be verified is counted as damaged, and the rest of its run or file is left out.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_HISTORY_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_HISTORY_H

#include <sys/types.h>

#include "collect/flight/flight_store.h"

struct history_of {
    int dir;          /* of the files; stays the caller's */
    const char *path; /* of it, for messages */
    uid_t owner;      /* files of others are not read */
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
    uint64_t flips_before; /* records that are needed to understand it, and are older */
};

/* Opens the last `last_ns` before `end_ns` (0: before the last record). False: e says why nothing can be used. */
bool history_open(struct history *h, const struct history_of *of, uint64_t last_ns, uint64_t end_ns, struct error *e);
struct flight_counts history_before(const struct history *h); /* what was counted before the first file that is read */
bool history_read(struct history *h, void (*put)(void *, struct record_head, const uint8_t *bytes), void *context,
                  struct error *e); /* false: no memory */
void history_close(struct history *h);

#endif
