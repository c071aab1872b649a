/* SPDX-License-Identifier: Apache-2.0 */
/* memory_recording.h - the allocations of a collection as a memory snapshot, so that one judge decides about both.
 *
 * A stack is the operator that allocated, those around it, and the Python stack of the innermost one that has one. Of
 * segments only their sum is known. What the allocator had before the collection is one block.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_RECORDING_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_RECORDING_H

#include "profile/collection.h"
#include "profile/snapshot/memory_snapshot.h"

/* False: no memory. Without allocations on devices the snapshot has no events. `path` and the collection must outlive it. */
bool memory_of_recording(struct memory_snapshot *s, const struct collection *c, const char *path, struct arena *mem);

#endif
