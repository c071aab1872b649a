/* SPDX-License-Identifier: Apache-2.0 */
/* checksum.h - notices that bytes were lost or changed by accident.
 *
 * Four products run side by side, so that it is as fast as memory. No protection against somebody who changes a file on
 * purpose.
 */
#ifndef ASCOPE_BASE_FILES_CHECKSUM_H
#define ASCOPE_BASE_FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { CHECKSUM_LANES = 4, CHECKSUM_BLOCK = CHECKSUM_LANES * 8 };
struct checksum {
    uint64_t lane[CHECKSUM_LANES];
    uint8_t rest[CHECKSUM_BLOCK]; /* less than a block */
    size_t n_rest;
    uint64_t bytes;
};

void checksum_begin(struct checksum *c);
void checksum_add(struct checksum *c, const void *bytes, size_t n); /* in parts of any size */
uint64_t checksum_end(const struct checksum *c);                    /* of what was added so far */
uint64_t checksum_of(const void *bytes, size_t n);

#endif
