/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/sqlite_pages.h"

#include <assert.h>
#include <string.h>

enum {
    PAGE_BYTES = 4096,                      /* pages of 8 to 32 KiB are neither faster to write nor smaller in sum */
    FILE_HEADER = 100,                      /* in front of the first page's own header */
    LOCK_PAGE = (1 << 30) / PAGE_BYTES + 1, /* where SQLite takes its locks: never part of anything */
    LEAF = 13,
    INTERIOR = 5, /* kinds of pages of a table */
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    LONGEST_VARINT = 9,
    /* Of a row on its own page; the rest of a longer one goes to overflow pages. */
    LOCAL_MOST = PAGE_BYTES - 35,
    LOCAL_LEAST = (PAGE_BYTES - 12) * 32 / 255 - 23,
    OVERFLOW_BYTES = PAGE_BYTES - 4,
    /* However long their keys are, so many children fit on the first page as on any other. */
    CHILDREN_MOST = (PAGE_BYTES - FILE_HEADER - INTERIOR_HEADER) / (2 + 4 + LONGEST_VARINT),
    SHORT_TYPE = 127,      /* takes one byte: numbers, and texts of up to 57 bytes */
    COLUMNS_MOST = 64,     /* with as many such values no row is longer than a page */
    ROW_MOST = 1000000000, /* bytes; SQLite's own limit */
    SQL_MOST = 3500,       /* a row of the schema must fit on the first page, which has less room than others */
};

/* Cells are written from the end of the page towards its front, where their offsets will be. The memory before the page
 * holds a cell that turns out to be too large for the rest of the page. */
struct sqlite_pages_page {
    uint8_t room_and_page[2 * PAGE_BYTES];
    size_t n, top;               /* cells, and where the last of them begins */
    uint16_t at[PAGE_BYTES / 4]; /* where they begin, most significant byte first */
};

struct child {
    int64_t last; /* its highest rowid */
    uint32_t page;
};

struct btree {
    struct pages *pages;
    const char *name, *sql;
    size_t reserved; /* bytes that its pages leave free, because one of them may become the first of the file */
    int64_t last;
    bool has_rows;
    LIST(struct child) children; /* the pages that were written, of the lowest level that has no parents yet */
    struct sqlite_pages_page leaf;
};

struct pages {
    struct out *out;
    struct arena *mem;
    uint32_t n; /* pages so far */
    LIST(struct btree *) tables;
    uint8_t *long_row; /* where rows are put together that do not fit on a page */
    size_t long_row_cap;
};

