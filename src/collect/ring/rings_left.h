/* SPDX-License-Identifier: Apache-2.0 */
/* rings_left.h - ascope.rings as a killed program left it, read without trusting it.
 *
 * Records that can be verified (rings_file.h says how) are used. Every place where something was, or may have been,
 * that cannot be read is counted as damaged. The file is never changed. The descriptor stays the caller's.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_LEFT_H
#define ASCOPE_COLLECT_RING_RINGS_LEFT_H

#include "base/text/error.h"
#include "collect/ring/rings_file.h"

enum rings_state {
    RINGS_USABLE,
    RINGS_UNUSED,        /* killed before anything was recorded */
    RINGS_DAMAGED,       /* none of its headers, or not the last commit, can be believed: e says which */
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

#endif
