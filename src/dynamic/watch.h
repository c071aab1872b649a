/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the thread that waits for requests.
 *
 * In the process that owns the board it looks at the file and publishes what is new; in the others it waits for that, and becomes the
 * owner when the owner is gone. What is published is put into a mailbox with one place: the newest request wins. The thread calls
 * nothing of the program, blocks all signals, and waits on a word in memory.
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
    void (*notify)(void *user); /* something is in the mailbox: on the thread */
    void *user;

    pthread_t thread;
    bool has_thread;
    struct board_rank *ranks; /* what it looks at */
    uint64_t serial;          /* of the last text that was delivered */
    int64_t look_at;          /* monotonic */
    bool is_open;             /* a step is to be chosen */
    int64_t open_until;       /* at the latest: a process that is stopped does not hold up the others */
    double steps_per_s;
    int64_t sample_ns, sample_step; /* of the fastest rank, at the last look */
};

/* Joins the board, and looks at the file once if it is the owner: what is there now is no request (unless the kind says so), what
 * comes later is. Then the thread starts. w: zeroed but for dir, file, rank, poll_ms, notify, user. *why: the board is private. */
bool watch_start(struct watch *w, const struct config_kind *kind, struct error *why, struct error *e);
/* Ends the thread, leaves the board, frees. False: the thread hangs in the file system; w must be left alone. */
bool watch_stop(struct watch *w);
/* The newest request; NULL: none. Owner: the caller. */
struct board_news *watch_take(struct watch *w);
void news_free(struct board_news *n);

#endif
