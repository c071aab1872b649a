/* SPDX-License-Identifier: Apache-2.0 */
/* spans.h - pairs of stamps inside iterations: an even tag begins, the odd one after it ends, on the same stream. */
#ifndef ASCOPE_ANALYSE_DEVICE_SPANS_H
#define ASCOPE_ANALYSE_DEVICE_SPANS_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "profile/steps.h"

struct span_builder {
    struct spans *out;
    uint32_t *first;        /* of the same iteration and stream: row */
    struct open_span *slot; /* by hash: the latest begin of each stream and tag, the first of each stream */
    size_t n_slots;         /* a power of two */
};

/* Room for `most` stamps: rows in `mem`, the rest in `temp`. The caller checks both arenas with arena_failed(). */
struct span_builder spans_new(struct spans *out, size_t most, struct arena *mem, struct arena *temp);

/* `serial` identifies the iteration and is never reused; `row` may be reused. False: an end without a begin in this
 * iteration. */
bool spans_add(struct span_builder *s, uint32_t row, uint32_t serial, uint16_t tag, uint16_t stream, uint64_t tick);

/* Drops and counts what did not end, puts the rest in order. False only without memory. */
bool spans_finish(struct span_builder *s, struct arena *mem, const char *file, struct losses *lost);

#endif
