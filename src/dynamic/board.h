/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what the processes of one host that listen to the same configuration directory share, and what others can
 * see of them.
 *
 * There is one file in /dev/shm for each user and directory. Its name has the prefix of the kind, the user id, and a
 * hash of the directory's real path; its mode is 0600. A file of another user, a link, or a file of another format is
 * never used. In that case all processes, and readers, use a file in the directory itself, with the same checks. If
 * that cannot be used, either, the process has a private board, watches the configuration by itself, and the ranks do
 * not agree on a step. The file contains the newest text of the configuration, and a slot for each listening process
 * with the step that the owner offers to it.
 *
 * Which processes are alive is known from locks on bytes of the file, which end with their process in any case. There
 * is one for the owner, which watches the configuration for all, and one for each slot. A file that no process has
 * locked was left by a killed job; the next process uses or removes it. Contents are never trusted: they are copied,
 * bounded and checked. The text is written between two changes of `sequence`, which is odd meanwhile; a slot has two
 * copies, of which the one that `version` does not name is written next (shared_words.h). So what a killed process
 * leaves half written is never taken for complete.
 */
#ifndef ASCOPE_DYNAMIC_BOARD_H
#define ASCOPE_DYNAMIC_BOARD_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ascope/dynamic.h"
#include "base/files/kept.h"
#include "base/process/shared_words.h"
#include "base/text/error.h"
#include "dynamic/config.h"

enum { BOARD_RANKS = 256, BOARD_DIR_BYTES = 880 };
#define BOARD_PLACE  "/dev/shm"
#define BOARD_PREFIX ".ascope_board_" /* of the file in the directory */
enum board_place { BOARD_IN_MEMORY, BOARD_BESIDE, BOARD_PLACES };

/* What a process did with the newest request. */
enum board_fate {
    FATE_NONE,      /* it has seen none */
    FATE_WAITS,     /* it waits for its start step, or for the end of another collection */
    FATE_RUNS,      /* it is being recorded */
    FATE_DONE,      /* it was recorded, into `dir` */
    FATE_CUT,       /* it was recorded, but was stopped or the job ended before its last step */
    FATE_FAILED,    /* the collection could not begin */
    FATE_PASSED,    /* its start step had passed */
    FATE_OTHERS,    /* is_rank is true, and this rank is not in the list */
    FATE_NOT_ASKED, /* it asks for no recording: start_step is 0, or stop is true */
    FATE_REPLACED,  /* start() was called before it began */
    FATE_INVALID,   /* it is not a JSON object */
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
    char dir[BOARD_DIR_BYTES]; /* of the last collection; "": unknown */
};

enum { OFFER_OPEN = -1 };

/* A slot in the file. The process that has it writes `is`, `step` and `delivered_id`, the owner writes the offer. */
struct board_slot {
    _Alignas(64) _Atomic uint32_t version; /* how often it was shown; the copy version % 2 is complete */
    _Atomic uint32_t offer_passed;         /* 1: a rank of the group is at offer_step already: nobody starts */
    _Atomic int64_t step;
    _Atomic int64_t
        offer_step; /* 0: as the text says; OFFER_OPEN: the owner chooses when all ranks have got the request */
    _Atomic uint64_t offer_id; /* of the request that it is for */
    _Atomic uint64_t delivered_id;
    _Atomic uint64_t is[2][SHARED_WORDS(sizeof(struct board_rank))]; /* each a struct board_rank */
};
struct board_page;

struct board {
    struct board_page *page;
    struct board_slot *slot; /* of this process */
    const struct config_kind *kind;
    unsigned number;  /* of the slot */
    struct kept file; /* to look at locks; it has none itself. Not open: private */
    void *owned;      /* keeps the owner's lock; the page keeps that of the slot (base/files/file_lock.h) */
    bool is_private;
    _Atomic bool is_owner;  /* set by the thread that watches, read by all of this process */
    struct board_rank mine; /* what the slot says, or will say when it is shown */
    char path[PATH_MAX];
};

/* Takes a slot on the board of an existing directory, and removes boards that killed processes left. False: no memory.
 * If the board cannot be shared it is private, and e says why; it also says why it is not in memory. A forked child
 * calls board_forget(). */
bool board_join(struct board *b, const struct config_kind *kind, const char *config_dir, struct error *e);
void board_leave(struct board *b);  /* the last one removes the file */
void board_forget(struct board *b); /* in a forked child, which does not have the locks of its parent */

bool board_own(struct board *b); /* becomes the owner if there is none; true: this process is the owner */

void board_show(struct board *b);                   /* b->mine, on the thread that counts steps: it changed */
void board_delivered(struct board *b, uint64_t id); /* on the thread that watches */

/* For the owner: what was last seen of the file, also by an earlier owner. False: no owner has looked yet, or one was
 * killed while it wrote (*is_torn). */
bool board_seen(const struct board *b, struct config_stamp *stamp, bool *is_torn);
void board_see(struct board *b, const struct config_stamp *stamp);
/* Fills the ranks that are alive and their slots; both have room for BOARD_RANKS. */
size_t board_listeners(struct board *b, struct board_rank *out, unsigned *slot);
struct board_offer {
    int64_t step;
    bool is_passed;
};
/* `offer` has BOARD_RANKS elements, by number of the slot. */
void board_publish(struct board *b, const char *text, size_t n, uint64_t id, const struct config_stamp *stamp,
                   const struct board_offer *offer);
/* Returns the offer of a slot with the id of its request; sets another one. */
struct board_offer board_offer(const struct board *b, unsigned slot, uint64_t *id);
void board_offer_set(struct board *b, unsigned slot, uint64_t id, struct board_offer offer);
void board_poll_set(struct board *b, uint32_t poll_ms); /* only shown by `ascope dyn` */

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

/* board_wait() returns when something was published or board_wake() was called since `news` was read, or when the time
 * is over. */
uint32_t board_news(const struct board *b);
void board_wait(const struct board *b, uint32_t news, int64_t timeout_ns);
void board_wake(struct board *b);

/* The whole board at one moment, for `ascope dyn`. */
struct board_view {
    int32_t owner_pid; /* 0: nobody watches */
    uint32_t poll_ms;
    uint64_t id;      /* of the newest request; 0: none yet */
    uint64_t seen_id; /* of the file as it was last seen, which may be no request; 0: not seen */
    uint32_t n_ranks;
    struct board_rank rank[BOARD_RANKS]; /* by rank, then pid */
};
/* False: no process of this user listens there, or an error; then e is set. */
bool board_read(const char *config_dir, enum ascope_dynamic_kind kind, struct board_view *out, struct error *e);

/* The id that a text gets as a request; it is the same on every host. */
uint64_t board_id(const void *text, size_t n, int64_t mtime_ns);

#endif
