/* SPDX-License-Identifier: Apache-2.0 */
/* collector_load.h - reads ascope.json, which ascope's recorder writes into the top directory of a collection. */
#ifndef ASCOPE_LOAD_PROF_COLLECTOR_LOAD_H
#define ASCOPE_LOAD_PROF_COLLECTOR_LOAD_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "profile/collector.h"

/* Reads path/ascope.json, and checks whether path/ascope.rings exists. Missing, damaged or impossible values are
 * counted and left out; the losses that the recorder reports are counted, too. False only without memory. */
bool collector_load(struct collector *out, const char *path, struct arena *mem, struct losses *lost, struct error *e);

/* The same for the collection of a framework that contains a PROF directory; without one it does nothing. */
bool collector_load_above(struct collector *out, const char *path, struct arena *mem, struct losses *lost,
                          struct error *e);

#endif
