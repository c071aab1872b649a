/* SPDX-License-Identifier: Apache-2.0 */
/* recover.h - finishes what a collector that was killed has left: records in ascope.rings go to the files they were
 * meant for.
 *
 * The files are truncated to the lengths of the last commit. Then the records that are still in the rings are appended.
 * So each record is in the files once. The file of the rings is removed last: recovery can be killed at any moment and
 * repeated.
 *
 * The collection may belong to another user, who is not trusted. Files are opened from its descriptor, and no link is
 * followed. A file is changed only if the collection's owner owns it, and new files are given to that owner. Rings
 * belong to the collection only if they are a regular file of the same owner and have the session id of its
 * ascope.json. Only such rings are removed, and slices that were begun after the last commit. If ascope.json says that
 * the recording has ended, no file is changed. A collection that is still being recorded (its process holds a lock) is
 * left alone.
 */
#ifndef ASCOPE_COLLECT_SESSION_RECOVER_H
#define ASCOPE_COLLECT_SESSION_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"

enum recovery {
    RECOVERY_NOTHING, /* the collection was ended as it should, or made by another collector */
    RECOVERY_DONE,
    RECOVERY_RUNNING, /* still being recorded, or recovered by another process */
    RECOVERY_FAILED,  /* e says why; what is in files can be analysed all the same */
    RECOVERY_LOST,    /* it was not ended, and its rings are gone or cannot be believed: e says which. Nothing was
                      changed */
};
struct recovered {
    uint64_t n_records, n_bytes;
    uint64_t
        n_damaged; /* places in the rings where something was that cannot be read; files that were shorter than they had
                      been */
    uint64_t open_ranges; /* marks that began and never ended */
    uint64_t window_ns;   /* it was a flight recorder's: how much of the past is there; 0: it was not */
};

/* path: a *_ascend_pt or a PROF directory; also a PROF directory in a *_ascend_pt one. */
enum recovery collection_recover(const char *path, struct recovered *out, struct error *e);
/* The same; of a flight recorder (flight.h) only the last `last_ns`. 0: all that it was to keep. */
enum recovery collection_recover_last(const char *path, uint64_t last_ns, struct recovered *out, struct error *e);
bool collection_is_recorded(const char *path); /* now, by a running process */

#endif
