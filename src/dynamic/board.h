/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what the processes of one host that listen to the same configuration directory share, and what others can see of them.
 *
 * One file of /dev/shm for each (user, directory): prefix of the kind, user id, hash of the directory's real path. Mode 0600; a file of
 * another user, a link or a file of another size is never mapped. It begins with the newest text of the configuration and the
 * step that the ranks agreed on, followed by a slot for each listening process.
 *
 * Who is alive is known by locks on bytes of the file, which end with their process however it ends: one for the owner, who watches the
 * configuration for all, one for each slot. Contents are never trusted: they are copied, bounded and checked.
 */
#ifndef ASCOPE_DYNAMIC_BOARD_H
#define ASCOPE_DYNAMIC_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "ascope/dynamic.h"
#include "base/error.h"

enum { BOARD_RANKS = 512, BOARD_DIR_BYTES = 360, BOARD_TEXT_BYTES = 1 << 20 };

/* What became of the newest request in a process. */
enum board_fate {
    FATE_NONE,      /* it has seen none */
    FATE_WAITS,     /* for its start step, or for the end of another collection */
    FATE_RUNS,      /* is being collected */
    FATE_DONE,      /* was collected: dir */
    FATE_CUT,       /* the same, but it was stopped or the job ended before its last step */
    FATE_FAILED,    /* the collection could not begin */
    FATE_PASSED,    /* its start step had passed */
    FATE_OTHERS,    /* is_rank: this rank is not in the list */
    FATE_NOT_ASKED, /* start_step 0 */
    FATE_REPLACED,  /* by a newer one or by start() before it began */
};

/* One listening process. */
struct board_rank {
    int32_t pid;        /* in its own namespace */
    int32_t rank;       /* -1: not known */
    uint32_t state;     /* enum ascope_dynamic_state */
    uint32_t fate;      /* enum board_fate, of request `id` */
    uint64_t id;        /* of the newest request that it has seen: struct ascope_dynamic_request; 0: none */
    int64_t step;       /* the current one */
    int64_t start_step; /* of the request that waits or runs; 0: none */
    int64_t stop_step;  /* the call that ends it */
    uint64_t n_done;    /* collections that ended so far */
    uint64_t done_id;   /* of the last one; 0: by start(), or none */
    int64_t done_start_step, done_stop_step;
    char dir[BOARD_DIR_BYTES]; /* of the last one; "": not known */
};

/* All of it at one moment. */
struct board_view {
    int32_t owner_pid; /* 0: nobody watches */
    uint32_t poll_ms;
    uint64_t id;        /* of the newest request; 0: none yet */
    int64_t start_step; /* of it: the step that was agreed on; -1: the next one of each rank */
    uint32_t n_ranks;
    struct board_rank rank[BOARD_RANKS]; /* by rank, then pid */
};

/* For the command. False: nobody of this user listens there, or e. */
bool board_read(const char *config_dir, enum ascope_dynamic_kind kind, struct board_view *out, struct error *e);

/* The number of a text of profiler_config.json whose file has this time of change: the id of its request on every host. */
uint64_t board_id(const void *text, size_t n, int64_t mtime_ns);

#endif
