/* SPDX-License-Identifier: Apache-2.0 */
/* recover.h - finishes what a collector that was killed has left: records in ascope.rings go to the files they were meant for.
 *
 * The files are cut to what the last commit says, then everything that is still in the rings is appended, so that each record
 * is there once. The file of the rings is removed last: killed at any moment, recovery can be done again.
 *
 * The collection may be anybody's. Files are found from its own descriptor and no link is followed; a file is changed only if
 * the collection's owner owns it, and new ones are given to that owner. Rings are taken for the collection's only if they are a plain file of
 * the same owner with the session's id that its ascope.json has; they are removed only then, and nothing else ever is but
 * slices behind the last commit. Where ascope.json says that the recording ended, no file is changed.
 * A collection that is still being recorded (its process holds a lock) is left alone.
 */
#ifndef ASCOPE_COLLECT_RECOVER_H
#define ASCOPE_COLLECT_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum recovery {
    RECOVERY_NOTHING, /* the collection was ended as it should, or made by another collector */
    RECOVERY_DONE,
    RECOVERY_RUNNING, /* still being recorded, or recovered by another process */
    RECOVERY_FAILED,  /* e says why; what is in files can be analysed all the same */
    RECOVERY_LOST, /* it was not ended, and its rings are gone or cannot be believed: e says which. Nothing was changed */
};
struct recovered {
    uint64_t n_records, n_bytes;
    uint64_t
        n_damaged; /* places in the rings where something was that cannot be read; files that were shorter than they had been */
    uint64_t open_ranges; /* marks that began and never ended */
    uint64_t window_ns;   /* it was a flight recorder's: how much of the past is there; 0: it was not */
};

/* path: a *_ascend_pt or a PROF directory; also a PROF directory in a *_ascend_pt one. */
enum recovery collection_recover(const char *path, struct recovered *out, struct error *e);
/* The same; of a flight recorder (flight.h) only the last `last_ns`. 0: all that it was to keep. */
enum recovery collection_recover_last(const char *path, uint64_t last_ns, struct recovered *out, struct error *e);
bool collection_is_recorded(const char *path); /* now, by a process that lives */

#endif
