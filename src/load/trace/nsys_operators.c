/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/nsys_operators.h"

#include <string.h>

#include "base/memory/sort.h"

/* An operator, or a call that may launch something. */
struct nsys_edge {
    uint64_t thread;
    int64_t begin, end;
    uint64_t launch; /* of a call */
    uint64_t number; /* of an operator; 0: a call */
};

struct nsys_edges {
    struct db_reader *r;
    LIST(struct nsys_edge) list;
};

size_t nsys_mark_len(const char *text, size_t len, bool *is_operator)
{
    static const char id[] = ", op_id = ", seq[] = ", seq = ", comm[] = "record_param_comms";
    const char *at_seq = memmem(text, len, seq, sizeof seq - 1), *at_id = memmem(text, len, id, sizeof id - 1),
               *end = at_seq ? at_seq : at_id;
    const size_t n = end ? (size_t)(end - text) : len;
    *is_operator = end && (at_seq || memmem(text, n, "::", 2) || (n == sizeof comm - 1 && !memcmp(text, comm, n)));
    return n;
}

const char *nsys_cell(const struct db_reader *r, sqlite3_stmt *s, int column, size_t *len)
{
    bool is_there = false;
    if (column < 0)
        return NULL;
    if (sqlite3_column_type(s, column) == SQLITE_INTEGER) {
        const name_id name = db_text(&r->strings, sqlite3_column_int64(s, column), &is_there);
        *len = names_len(r->names, name);
        return is_there ? names_text(r->names, name) : NULL;
    }
    const char *text =
        sqlite3_column_type(s, column) == SQLITE_TEXT ? (const char *)sqlite3_column_text(s, column) : NULL;
    *len = text ? (size_t)sqlite3_column_bytes(s, column) : 0;
    return text;
}

static bool operators_read(struct nsys_edges *x)
{
    static const char table[] = "NVTX_EVENTS";
    struct db_reader *r = x->r;
    sqlite3_stmt *s = db_reader_rows(r, table);
    const int begin = s ? db_column(s, "start") : -1, end = s ? db_column(s, "end") : -1,
              thread = s ? db_column(s, "globalTid") : -1, text = s ? db_column(s, "text") : -1,
              id = s ? db_column(s, "textId") : -1;
    bool has_memory = true;
    for (uint64_t number = 1; begin >= 0 && end >= 0 && thread >= 0 && has_memory && db_reader_next(r, s, table);
         number++) {
        size_t len;
        const char *name = nsys_cell(r, s, text, &len);
        name = name ? name : nsys_cell(r, s, id, &len);
        bool is_operator = false;
        if (name)
            nsys_mark_len(name, len, &is_operator);
        if (!is_operator)
            continue;
        struct nsys_edge *new = list_add(&x->list, r->mem);
        has_memory = new != NULL;
        if (new)
            *new = (struct nsys_edge){ .thread = (uint64_t)sqlite3_column_int64(s, thread),
                                       .begin = sqlite3_column_int64(s, begin),
                                       .end = sqlite3_column_int64(s, end),
                                       .number = number };
    }
    sqlite3_finalize(s);
    return has_memory;
}

static bool calls_read(struct nsys_edges *x)
{
    static const char table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
    struct db_reader *r = x->r;
    sqlite3_stmt *s = x->list.n > 0 ? db_reader_rows(r, table) : NULL;
    const int begin = s ? db_column(s, "start") : -1, thread = s ? db_column(s, "globalTid") : -1,
              id = s ? db_column(s, "correlationId") : -1;
    bool has_memory = true;
    while (begin >= 0 && thread >= 0 && id >= 0 && has_memory && db_reader_next(r, s, table)) {
        struct nsys_edge *new = list_add(&x->list, r->mem);
        const int64_t global = sqlite3_column_int64(s, thread);
        has_memory = new != NULL;
        if (new)
            *new = (struct nsys_edge){ .thread = (uint64_t)global,
                                       .begin = sqlite3_column_int64(s, begin),
                                       .launch = nsys_launch(global, sqlite3_column_int64(s, id)) };
    }
    sqlite3_finalize(s);
    return has_memory;
}

/* By thread, then by begin; operators precede calls that begin with them, because they were read first. */
static uint32_t *edges_order(const struct nsys_edges *x)
{
    const size_t n = x->list.n;
    uint32_t *order = n < UINT32_MAX ? arena_take(x->r->mem, n, sizeof *order) : NULL;
    uint64_t *key = arena_take(x->r->mem, n, sizeof *key);
    if (!order || !key)
        return NULL;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)x->list.at[i].begin ^ UINT64_C(1) << 63; /* in the order of signed numbers */
    bool sorts = order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = x->list.at[i].thread;
    sorts = sorts && order_by_u64(order, n, key);
    return sorts ? order : NULL;
}

static bool launches_match(struct nsys_operators *out, const struct nsys_edges *x)
{
    const uint32_t *order = edges_order(x);
    uint32_t *open = arena_take(x->r->mem, x->list.n, sizeof *open); /* operators around the moment, innermost last */
    bool has_memory = order && open;
    size_t n_open = 0;
    for (size_t i = 0; has_memory && i < x->list.n; i++) {
        const struct nsys_edge *now = &x->list.at[order[i]];
        while (n_open > 0 &&
               (x->list.at[open[n_open - 1]].thread != now->thread || x->list.at[open[n_open - 1]].end <= now->begin))
            n_open--;
        if (now->number > 0)
            open[n_open++] = order[i];
        if (now->number > 0 || n_open == 0)
            continue;
        const uint32_t at = keys_add(&out->launches, now->launch, x->r->mem);
        uint64_t *new = at == out->number.n ? list_add(&out->number, x->r->mem) : NULL;
        has_memory = at != KEYS_NO_MEMORY && (new || at < out->number.n);
        if (new)
            *new = x->list.at[open[n_open - 1]].number;
    }
    return has_memory;
}

bool nsys_operators_find(struct nsys_operators *out, struct db_reader *r)
{
    struct nsys_edges x = { .r = r };
    *out = (struct nsys_operators){ 0 };
    return operators_read(&x) && calls_read(&x) && (x.list.n == 0 || launches_match(out, &x));
}

uint64_t nsys_operator_of(const struct nsys_operators *o, int64_t global, int64_t correlation)
{
    const uint32_t at = keys_find(&o->launches, nsys_launch(global, correlation));
    return at == KEYS_NONE ? 0 : o->number.at[at];
}
