/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - a record of fixed size, described once.
 *
 * A layout is a table that reads like the documentation of the format. Readers decode columns from it, the simulator
 * writes records with it, tests iterate over it. Bounds are checked once, by the size of the record; no field exceeds
 * it (tests/unit/raw/test_raw.c checks every layout).
 */
#ifndef ASCOPE_RAW_LAYOUT_H
#define ASCOPE_RAW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum width { W8 = 1, W16 = 2, W32 = 4, W64 = 8 };
enum { LAYOUT_MOST_FIELDS = 32 };

struct field {
    uint16_t off;
    uint8_t width;
    const char *name;
};

/* Distinguishes records of one kind from others: (little-endian value at off & mask) == value. Width 0 always matches. */
struct match {
    uint16_t off;
    uint8_t width;
    uint32_t mask, value;
};

struct layout {
    const char *name;
    uint16_t size;
    struct match magic;      /* a record that fails this is damaged */
    struct field size_field; /* where a record stores its own size; width 0: nowhere */
    struct match kind;       /* a record that fails this is another kind in the same stream */
    bool keeps_rest; /* the reader keeps a pointer to the record for what does not fit into columns: arrays, text */
    uint16_t n;
    struct field field[LAYOUT_MOST_FIELDS];
};

bool match_holds(const struct match *m, const uint8_t *rec);

uint64_t field_get(const struct field *f, const uint8_t *rec);

/* One field of one record. The record has layout.size bytes. */
uint64_t layout_get(const struct layout *l, unsigned field, const uint8_t *rec);
void layout_put(const struct layout *l, unsigned field, uint8_t *rec, uint64_t value);
void layout_init(const struct layout *l, uint8_t *rec); /* all zero but the magic, the kind and the size */

/* One column: field `f` of n records into an array of elements as wide as the field. */
void layout_decode(const struct field *f, const uint8_t *const *rec, size_t n, void *out);

#endif
