/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of one stream, read with one of the layouts: the first byte says which, the second where the numbers begin. */
#include <stdbool.h>

#include "fuzz.h"
#include "guarded.h"
#include "load/prof/records.h"
#include "raw/all.h"

enum { MOST_SLICES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct layout *l = raw_layouts[data[0] % n_raw_layouts];
    uint32_t number = data[1] >> 4;
    struct source s = { .path = "fuzz", .mem = arena_new() };
    struct slice slice[MOST_SLICES];
    struct stream stream = { .family = "x", .is_unaging = data[1] & 1, .slice = slice };
    const uint8_t *at = data + 2;
    size_t left = size - 2;
    struct piece piece;
    while (stream.n_slices < MOST_SLICES && piece_next(&at, &left, &piece)) {
        const uint8_t *copy = guarded_copy(piece.data, piece.size);
        slice[stream.n_slices++] = (struct slice){ .name = "x", .data = copy, .size = piece.size, .number = number };
        number += (piece.size & 7) == 7 ? 2 : 1; /* now and then one is missing */
    }
    s.stream = &stream;
    s.n_streams = 1;
    struct records r;
    struct error e = { 0 };
    if (records_load(&s, s.mem, "x", l, false, &r, &e)) {
        uint64_t sum = 0;
        for (size_t i = 0; i < r.n; i++) {
            for (unsigned f = 0; f < l->n; f++)
                sum += ((const uint8_t *)r.column[f])[i * l->field[f].width];
            sum += l->keeps_rest ? r.rest[i][l->size - 1] : 0;
        }
        if (r.n > size / l->size + 1 || r.n_unaging > r.n || sum == UINT64_MAX)
            abort();
    }
    for (size_t i = 0; i < stream.n_slices; i++)
        guarded_free(slice[i].data, slice[i].size);
    arena_free(s.mem);
    return 0;
}
