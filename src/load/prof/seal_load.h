/* SPDX-License-Identifier: Apache-2.0 */
/* seal_load.h - compares a collection with the list that its recorder left (base/files/seal.h). */
#ifndef ASCOPE_LOAD_PROF_SEAL_LOAD_H
#define ASCOPE_LOAD_PROF_SEAL_LOAD_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "profile/collector.h"

enum seal_scope {
    SEAL_ALL,
    SEAL_PART = 1,    /* of a PROF directory of the collection, its files alone */
    SEAL_LENGTHS = 2, /* reads no file */
};

/* Counts files that are missing, have another length or other bytes. Without a list, as after a kill, it does nothing.
 * `path`: the collection, or the part of it; scope: of enum seal_scope. False only without memory. */
bool seal_load(const struct collector *c, const char *path, unsigned scope, unsigned n_threads, struct arena *mem,
               struct losses *lost, struct error *e);

#endif
