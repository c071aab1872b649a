/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_listeners.h - the processes that listen to a configuration directory, with their steps and the state of the
 * newest request.
 *
 * Processes of this host are read from their shared memory, which is current and readable only by the same user. Those
 * of other hosts are read from the files that they write (dynamic/host_status.c) and are age_s old. Hosts that have
 * stopped writing are left out.
 */
#ifndef ASCOPE_CLI_DYN_DYN_LISTENERS_H
#define ASCOPE_CLI_DYN_DYN_LISTENERS_H

#include <jansson.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "dynamic/board.h"
#include "report/term.h"

struct listener {
    const char *host;
    double age_s; /* 0 on this host */
    struct board_rank is;
};
struct listeners {
    LIST(struct listener) list; /* by rank, then host and pid */
    uint32_t poll_ms;           /* the longest interval: changes of the file are noticed within it */
    uint64_t id, seen_id;       /* see struct board_view, of this host */
    enum ascope_dynamic_kind kind;
};

/* False: see e. The list may be empty. */
bool listeners_find(struct listeners *l, const char *dir, struct arena *mem, struct error *e);
/* The same, but an empty list is an error. */
bool listeners_find_some(struct listeners *l, const char *dir, struct arena *mem, struct error *e);
/* Finds the same process in another list; NULL: it no longer listens. */
const struct listener *listeners_same(const struct listeners *l, const struct listener *one);

void listeners_print(const struct term *t, const struct listeners *l);
json_t *listeners_json(const struct listeners *l); /* a new reference; NULL without memory */

/* "rank 3", or "process 1234" for a process without a rank. Valid until the next call. */
const char *listener_name(const struct listener *l);
/* "0 to 3, 8" */
const char *listeners_ranks(const struct listeners *l, struct arena *mem);

#endif
