/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what every target begins with.
 *
 * An input is cut into pieces at CUT, so that a mutation in one piece leaves the others whole; a length in front of
 * each would make most mutations meaningless.
 */
#ifndef ASCOPE_FUZZ_FUZZ_H
#define ASCOPE_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CUT "\xF5\xC1\xCC\xA0"
enum { CUT_BYTES = 4 };

struct piece {
    const uint8_t *data;
    size_t size;
};

/* The next piece of the input, or false at its end. */
static inline bool piece_next(const uint8_t **at, size_t *left, struct piece *out)
{
    if (!*at)
        return false;
    const uint8_t *cut = *left >= CUT_BYTES ? memmem(*at, *left, CUT, CUT_BYTES) : NULL;
    *out = (struct piece){ *at, cut ? (size_t)(cut - *at) : *left };
    *left -= cut ? out->size + CUT_BYTES : out->size;
    *at = cut ? cut + CUT_BYTES : NULL;
    return true;
}

#endif
