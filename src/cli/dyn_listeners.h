/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_listeners.h - who listens to a configuration directory, at which step, and what became of the newest request there.
 *
 * The processes of this host are read from the memory that they share, which is current; only the same user can read it. Those of other hosts
 * are read from the files that these write (dynamic/host_status.h): as old as age_s says. A host that does not write any more is left out.
 */
#ifndef ASCOPE_CLI_DYN_LISTENERS_H
#define ASCOPE_CLI_DYN_LISTENERS_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/term.h"
#include "dynamic/board.h"

struct listener {
    const char *host;
    double age_s; /* 0 on this host */
    struct board_rank is;
};
struct listeners {
    LIST(struct listener) list; /* by rank, then host and pid */
    uint32_t poll_ms;           /* the longest of them: a change is noticed within it */
    uint64_t id, seen_id;       /* of board_view, of this host */
    enum ascope_dynamic_kind kind;
};

/* False: e. Nobody is an empty list. */
bool listeners_find(struct listeners *l, const char *dir, struct arena *mem, struct error *e);
/* The same, but nobody is an error. */
bool listeners_find_some(struct listeners *l, const char *dir, struct arena *mem, struct error *e);
/* The same process in another list; NULL: it does not listen any more. */
const struct listener *listeners_same(const struct listeners *l, const struct listener *one);

void listeners_print(const struct term *t, const struct listeners *l);
json_t *listeners_json(const struct listeners *l); /* a new reference; NULL without memory */

/* "rank 3", or of a process without one "process 1234". Valid until the next call. */
const char *listener_name(const struct listener *l);
/* "0 to 3, 8" */
const char *listeners_ranks(const struct listeners *l, struct arena *mem);

#endif
