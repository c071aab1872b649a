/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the thread that waits for requests.
 *
 * In the process that owns the board the thread looks at the file, and publishes it when it has changed. In the other
 * processes it waits for that, and takes over when the owner has ended. A published request is put into a mailbox with
 * one place, so that the newest request wins. The thread calls no code of the program, blocks all signals, and waits on
 * a futex.
 */
#ifndef ASCOPE_DYNAMIC_WATCH_H
#define ASCOPE_DYNAMIC_WATCH_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "dynamic/board.h"
#include "dynamic/dynamic_log.h"

struct watch {
    struct board board;
    struct dynamic_log log; /* monitor_dp_...: the owner's */
    char dir[PATH_MAX], file[PATH_MAX];
    int32_t rank;
    _Atomic uint32_t poll_ms;
    _Atomic bool quits;
    _Atomic(struct board_news *) mail;
    void (*notify)(void *user); /* called on the thread after something was put into the mailbox */
    void *user;

    pthread_t thread;
    bool has_thread;
    struct board_rank *ranks; /* room for BOARD_RANKS listeners */
    uint64_t serial;          /* of the last text that was delivered */
    int64_t look_at;          /* monotonic */
    bool is_open;             /* a start step has to be chosen */
    int64_t open_until;       /* when it is chosen at the latest, so that a stopped process does not delay the others */
    double steps_per_s;
    int64_t sample_ns, sample_step; /* of the fastest rank, at the last look */
};

/* Joins the board and starts the thread. The owner looks at the file once before: a file that exists already is no
 * request (unless the kind says so), later changes are. w is zeroed but for dir, file, rank, poll_ms, notify and user.
 * If the board is private, `why` says why. */
bool watch_start(struct watch *w, const struct config_kind *kind, struct error *why, struct error *e);
/* Ends the thread, leaves the board, frees. False: the thread hangs in the file system, and still uses w. */
bool watch_stop(struct watch *w);
/* The newest request; NULL: none. Owner: the caller. */
struct board_news *watch_take(struct watch *w);
void news_free(struct board_news *n);

#endif
