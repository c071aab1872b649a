/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - registry: the thread that waits for requests.
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
#include <stdint.h>

#include "ascope/base.h"
#include "ascope/dynamic.h"
#include "base/files/kept.h"
#include "dynamic/board.h"
#include "dynamic/config.h"

/* dynamic_log.c: a log of two files of at most 200 KB: DIR/log/dp_{host}_{pid}_rank_{rank}.log and the one before it,
 * .log.1.
 *
 * A log that cannot be written is left alone: the job is worth more. Any thread may add lines. */

enum { LOG_BYTES_MOST = 200 << 10 };

struct dynamic_log {
    pthread_mutex_t lock;
    struct kept file;
    bool is_open;
    uint64_t size;
    char path[PATH_MAX];
};
#define DYNAMIC_LOG_CLOSED                                                                                             \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .file = KEPT_NONE                                                           \
    }

/* prefix: "dp" or "monitor_dp". Without a log directory it stays closed. */
void dynamic_log_open(struct dynamic_log *l, const char *config_dir, const char *prefix, int32_t rank);
/* "2024-08-21 15:51:46,392 [INFO] [2127856] _dynamic_profiler_monitor.py: text", in local time. */
void dynamic_log_add(struct dynamic_log *l, enum ascope_severity severity, const char *text);
void dynamic_log_close(struct dynamic_log *l);

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

/* dynamic_session.c: the hooks of a program that has none: collections are sessions of libascope, analysed by the
 * command `ascope`. */

/* As in struct ascope_dynamic_setup. */
bool dynamic_session_begin(const struct ascope_dynamic_request *r, void *unused);
void dynamic_session_step(void *unused);
const char *dynamic_session_end(bool is_cut, void *unused);

/* agreement.c: in which step the ranks of a job begin a collection that is asked for "in the next step".
 *
 * A request for one process alone begins in its next step. For several processes the owner of the board chooses a step
 * that none of them has reached yet. First all of them get the request; then the owner chooses the step and stores it
 * where each of them looks in each step. So only those steps are lost that run while the owner computes. If one rank
 * has already passed a given start step, no rank starts. Hosts agree through a file beside the configuration, whose
 * name contains the request and the job: the host that creates it first has chosen, the others read it. The file
 * appears with its whole content (link()), so that no host reads a part of it. */

#define AGREEMENT_PREFIX ".ascope_dp_"

struct agreement {
    const char *config_dir;
    uint64_t id;
    double steps_per_s;    /* of the fastest rank */
    double spread_s;       /* longest time until the step is stored on the board */
    double hosts_spread_s; /* longest time until all hosts have read it */
};

/* Fills the offer to each listening rank, by the number of its slot. is_known: all of them have got the request; before
 * that, a step that has to be chosen is OFFER_OPEN. */
void agreement_make(const struct agreement *a, const struct config *c, const struct board_rank *rank,
                    const unsigned *slot, size_t n, bool is_known, struct board_offer offer[BOARD_RANKS]);

/* The step that the hosts agree on: `proposed`, or that of a host that was faster. */
int64_t agreement_of_hosts(const struct agreement *a, uint64_t group, int64_t proposed);

/* host_status.c: who listens on which host, for `ascope dyn` on another one: DIR/.ascope_status_HOST.
 *
 * The file is written only if the job has ranks on other hosts, by the thread that looks at the configuration, each
 * time that it looks. It is replaced as a whole. A host whose processes were killed leaves its file behind; the age of
 * the file shows that it is no longer written. */

#define HOST_STATUS_PREFIX ".ascope_status_"
enum { HOST_NAME_BYTES = 256 };

void host_status_write(const char *config_dir, uint32_t poll_ms, const struct board_rank *rank, size_t n);
void host_status_remove(const char *config_dir);
void host_status_name(char name[HOST_NAME_BYTES]); /* of this host, as in the names of the files */

struct host_status {
    uint32_t poll_ms;
    double age_s; /* by the clock of this host */
    size_t n;
    struct board_rank rank[BOARD_RANKS];
};
/* False: it cannot be read, or is something else. */
bool host_status_read(const char *path, struct host_status *out);

#endif
