/* SPDX-License-Identifier: Apache-2.0 */
/* run_read.h - reads all inputs of a run in parallel, and keeps the data of each rank.
 *
 * A recording is released after it was read, so that a job of many ranks needs the memory of a few. Those that are
 * small stay open, as many as `keep_bytes` allows, and so does an only one.
 */
#ifndef ASCOPE_OPEN_RUN_READ_H
#define ASCOPE_OPEN_RUN_READ_H

#include "answers/judge/job_steps.h"
#include "base/process/progress.h"
#include "open/recording_open.h"

/* What no answer about steps and ranks is made of. */
enum { NOT_OF_ANSWERS = PROFILE_COUNTED | PROFILE_SAMPLED | PROFILE_MEMORY | PROFILE_TENSORS };

/* Extracts additional data of a rank; NULL: it cannot be used, with the reason in e. */
typedef void *recording_look(const void *of, const struct recording *l, size_t i, struct arena *mem, struct error *e);

struct run_request {
    const struct inputs *inputs;
    unsigned without; /* enum profile_part */
    unsigned n_threads;
    uint64_t keep_bytes;
    bool needs_steps;          /* if some inputs have steps, those without are reported and left out */
    struct progress *progress; /* begun by the caller */
    /* Called before a directory with recorded data is read, by several threads. May be NULL. */
    void (*prepare)(const void *context, const char *path);
    const void *context;
    void (*warn)(const char *line);
    recording_look *look; /* may be NULL */
    const void *look_of;  /* its first argument */
    bool only_look;       /* only what look() returns is needed: recordings are closed */
    const uint32_t
        *group; /* by input, ascending: recordings of the same rank are only looked for in its own group; NULL: all are
                  one */
};

struct run {
    size_t n;
    struct run_member *rank;          /* their `input` is the number of the input */
    void **more;                      /* what look() returned */
    size_t n_done, n_lossy, n_failed; /* inputs */
    /* Private. */
    struct run_request of;
    struct arena *mem;
    struct run_input *input;
};

/* What cannot be read is reported with warn(). False: no memory. `q->inputs` and what it refers to must outlive the
 * run. */
bool run_read(struct run *r, const struct run_request *q, struct arena *mem);
/* The same of ranks that the caller has read and closed: for run_recording(). */
bool run_of_members(struct run *r, const struct run_request *q, struct run_member *rank, size_t n, struct arena *mem);
void run_end(struct run *r); /* one that is all zero is fine */

/* The recording of a rank: the one that is still open, or else it is read again, into `again`. NULL: see e. */
const struct recording *run_recording(struct run *r, const struct run_member *rank, struct recording *again,
                                      struct error *e);

#endif
