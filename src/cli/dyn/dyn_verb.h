/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_verb.h - registry: what the actions of `ascope dyn` share. An action is a row in cmd_dyn.c; it prints its report unless
 * --json or --quiet was given. */
#ifndef ASCOPE_CLI_DYN_DYN_VERB_H
#define ASCOPE_CLI_DYN_DYN_VERB_H

#include <jansson.h>
#include <sys/stat.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "cli/options/command.h"
#include "dynamic/board.h"
#include "report/term.h"

/* dyn_listeners.c: the processes that listen to a configuration directory, with their steps and the state of the
 * newest request.
 *
 * Processes of this host are read from their shared memory, which is current and readable only by the same user. Those
 * of other hosts are read from the files that they write (dynamic/host_status.c) and are age_s old. Hosts that have
 * stopped writing are left out. */

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

struct dyn {
    struct arguments *a;
    const char *dir; /* the configuration directory, which exists */
    struct term term;
    struct listeners who;
    json_t *more; /* additional members of the JSON report; NULL: none. The command releases it */
    /* The status of the command if the action succeeds, and if it fails. */
    enum exit_status done, refused;
};

static inline bool dyn_prints(const struct dyn *d)
{
    return !d->a->json && !d->a->quiet;
}

/* dyn_save.c: `ascope dyn DIR save`: saves the last seconds of all flight recorders found through DIR as collections. */

bool dyn_save(struct dyn *d, struct error *e);

/* dyn_config.c: edits profiler_config.json for `ascope dyn`: sets the keys of the command line and keeps the values
 * and the order of all others. The file is replaced atomically, with its owner and mode, so that a job reads either
 * the old or the new one. */

struct dyn_config {
    const char *path;
    json_t *root;    /* an object; empty when there was no file */
    struct stat was; /* of the existing file */
    bool is_new;
};

/* Reads the file; a missing one is an empty object. False: it cannot be used, see e. Call dyn_config_end() in any
 * case. */
bool dyn_config_read(struct dyn_config *c, const char *dir, struct arena *mem, struct error *e);
void dyn_config_end(struct dyn_config *c);

/* Sets a key; "experimental_config.l2_cache" is a member of the object experimental_config. Takes the reference.
 * False: no memory. */
bool dyn_config_set(struct dyn_config *c, const char *key, json_t *value);
/* Whether "--l2_cache=true" names a key of the file. */
bool dyn_config_has_key(const char *word);
/* Sets such a key. False: the value is invalid, see e. */
bool dyn_config_set_word(struct dyn_config *c, const char *word, struct error *e);

bool dyn_config_write(struct dyn_config *c, struct error *e);

/* dyn_wait.c: `ascope dyn DIR wait`: waits until each rank of the newest request has its result, or cannot get one. */

bool dyn_wait(struct dyn *d, struct error *e);

#endif
