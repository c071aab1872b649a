/* SPDX-License-Identifier: Apache-2.0 */
/* drop_reason.h - why records were dropped while recording. Also in ascope.json, where "dropped" names the reason of
 * each count. */
#ifndef ASCOPE_COLLECT_RING_DROP_REASON_H
#define ASCOPE_COLLECT_RING_DROP_REASON_H

#include <stdint.h>

#include "collect/write/streams.h"

enum drop_reason {
    DROP_FULL, /* the ring was full, signal handlers were nested too deeply, or the record was too long */
    DROP_THREADS,
    DROP_DESCRIPTOR,
    DROP_PERMISSION,
    DROP_SPACE,
    DROP_NAME,
    DROP_OTHER,
    DROP_REASONS
};

/* Dropped records by reason and stream. Those that are not counted here were dropped because of DROP_FULL. */
struct drop_counts {
    uint64_t n[DROP_REASONS][STREAM_KINDS];
};

enum drop_reason drop_reason_of(int why); /* an errno value; EUSERS: too many threads; 0: DROP_OTHER */
const char *drop_reason_key(enum drop_reason reason);
/* How many of all dropped records of a stream have this reason. */
uint64_t drop_count(const struct drop_counts *c, enum drop_reason reason, unsigned stream, uint64_t all);

#endif
