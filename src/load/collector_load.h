/* SPDX-License-Identifier: Apache-2.0 */
/* collector_load.h - reads ascope.json, which ascope's recorder writes into the top directory of a collection. */
#ifndef ASCOPE_LOAD_COLLECTOR_LOAD_H
#define ASCOPE_LOAD_COLLECTOR_LOAD_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/collector.h"

/* What path/ascope.json says, and whether path/ascope.rings is there. What is missing, damaged or absurd in it is counted and
 * left out, as are the losses that the recorder reports. False only without memory. */
bool collector_load(struct collector *out, const char *path, struct arena *mem, struct losses *lost, struct error *e);

/* The same for the *_ascend_pt directory around a PROF directory; nothing when it lies elsewhere. */
bool collector_load_above(struct collector *out, const char *path, struct arena *mem, struct losses *lost,
                          struct error *e);

#endif
