/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/sqlite_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/bytes.h"

enum {
    FILE_HEADER = 100,
    LEAF = 13,
    INTERIOR = 5,
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    LEAST_USABLE = 480,
    SHORT_TYPES = 12, /* NULL, numbers, and two that are reserved */
};

static uint64_t be64(const uint8_t *p)
{
    return __builtin_bswap64(le64(p));
}

/* 7 bits of each byte, and all 8 of the ninth. */
static bool long_varint(struct bytes *b, uint64_t *out)
{
    uint64_t v = 0;
    for (int i = 0; i < 9; i++) {
        if (b->at == b->size)
            return false;
        const uint8_t byte = b->data[b->at++];
        v = i == 8 ? v << 8 | byte : v << 7 | (byte & 0x7F);
        if (!(byte & 0x80))
            break;
    }
    *out = v;
    return true;
}

static inline bool varint(struct bytes *b, uint64_t *out)
{
    if (b->at == b->size || b->data[b->at] & 0x80)
        return long_varint(b, out);
    *out = b->data[b->at++];
    return true;
}

bool rows_file_init(struct rows_file *f, const uint8_t *data, size_t size)
{
    if (size < FILE_HEADER || memcmp(data, "SQLite format 3", 16) != 0)
        return false;
    const size_t page = be16(data + 16) == 1 ? 65536 : be16(data + 16), reserved = data[20];
    if (page < 512 || (page & (page - 1)) != 0 || page - reserved < LEAST_USABLE || be32(data + 56) != 1)
        return false;
    *f = (struct rows_file){ data, size, page, page - reserved };
    return true;
}

static const uint8_t *page_of(const struct rows_file *f, uint64_t number)
{
    return number > 0 && number <= f->size / f->page_bytes ? f->data + (number - 1) * f->page_bytes : NULL;
}

void rows_init(struct rows *r, const struct rows_file *file, uint32_t root)
{
    *r = (struct rows){ .file = file, .below = root };
}

void rows_fini(struct rows *r)
{
    free(r->long_row);
    r->long_row = NULL;
}

/* Page 1 has the schema, and none of a table that is asked for. */
static bool go_below(struct rows *r)
{
    const uint8_t *page = r->below == 1 ? NULL : page_of(r->file, r->below);
    r->below = 0;
    if (!page || r->depth == ROWS_DEEP || r->n_pages++ > r->file->size / r->file->page_bytes)
        return false;
    const bool is_leaf = page[0] == LEAF;
    const size_t first = is_leaf ? LEAF_HEADER : INTERIOR_HEADER, n = be16(page + 3);
    if ((!is_leaf && page[0] != INTERIOR) || 2 * n > r->file->usable - first)
        return false;
    r->at[r->depth++] = (struct rows_page){ page, first, n, 0, is_leaf };
    return true;
}

/* The child of the next cell, and behind the last cell the one in the page's header. False: damaged. */
static bool next_child(struct rows *r, struct rows_page *p)
{
    size_t at = LEAF_HEADER;
    if (p->next < p->n && (at = be16(p->page + p->first + 2 * p->next)) > r->file->usable - 4)
        return false;
    p->next++;
    r->below = be32(p->page + at);
    return r->below != 0;
}

/* A row that goes on behind its page, in one piece. */
static const uint8_t *join(struct rows *r, const uint8_t *start, size_t local, size_t bytes)
{
    const struct rows_file *f = r->file;
    r->n_joined += bytes;
    if (r->n_joined > 2 * f->size) /* rows that share pages */
        return NULL;
    if (bytes > r->long_cap) {
        uint8_t *const more = realloc(r->long_row, bytes);
        if (!more)
            return NULL;
        r->long_row = more;
        r->long_cap = bytes;
    }
    memcpy(r->long_row, start, local);
    uint32_t next = be32(start + local);
    for (size_t done = local; done < bytes;) {
        const uint8_t *page = page_of(f, next);
        if (!page)
            return NULL;
        const size_t n = bytes - done < f->usable - 4 ? bytes - done : f->usable - 4;
        memcpy(r->long_row + done, page + 4, n);
        done += n;
        next = be32(page);
    }
    return r->long_row;
}

