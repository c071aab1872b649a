/* SPDX-License-Identifier: Apache-2.0 */
/* flight_job.h - the last collectives of the ranks of a job, from dumps of PyTorch's flight recorder.
 *
 * Each rank keeps a ring of its last ones. Which of them it still has differs from rank to rank, and so do clocks:
 * entries of ranks belong together by group and number, never by position or time.
 */
#ifndef ASCOPE_PROFILE_FLIGHT_JOB_H
#define ASCOPE_PROFILE_FLIGHT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

struct flight_group {
    const char *name, *desc;
    uint32_t *rank; /* its members, in the order of their ranks within it */
    size_t n_ranks;
};

struct flight_entry {
    uint32_t group;
    bool is_p2p, is_completed, is_started;
    int64_t number;              /* of the collective in its group, or of the transfer */
    int64_t from, to;            /* of a transfer: ranks of the job; -1: unknown */
    const char *kind;            /* "all_reduce", "recv" */
    const char *types;           /* "Float" */
    const char *sizes;           /* for people: "[4096] -> [1024]" */
    uint64_t n_input, n_output;  /* elements */
    const char *file, *function; /* the innermost frame of the program itself; "": not recorded */
    int64_t line;
};

/* What a rank says of a group beside its entries. */
struct flight_status {
    uint32_t group;
    int64_t enqueued; /* the last number; -1: unknown */
};

/* Where the main thread of a rank is at this moment, and what it does there: "waits in poll". */
struct flight_place {
    const char *file, *function; /* "": not known */
    int64_t line;
    const char *doing;
};

struct flight_rank {
    uint32_t rank;
    const char *path;
    const struct flight_place *now;  /* NULL: a dump does not tell */
    LIST(struct flight_entry) entry; /* as they were issued */
    LIST(struct flight_status) status;
};

struct flight_job {
    LIST(struct flight_group) group;
    LIST(struct flight_rank) rank; /* those with a dump, ascending once all are read */
    bool is_live;                  /* read from running processes: who is not there has no process */
};

#endif