static void put_u16(uint8_t *p, size_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

/* The *_before functions write backwards: the last byte is the one before p, and they return the address of the
 * first. */
static uint8_t *long_varint_before(uint8_t *p, uint64_t v)
{
    if (v >> 56) { /* nine bytes, and the last of them has eight bits */
        *--p = (uint8_t)v;
        v >>= 8;
        for (int i = 0; i < 8; i++, v >>= 7)
            *--p = (uint8_t)(v | 0x80);
        return p;
    }
    *--p = v & 0x7f;
    while (v >>= 7)
        *--p = (uint8_t)(v | 0x80);
    return p;
}

static inline uint8_t *varint_before(uint8_t *p, uint64_t v)
{
    if (v >= 128)
        return long_varint_before(p, v);
    *--p = (uint8_t)v;
    return p;
}

static inline uint8_t *value_before(uint8_t *p, const struct sqlite_value *v)
{
    static const uint8_t size[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
    if (v->type >= VALUE_TEXT) {
        const size_t len = (v->type - VALUE_TEXT) / 2;
        return memcpy(p - len, v->text, len);
    }
    /* All eight bytes: those that the type leaves out are written over by what comes before them. */
    const uint64_t bits = __builtin_bswap64(v->bits);
    memcpy(p - 8, &bits, sizeof bits);
    return p - size[v->type];
}

static uint8_t *record_before(uint8_t *p, const struct sqlite_value *value, size_t n)
{
    for (size_t i = n; i-- > 0;)
        p = value_before(p, &value[i]);
    const uint8_t *body = p;
    for (size_t i = n; i-- > 0;)
        p = varint_before(p, value[i].type);
    const size_t types = (size_t)(body - p);
    return varint_before(p, types < 127 ? types + 1 : types + 2); /* its own length is a part of the length */
}

/* The length of the texts, and the most that everything else can take. */
static size_t record_most(const struct sqlite_value *value, size_t n)
{
    size_t bytes = 2 + n * (LONGEST_VARINT + sizeof value->bits);
    for (size_t i = 0; i < n; i++)
        if (value[i].type >= VALUE_TEXT)
            bytes += (value[i].type - VALUE_TEXT) / 2;
    return bytes;
}

static uint32_t page_after(uint32_t page)
{
    return page + 1 == LOCK_PAGE ? page + 2 : page + 1;
}

static uint32_t put_page(struct pages *p, const uint8_t *bytes)
{
    static const uint8_t nothing[PAGE_BYTES];
    if (p->n + 1 == LOCK_PAGE) {
        out_bytes(p->out, nothing, PAGE_BYTES);
        p->n++;
    }
    out_bytes(p->out, bytes, PAGE_BYTES);
    return ++p->n;
}

static uint8_t *page_bytes(struct sqlite_pages_page *g)
{
    return g->room_and_page + PAGE_BYTES;
}

static void page_clear(struct sqlite_pages_page *g)
{
    g->n = 0;
    g->top = PAGE_BYTES;
}

static void page_add(struct sqlite_pages_page *g, const uint8_t *cell)
{
    g->top = (size_t)(cell - page_bytes(g));
    put_u16((uint8_t *)&g->at[g->n++], g->top);
}

/* Writes everything but the cells, which are in place. `right` is the last child of an interior page. */
static void page_finish(struct sqlite_pages_page *g, size_t start, uint32_t right)
{
    uint8_t *header = page_bytes(g) + start;
    const size_t header_bytes = right ? INTERIOR_HEADER : LEAF_HEADER;
    memset(header, 0, g->top - start);
    header[0] = right ? INTERIOR : LEAF;
    put_u16(header + 3, g->n);
    put_u16(header + 5, g->top);
    if (right)
        put_u32(header + 8, right);
    memcpy(header + header_bytes, g->at, g->n * sizeof *g->at);
}

static bool add_child(struct btree *b, uint32_t page)
{
    struct child *c = list_add(&b->children, b->pages->mem);
    if (c)
        *c = (struct child){ b->last, page };
    return c;
}

static bool end_leaf(struct btree *b)
{
    page_finish(&b->leaf, 0, 0);
    const uint32_t page = put_page(b->pages, page_bytes(&b->leaf));
    page_clear(&b->leaf);
    return add_child(b, page);
}

/* The cell before the others of the leaf has no room there: it becomes the first one of a new leaf. */
static const uint8_t *move_to_next(struct btree *b, const uint8_t *cell)
{
    uint8_t *page = page_bytes(&b->leaf), held[PAGE_BYTES];
    const size_t size = (size_t)(page + b->leaf.top - cell);
    memcpy(held, cell, size);
    return end_leaf(b) ? memcpy(page + PAGE_BYTES - size, held, size) : NULL;
}

/* Keeps a cell that was written before the others of the leaf. */
static inline bool add_cell(struct btree *b, const uint8_t *cell, int64_t rowid)
{
    struct sqlite_pages_page *g = &b->leaf;
    if (g->n > 0 && cell < page_bytes(g) + b->reserved + LEAF_HEADER + (g->n + 1) * sizeof *g->at)
        cell = move_to_next(b, cell);
    if (!cell)
        return false;
    page_add(g, cell);
    b->last = rowid;
    b->has_rows = true;
    return true;
}

static bool long_row_room(struct pages *p, size_t bytes)
{
    if (bytes <= p->long_row_cap)
        return true;
    uint8_t *bigger = arena_take(p->mem, 2 * bytes, 1);
    if (!bigger)
        return false;
    p->long_row = bigger;
    p->long_row_cap = 2 * bytes;
    return true;
}

/* A row of any length: what does not fit goes to pages of its own, each of which names the next. */
static bool add_long(struct btree *b, int64_t rowid, const struct sqlite_value *value, size_t n)
{
    struct pages *p = b->pages;
    const size_t most = record_most(value, n);
    if (most > ROW_MOST || !long_row_room(p, most))
        return false;
    const uint8_t *end = p->long_row + most, *record = record_before(p->long_row + most, value, n);
    const size_t bytes = (size_t)(end - record);
    size_t local = bytes;
    uint8_t *cell = page_bytes(&b->leaf) + b->leaf.top;
    if (bytes > LOCAL_MOST) {
        local = LOCAL_LEAST + (bytes - LOCAL_LEAST) % OVERFLOW_BYTES;
        if (local > LOCAL_MOST)
            local = LOCAL_LEAST;
        cell -= 4;
        put_u32(cell, page_after(p->n));
        uint8_t page[PAGE_BYTES];
        for (const uint8_t *from = record + local; from < end; from += OVERFLOW_BYTES) {
            const size_t left = (size_t)(end - from), here = left < OVERFLOW_BYTES ? left : OVERFLOW_BYTES;
            put_u32(page, here < left ? page_after(page_after(p->n)) : 0);
            memcpy(page + 4, from, here);
            memset(page + 4 + here, 0, OVERFLOW_BYTES - here);
            put_page(p, page);
        }
    }
    cell = memcpy(cell - local, record, local);
    return add_cell(b, varint_before(varint_before(cell, (uint64_t)rowid), bytes), rowid);
}

bool btree_add(struct btree *b, int64_t rowid, const struct sqlite_value *value, size_t n)
{
    assert(n <= COLUMNS_MOST);
    if (b->has_rows && rowid <= b->last)
        return false;
    uint8_t *p = page_bytes(&b->leaf) + b->leaf.top;
    const uint8_t *end = p;
    for (size_t i = n; i-- > 0; p = value_before(p, &value[i]))
        if (value[i].type > SHORT_TYPE)
            return add_long(b, rowid, value, n);
    for (size_t i = n; i-- > 0;)
        *--p = (uint8_t)value[i].type;
    *--p = (uint8_t)(n + 1);
    const size_t bytes = (size_t)(end - p);
    return add_cell(b, varint_before(varint_before(p, (uint64_t)rowid), bytes), rowid);
}

int64_t btree_last(const struct btree *b)
{
    return b->last;
}

/* The pages above the leaves, level by level, with as many children on one page as on the next. The root of the schema
 * has its place in the file already, behind the header: it stays in b->leaf. */
static bool end_table(struct btree *b, size_t root_start, uint32_t *root)
{
    struct sqlite_pages_page *g = &b->leaf;
    if (b->children.n == 0) {
        page_finish(g, root_start, 0);
        *root = root_start == 0 ? put_page(b->pages, page_bytes(g)) : 1;
        return true;
    }
    if (!end_leaf(b))
        return false;
    while (b->children.n > 1) {
        const size_t n_children = b->children.n, n_pages = (n_children + CHILDREN_MOST - 1) / CHILDREN_MOST;
        const struct child *c = b->children.at;
        for (size_t i = 0; i < n_pages; i++, c++) {
            const size_t start = n_pages == 1 ? root_start : 0;
            page_clear(g);
            for (size_t left = n_children / n_pages + (i < n_children % n_pages); left > 1; left--, c++) {
                uint8_t *cell = varint_before(page_bytes(g) + g->top, (uint64_t)c->last) - 4;
                put_u32(cell, c->page);
                page_add(g, cell);
            }
            page_finish(g, start, c->page);
            b->children.at[i] = (struct child){ c->last, start == 0 ? put_page(b->pages, page_bytes(g)) : 1 };
        }
        b->children.n = n_pages;
    }
    *root = b->children.at[0].page;
    return true;
}

static struct btree *new_tree(struct pages *p, const char *name, const char *sql, size_t reserved)
{
    struct btree *b = arena_take(p->mem, 1, sizeof *b);
    if (b) {
        *b = (struct btree){ .pages = p, .name = name, .sql = sql, .reserved = reserved };
        page_clear(&b->leaf);
    }
    return b;
}

struct btree *pages_table(struct pages *p, const char *name, const char *sql)
{
    assert(strlen(name) + strlen(sql) < SQL_MOST);
    struct btree *b = new_tree(p, name, sql, 0), **slot = b ? list_add(&p->tables, p->mem) : NULL;
    if (slot)
        *slot = b;
    return slot ? b : NULL;
}

struct pages *pages_new(struct out *o, struct arena *mem)
{
    static const uint8_t first[PAGE_BYTES]; /* a placeholder: the first page is written at the end */
    struct pages *p = arena_take(mem, 1, sizeof *p);
    if (p) {
        *p = (struct pages){ .out = o, .mem = mem };
        put_page(p, first);
    }
    return p;
}

static void fill_header(uint8_t *p, uint32_t n_pages)
{
    static const struct {
        uint8_t at, width;
        uint32_t value;
    } field[] = {
        { 16, 2, PAGE_BYTES }, { 18, 1, 1 },                /* written and */
        { 19, 1, 1 },                                       /* read without a log */
        { 21, 1, 64 },                                      /* three fractions of a page that the format fixes */
        { 22, 1, 32 },         { 23, 1, 32 }, { 24, 4, 1 }, /* changes */
        { 40, 4, 1 },                                       /* changes of the schema */
        { 44, 4, 4 },                                       /* the format in which 0 and 1 take no bytes */
        { 56, 4, 1 },                                       /* texts are UTF-8 */
        { 92, 4, 1 },       /* the number of changes for which the number of pages is right */
        { 96, 4, 3007000 }, /* the version of SQLite that began to write that number */
    };
    memset(p, 0, FILE_HEADER);
    memcpy(p, "SQLite format 3", 16);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        for (uint32_t k = field[i].width, v = field[i].value; k-- > 0; v >>= 8)
            p[field[i].at + k] = (uint8_t)v;
    put_u32(p + 28, n_pages);
}

bool pages_end(struct pages *p)
{
    struct btree *schema = new_tree(p, NULL, NULL, FILE_HEADER);
    uint32_t root;
    if (!schema)
        return false;
    for (size_t i = 0; i < p->tables.n; i++) {
        struct btree *b = p->tables.at[i];
        if (!end_table(b, 0, &root))
            return false;
        const struct sqlite_value name = value_text(b->name, strlen(b->name));
        const struct sqlite_value row[] = { value_text("table", 5), name, name, value_int(root),
                                            value_text(b->sql, strlen(b->sql)) };
        if (!btree_add(schema, (int64_t)i + 1, row, sizeof row / sizeof *row))
            return false;
    }
    if (!end_table(schema, FILE_HEADER, &root))
        return false;
    fill_header(page_bytes(&schema->leaf), p->n);
    out_patch(p->out, 0, page_bytes(&schema->leaf), PAGE_BYTES);
    return true;
}
