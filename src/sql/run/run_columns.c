/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/run/run_columns.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/text/json_memory.h"

enum { ALIGNED = 64 };
static const char columns_magic[] = "ascope columns 1";

/* An array of the file, in the order in which they follow. */
struct columns_array {
    const void *at;
    size_t bytes;
};

struct columns_file {
    LIST(struct columns_array) arrays;
    uint64_t end; /* of the arrays so far, from the begin of the first */
    struct arena *mem;
};

/* Where the array will be, from the begin of the first one. */
static json_t *array_add(struct columns_file *f, const void *at, size_t bytes)
{
    struct columns_array *new = list_add(&f->arrays, f->mem);
    const uint64_t begin = f->end;
    if (!new)
        return NULL;
    *new = (struct columns_array){ at, bytes };
    f->end += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return json_integer((json_int_t)begin);
}

static bool is_known(const struct sql_column *of, const void *cells, size_t row)
{
    return of->type == SQL_TEXT ? ((const name_id *)cells)[row] != NAME_EMPTY
                                : ((const int64_t *)cells)[row] != RUN_UNKNOWN;
}

/* The bits of a column, if cells of it are unknown. */
static json_t *known_add(struct columns_file *f, const struct sql_column *of, const void *cells, size_t n,
                         size_t *n_unknown)
{
    *n_unknown = 0;
    for (size_t i = 0; i < n; i++)
        *n_unknown += !is_known(of, cells, i);
    if (*n_unknown == 0)
        return json_null();
    uint8_t *bits = arena_take(f->mem, n / 8 + 1, 1);
    for (size_t i = 0; bits && i < n; i++)
        bits[i / 8] |= (uint8_t)(is_known(of, cells, i) << i % 8);
    return bits ? array_add(f, bits, n / 8 + 1) : NULL;
}

static json_t *table_json(struct columns_file *f, const struct sql_table *of, const struct run_table *t)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < of->n_columns; i++) {
        const size_t size = of->column[i].type == SQL_TEXT ? sizeof(name_id) : sizeof(int64_t);
        size_t n_unknown;
        json_t *at = array_add(f, t->column[i], t->n * size);
        json_t *known = known_add(f, &of->column[i], t->column[i], t->n, &n_unknown);
        json_array_append_new(columns, json_pack("{s:s, s:s, s:s, s:o, s:o, s:I}", "name", of->column[i].name, "type",
                                                 sql_type_names[of->column[i].type], "unit", of->column[i].unit, "at",
                                                 at, "known_at", known, "n_unknown", (json_int_t)n_unknown));
    }
    return json_pack("{s:I, s:o}", "n", (json_int_t)t->n, "columns", columns);
}

static json_t *names_json(struct columns_file *f, const struct names *names)
{
    const size_t n = names_count(names);
    int64_t *end = arena_take(f->mem, n + 1, sizeof *end);
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += names_len(names, (name_id)i);
    char *text = arena_take(f->mem, bytes + 1, 1);
    if (!end || !text)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const size_t len = names_len(names, (name_id)i);
        memcpy(text + end[i], names_text(names, (name_id)i), len);
        end[i + 1] = end[i] + (int64_t)len;
    }
    json_t *ends_at = array_add(f, end, (n + 1) * sizeof *end), *text_at = array_add(f, text, bytes);
    return json_pack("{s:I, s:o, s:o, s:I}", "n", (json_int_t)n, "ends_at", ends_at, "text_at", text_at, "bytes",
                     (json_int_t)bytes);
}

static void pad(struct out *o, uint64_t used)
{
    static const char zeros[ALIGNED];
    out_bytes(o, zeros, (ALIGNED - used % ALIGNED) % ALIGNED);
}

bool run_columns_write(struct out *o, const struct run_tables *t, uint32_t wanted)
{
    struct columns_file f = { .mem = arena_new() };
    json_t *tables = json_object(), *header = NULL;
    if (f.mem) {
        json_t *names = names_json(&f, t->names);
        for (size_t i = 0; i < SQL_RUN_TABLES; i++)
            if (wanted >> i & 1)
                json_object_set_new(tables, sql_tables[i].name, table_json(&f, &sql_tables[i], &t->at[i]));
        header = json_pack("{s:o, s:O}", "names", names, "tables", tables);
    }
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    const bool done = text && !arena_failed(f.mem) && !json_memory_failed();
    if (done) {
        const uint64_t n = strlen(text);
        uint8_t len[8];
        for (int i = 0; i < 8; i++)
            len[i] = (uint8_t)(n >> 8 * i);
        out_bytes(o, columns_magic, sizeof columns_magic - 1);
        out_bytes(o, len, sizeof len);
        out_bytes(o, text, n);
        pad(o, sizeof columns_magic - 1 + sizeof len + n);
        for (size_t i = 0; i < f.arrays.n; i++) {
            out_through(o, f.arrays.at[i].at, f.arrays.at[i].bytes);
            pad(o, f.arrays.at[i].bytes);
        }
    }
    free(text);
    json_decref(tables);
    json_decref(header);
    arena_free(f.mem);
    return done;
}
