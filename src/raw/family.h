/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - the families of files in a data directory: their content, and the size of their records. */
#ifndef ASCOPE_RAW_FAMILY_H
#define ASCOPE_RAW_FAMILY_H

#include "raw/chip.h"

/* A stream may have a second writer, whose slices are numbered from here on, far beyond those of any collector. It may
 * write as many. */
enum { SLICE_BESIDE = 1000000 };

/* How many slices are missing between two that follow each other; none between those of two writers. */
static inline uint32_t slices_missing(uint32_t before, uint32_t number)
{
    const bool is_beside = before < SLICE_BESIDE && number >= SLICE_BESIDE && number < 2 * SLICE_BESIDE;
    return number > before && !is_beside ? number - before - 1 : 0; /* equal: slice_1 beside slice_01 */
}

struct family {
    const char
        *name; /* "api_event.data"; "compact.*" stands for all that begin so, "*-CpuUsage.data" for all that end so */
    uint16_t size;     /* of a record in bytes; 0: lines of text, or records of several lengths */
    const char *holds; /* for people */
};

/* Whether this version reads a stream of a collection of a chip whose cores count by time (samples_cores) or for each
 * task. Unknown streams are not read. */
bool family_is_read(const char *stream, const struct chip *c, bool samples_cores);

/* True: no report shows its content, and none of the reference does. It is no loss that nobody opens it. */
bool family_is_needless(const char *stream);

/* The family that a stream belongs to, the most exact one; NULL: unknown. */
const struct family *family_find(const char *stream);

#endif
