/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h - the thread that takes records out of the rings and appends them to the collection's files.
 *
 * It looks at all rings every millisecond (less often when nothing happens), appends what is there to the streams'
 * slices, then commits: how far it has read each ring and how long each file is, in the rings' file, in one of two
 * places that take turns. Only then do the producers get the room back. Killed at any moment, the last commit says
 * exactly what is on disk and what still is in the rings: nothing is lost, nothing is there twice.
 *
 * If a write fails, this is reported once. Later records are taken out of the rings and counted as dropped; the program
 * continues.
 */
#ifndef ASCOPE_COLLECT_WRITE_WRITER_H
#define ASCOPE_COLLECT_WRITE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"
#include "base/files/file_tree.h"
#include "collect/ring/drop_reason.h"
#include "collect/flight/flight_store.h"
#include "collect/session/host_clock.h"
#include "collect/write/streams.h"

struct writer_options {
    const char *framework_dir; /* "…/FRAMEWORK"; NULL: none, its records are dropped and counted */
    const char *prof_dir;      /* "…/PROF_XXX"; NULL: none */
    size_t slice_bytes;
    uint64_t storage_limit_bytes; /* 0: none */
    struct clock_reading began;   /* start of the collection: lines of calls count from it */
    unsigned first_slice;         /* in prof_dir: another writer has those before it */
    struct flight_store *flight;  /* open: records go there instead; its owner closes it. NULL: none */
    uint32_t rank;                /* in names of files */
    bool is_inside;               /* the program that is recorded is this one: its threads may close descriptors */
};

/* What recording has cost so far; also by step, from ascope_session_step(). */
struct writer_tally {
    uint64_t n_records, n_bytes; /* written */
    /* put into rings; they belong to the step in which they were put, even if they are written later */
    uint64_t put_records, put_bytes;
    uint64_t dropped[STREAM_KINDS];   /* whatever the reason */
    struct drop_counts reasons;       /* reasons of drops, except full rings */
    uint64_t aged_bytes, aged_slices; /* deleted because of the limit */
    uint64_t open_ranges;             /* marks that began and never ended */
    uint64_t hook_ns;                 /* estimated from samples: time inside recording functions, all threads */
    uint64_t lag_most_ns;             /* longest time between two passes over the rings */
    uint64_t lag_since_ns;            /* the same, since the last writer_look() */
    uint32_t fill_most_percent;       /* of the fullest ring */
    uint32_t n_rings;
    bool is_gone; /* another process has truncated the rings: records after that are lost, and not counted */
};

bool writer_start(const struct writer_options *o, struct error *e);
void writer_began(const struct clock_reading *began); /* a new start of the collection, at the end of a warm-up */
void writer_keep(bool keeps); /* false (during warm-up): records are taken and thrown away, uncounted */
/* current counts, without waiting; only for the thread that owns the session */
void writer_look(struct writer_tally *out);
bool writer_flush(struct writer_tally *out, struct error *e); /* everything put before the call is in its file */
struct flight_state writer_flight(void);                      /* the history of a flight recorder after the last pass */
bool writer_stop(struct writer_tally *out,
                 struct error *e); /* flushes, completes the slices with their .done, and ends the thread */
/* Between writer_stop() and writer_leave(): checksums of the files it has written, for the list of files. */
void writer_sums(struct file_tree *t);
/* The last call. is_complete: no recovery will be needed, so the files that only recovery reads are removed. Fine
 * without a writer. */
void writer_leave(bool is_complete);

#endif
