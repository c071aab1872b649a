/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/layout.h"

#include <string.h>

#include "base/files/bytes.h"

static uint64_t get(const uint8_t *p, unsigned width)
{
    switch (width) {
    case W8: return p[0];
    case W16: return le16(p);
    case W32: return le32(p);
    default: return le64(p);
    }
}

bool match_holds(const struct match *m, const uint8_t *rec)
{
    return m->width == 0 || (get(rec + m->off, m->width) & m->mask) == m->value;
}

uint64_t field_get(const struct field *f, const uint8_t *rec)
{
    return get(rec + f->off, f->width);
}

uint64_t layout_get(const struct layout *l, unsigned field, const uint8_t *rec)
{
    return field_get(&l->field[field], rec);
}

/* Formats and machines are little endian: the low bytes of the value are the field. Sizes are constants, so that each
 * case is one store. */
void layout_put(const struct layout *l, unsigned field, uint8_t *rec, uint64_t value)
{
    uint8_t *const to = rec + l->field[field].off;
    switch (l->field[field].width) {
    case W8: memcpy(to, &value, W8); break;
    case W16: memcpy(to, &value, W16); break;
    case W32: memcpy(to, &value, W32); break;
    default: memcpy(to, &value, W64);
    }
}

static void put_match(const struct match *m, uint8_t *rec)
{
    if (m->width == 0)
        return;
    const uint64_t v = (get(rec + m->off, m->width) & ~(uint64_t)m->mask) | m->value;
    memcpy(rec + m->off, &v, m->width);
}

void layout_init(const struct layout *l, uint8_t *rec)
{
    memset(rec, 0, l->size);
    put_match(&l->magic, rec);
    put_match(&l->kind, rec);
    if (l->size_field.width)
        memcpy(rec + l->size_field.off, &l->size, l->size_field.width);
}

/* The switch is taken once per column, not once per record. */
void layout_decode(const struct field *f, const uint8_t *const *rec, size_t n, void *out)
{
    const size_t off = f->off;
    switch (f->width) {
    case W8:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = rec[i][off];
        break;
    case W16:
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)out)[i] = le16(rec[i] + off);
        break;
    case W32:
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)out)[i] = le32(rec[i] + off);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            ((uint64_t *)out)[i] = le64(rec[i] + off);
    }
}