static inline bool cell_read(struct bytes *body, uint64_t type, struct stored *cell)
{
    static const uint8_t bytes_of[SHORT_TYPES] = { 0, 1, 2, 3, 4, 6, 8, 8 };
    const uint8_t *p = bytes_take(body, type < SHORT_TYPES ? bytes_of[type] : (size_t)((type - SHORT_TYPES) / 2));
    if (!p)
        return false;
    cell->kind = STORED_INTEGER;
    switch (type) {
    case 0: cell->kind = STORED_NULL; return true;
    case 1: cell->integer = (int8_t)p[0]; return true;
    case 2: cell->integer = (int16_t)be16(p); return true;
    case 3: cell->integer = (int32_t)(be16(p) << 16 | (uint32_t)p[2] << 8) >> 8; return true;
    case 4: cell->integer = (int32_t)be32(p); return true;
    case 5: cell->integer = (int64_t)((uint64_t)be32(p) << 32 | be16(p + 4) << 16) >> 16; return true;
    case 6: cell->integer = (int64_t)be64(p); return true;
    case 7: {
        const uint64_t bits = be64(p);
        memcpy(&cell->real, &bits, sizeof bits);
        cell->kind = STORED_REAL;
        return cell->real == cell->real;
    }
    case 8: cell->integer = 0; return true;
    case 9: cell->integer = 1; return true;
    default: break;
    }
    cell->kind = STORED_TEXT;
    cell->text = (const char *)p;
    cell->bytes = (size_t)((type - SHORT_TYPES) / 2);
    return type > SHORT_TYPES && type % 2 == 1; /* even: a blob */
}

static bool row_read(struct rows *r, struct rows_page *p, int64_t *rowid, struct stored *cell, size_t n)
{
    const size_t usable = r->file->usable;
    struct bytes b = { p->page, usable, be16(p->page + p->first + 2 * p->next++) };
    uint64_t bytes, id, header;
    if (b.at > usable || !varint(&b, &bytes) || !varint(&b, &id) || bytes > r->file->size)
        return false;
    const uint8_t *record;
    if (bytes <= usable - 35) {
        record = bytes_take(&b, (size_t)bytes);
    } else {
        const size_t least = (usable - 12) * 32 / 255 - 23, more = least + (size_t)(bytes - least) % (usable - 4);
        const size_t local = more <= usable - 35 ? more : least;
        record = bytes_take(&b, local + 4);
        record = record ? join(r, record, local, (size_t)bytes) : NULL;
    }
    struct bytes types = { record, (size_t)bytes, 0 };
    if (!record || !varint(&types, &header) || header < types.at || header > bytes)
        return false;
    types.size = (size_t)header;
    struct bytes body = { record, (size_t)bytes, (size_t)header };
    for (size_t i = 0; i < n; i++) {
        uint64_t type;
        if (!varint(&types, &type) || !cell_read(&body, type, &cell[i]))
            return false;
    }
    *rowid = (int64_t)id;
    return true;
}

enum rows_state rows_next(struct rows *r, int64_t *rowid, struct stored *cell, size_t n)
{
    for (;;) {
        if (r->below && !go_below(r))
            return ROWS_STRANGE;
        if (r->depth == 0)
            return ROWS_END;
        struct rows_page *p = &r->at[r->depth - 1];
        if (p->next >= p->n + (p->is_leaf ? 0 : 1))
            r->depth--;
        else if (p->is_leaf)
            return row_read(r, p, rowid, cell, n) ? ROWS_ROW : ROWS_STRANGE;
        else if (!next_child(r, p))
            return ROWS_STRANGE;
    }
}

bool rows_count(const struct rows_file *file, uint32_t root, size_t *n)
{
    struct rows r;
    rows_init(&r, file, root);
    *n = 0;
    for (;;) {
        if (r.below && !go_below(&r))
            return false;
        if (r.depth == 0)
            return true;
        struct rows_page *p = &r.at[r.depth - 1];
        *n += p->is_leaf ? p->n : 0;
        if (p->is_leaf || p->next > p->n)
            r.depth--;
        else if (!next_child(&r, p))
            return false;
    }
}
