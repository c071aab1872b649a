/* SPDX-License-Identifier: Apache-2.0 */
/* column_code.h - columns of numbers as few bytes that zlib packs well, exact.
 *
 * Each number is written as its difference to what predicts it best (nothing, the number before it, or the same row of
 * another column), in the largest unit that all differences are multiples of: devices count in ticks. Bytes of equal
 * weight lie together, because those of high weight are nearly always equal.
 */
#ifndef ASCOPE_CLUSTER_RANK_COLUMN_CODE_H
#define ASCOPE_CLUSTER_RANK_COLUMN_CODE_H

#include "base/files/bytes.h"
#include "base/files/out.h"

void put_varint(struct out *o, uint64_t v);
void put_signed(struct out *o, int64_t v);
/* False: the bytes end, or it has more than 64 bits. */
bool take_varint(struct bytes *in, uint64_t *v);

/* Numbers, of which INT64_MIN means none. `beside` has as many, or is NULL. A column takes at least a byte for each
 * number. */
void put_numbers(struct out *o, const int64_t *v, size_t n, const int64_t *beside);
/* False: damaged. */
bool take_numbers(struct bytes *in, int64_t *v, size_t n, const int64_t *beside);

/* Real numbers: decimals as whole numbers of a power of ten, and by how many of the nearest doubles they are off, which
 * is rarely more than one. scratch: 2 * n numbers. */
void put_reals(struct out *o, const double *v, size_t n, int64_t *scratch);
bool take_reals(struct bytes *in, double *v, size_t n, int64_t *scratch);

#endif
