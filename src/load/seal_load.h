/* SPDX-License-Identifier: Apache-2.0 */
/* seal_load.h - compares a collection with the list that its recorder left (base/seal.h). */
#ifndef ASCOPE_LOAD_SEAL_LOAD_H
#define ASCOPE_LOAD_SEAL_LOAD_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/collector.h"

/* Counts files that are missing, have another length or other bytes. Without a list, as after a kill, it does nothing. `path`: the
 * collection; is_part: a PROF directory of it, whose files alone are looked at. False only without memory. */
bool seal_load(const struct collector *c, const char *path, bool is_part, unsigned n_threads, struct arena *mem,
               struct losses *lost, struct error *e);

#endif
