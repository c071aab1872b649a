/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what the processes of one host that listen to the same configuration directory share, and what others can see of them.
 *
 * One file of /dev/shm for each (user, directory): prefix of the kind, user id, hash of the directory's real path. Mode 0600. A file of
 * another user, a link or a file of another form is never used: then a process has a board of its own (is_private), watches the
 * configuration itself, and ranks do not agree. The file contains the newest text of the configuration and a slot for each
 * listening process, with the step that the owner offers to it.
 *
 * Who is alive is known by locks on bytes of the file, which end with their process however it ends: one for the owner, who watches the
 * configuration for all, one for each slot. So a file that nobody holds is what a killed job left: the next start uses or removes it.
 * Contents are never trusted: they are copied, bounded and checked. The text is written between two changes of `sequence`, which is odd
 * meanwhile, as is `version` of a slot: a process that is killed in between leaves nothing that others could take for a whole.
 */
#ifndef ASCOPE_DYNAMIC_BOARD_H
#define ASCOPE_DYNAMIC_BOARD_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ascope/dynamic.h"
#include "base/error.h"
#include "dynamic/config.h"
#include "dynamic/config_file.h"

enum { BOARD_RANKS = 256, BOARD_DIR_BYTES = 880 };
#define BOARD_PLACE "/dev/shm"

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
    FATE_NOT_ASKED, /* start_step 0, or stop */
    FATE_REPLACED,  /* by start() before it began */
    FATE_INVALID,   /* not JSON, or no object */
};

/* One listening process. */
struct board_rank {
    int32_t pid;        /* in its own namespace; 0: the slot is free */
    int32_t rank;       /* -1: not known */
    uint32_t state;     /* enum ascope_dynamic_state */
    uint32_t fate;      /* enum board_fate, of request `id` */
    uint64_t id;        /* of the newest request that it has seen: struct ascope_dynamic_request; 0: none */
    int64_t step;       /* the current one */
    int64_t start_step; /* of the request that waits or runs; 0: none, or the next step */
    int64_t stop_step;  /* the call that ends it */
    uint64_t n_done;    /* collections that ended so far */
    uint64_t done_id;   /* of the last one; 0: by start(), or none */
    int64_t done_start_step, done_stop_step;
    uint64_t group;            /* ranks of one job have the same */
    uint64_t delivered_id;     /* the newest request that its thread has got: its next step sees it */
    uint64_t world_size;       /* of that job, as far as known; 0: not known */
    char dir[BOARD_DIR_BYTES]; /* of the last one; "": not known */
};

enum { OFFER_OPEN = -1 };

/* A slot in the file. The process that has it writes `is`, `step` and `delivered_id`, the owner writes the offer. */
struct board_slot {
    _Atomic uint32_t version;
    _Atomic uint32_t offer_passed; /* 1: a rank of the group is at offer_step already: nobody starts */
    _Atomic int64_t step;
    _Atomic int64_t
        offer_step; /* 0: as the text says; OFFER_OPEN: the owner chooses when all ranks have got the request */
    _Atomic uint64_t offer_id; /* of the request that it is for */
    _Atomic uint64_t delivered_id;
    struct board_rank is;
};
struct board_page;

struct board {
    struct board_page *page;
    struct board_slot *slot; /* of this process */
    const struct config_kind *kind;
    unsigned number; /* of the slot */
    int fd;          /* -1: private */
    bool is_private, is_owner;
    char path[PATH_MAX];
};

/* Takes a slot on the board of this directory, which exists; what dead processes left is removed. Never fails but for memory: a board
 * that cannot be shared is private, and *e says why. Not inherited by fork(): board_forget() in the child. */
bool board_join(struct board *b, const struct config_kind *kind, const char *config_dir, struct error *e);
void board_leave(struct board *b);  /* the last one removes the file */
void board_forget(struct board *b); /* as in a forked child: the parent's locks are its own */

bool board_own(struct board *b); /* becomes the owner if nobody is: true: it is */

/* Changes of this process's slot, by the thread that counts steps: begin, change slot->is, end. */
struct board_rank *board_change_begin(struct board *b);
void board_change_end(struct board *b);
void board_delivered(struct board *b, uint64_t id); /* by the thread that watches */

/* For the owner. What it has seen of the file, for the one after it. False: nobody has looked yet, or was killed while he wrote: *is_torn. */
bool board_seen(const struct board *b, struct config_stamp *stamp, bool *is_torn);
void board_see(struct board *b, const struct config_stamp *stamp);
/* The ranks that are alive, of at most BOARD_RANKS, and their slots. */
size_t board_listeners(const struct board *b, struct board_rank *out, unsigned *slot);
struct board_offer {
    int64_t step;
    bool is_passed;
};
/* offer: by number of the slot, BOARD_RANKS. */
void board_publish(struct board *b, const char *text, size_t n, uint64_t id, const struct config_stamp *stamp,
                   const struct board_offer *offer);
/* The one that a slot has, and another one. */
struct board_offer board_offer(const struct board *b, unsigned slot, uint64_t *id);
void board_offer_set(struct board *b, unsigned slot, uint64_t id, struct board_offer offer);
void board_poll_set(struct board *b, uint32_t poll_ms); /* to show it */

/* The newest text, if its serial number is not *serial. Owner of the text: the caller, free(). */
struct board_news {
    char *text;
    size_t n;
    uint64_t id;
    struct board_offer offer;
};
bool board_take(const struct board *b, uint64_t *serial, struct board_news *out);
uint64_t board_serial(const struct board *b);
uint64_t board_newest(const struct board *b); /* its id; 0: none */

/* Waits until something is published, somebody wakes all, or the time is over. `news` was read before looking. */
uint32_t board_news(const struct board *b);
void board_wait(const struct board *b, uint32_t news, int64_t timeout_ns);
void board_wake(struct board *b);

/* All of it at one moment, for the command. */
struct board_view {
    int32_t owner_pid; /* 0: nobody watches */
    uint32_t poll_ms;
    uint64_t id; /* of the newest request; 0: none yet */
    uint64_t
        seen_id; /* that the file as it was last seen has, or would have: one from before the job is no request. 0: not seen */
    uint32_t n_ranks;
    struct board_rank rank[BOARD_RANKS]; /* by rank, then pid */
};
/* False: nobody of this user listens there (e is not set), or e. */
bool board_read(const char *config_dir, enum ascope_dynamic_kind kind, struct board_view *out, struct error *e);

/* The id of the request that this text becomes, on every host. */
uint64_t board_id(const void *text, size_t n, int64_t mtime_ns);

#endif
