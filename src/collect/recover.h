/* recover.h - finishes what a collector that was killed has left: records in ascope.rings go to the files they were meant for.
 *
 * The file is not trusted. A collection that is still being recorded (its process holds a lock) is left alone.
 */
#ifndef ASCOPE_COLLECT_RECOVER_H
#define ASCOPE_COLLECT_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum recovery {
    RECOVERY_NOTHING, /* no rings: the collection was ended as it should, or by another collector */
    RECOVERY_DONE,
    RECOVERY_RUNNING, /* still being recorded */
    RECOVERY_FAILED,  /* e says why; what is in files can be analysed all the same */
};
struct recovered {
    uint64_t n_records, n_bytes, n_damaged, open_ranges;
};

/* path: a *_ascend_pt or a PROF directory. */
enum recovery collection_recover(const char *path, struct recovered *out, struct error *e);

#endif
