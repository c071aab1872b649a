/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/run/roofline.h"
#include "base/text/stamp.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"
#include "view/rows/view_input.h"

/* The work of the kernels in a database of results, for the roofline. */

/* Kernels by the number that tasks have. */
struct work_kernels {
    struct keys ids;
    LIST(struct roofline_key) key;
};

/* Texts are numbers of STRING_IDS. */
static name_id view_database_work_text_of(const struct db_reader *r, sqlite3_stmt *s, int column)
{
    bool is_there = false;
    const name_id text = column >= 0 ? db_text(&r->strings, sqlite3_column_int64(s, column), &is_there) : NAME_EMPTY;
    return is_there ? text : NAME_EMPTY;
}

static bool kernels_read(struct work_kernels *out, struct db_reader *r, struct arena *mem)
{
    static const char table[] = "COMPUTE_TASK_INFO";
    sqlite3_stmt *s = db_reader_rows(r, table);
    bool has_memory = true;
    if (!s)
        return true;
    const int id = db_column(s, "globalTaskId"), name = db_column(s, "name"), type = db_column(s, "opType");
    const int shapes[2] = { db_column(s, "inputShapes"), db_column(s, "outputShapes") },
              types[2] = { db_column(s, "inputDataTypes"), db_column(s, "outputDataTypes") },
              formats[2] = { db_column(s, "inputFormats"), db_column(s, "outputFormats") };
    while (id >= 0 && has_memory && db_reader_next(r, s, table)) {
        const uint32_t at = keys_add(&out->ids, (uint64_t)sqlite3_column_int64(s, id), mem);
        if (at != out->key.n && at != KEYS_NO_MEMORY) /* the first of a number */
            continue;
        struct roofline_key *new = at == KEYS_NO_MEMORY ? NULL : list_add(&out->key, mem);
        has_memory = new != NULL;
        if (!new)
            continue;
        new->name = view_database_work_text_of(r, s, type);
        new->name =
            new->name == NAME_EMPTY || new->name == NAME_NA ? view_database_work_text_of(r, s, name) : new->name;
        for (int i = 0; i < 2; i++) {
            new->shapes[i] = view_database_work_text_of(r, s, shapes[i]);
            new->types[i] = view_database_work_text_of(r, s, types[i]);
            new->formats[i] = view_database_work_text_of(r, s, formats[i]);
        }
    }
    sqlite3_finalize(s);
    return has_memory;
}

static bool tasks_read(struct roofline *to, const struct work_kernels *kernels, struct db_reader *r)
{
    static const char table[] = "TASK";
    sqlite3_stmt *s = kernels->key.n > 0 ? db_reader_rows(r, table) : NULL;
    bool has_memory = true;
    if (!s)
        return true;
    const int id = db_column(s, "globalTaskId"), begin = db_column(s, "startNs"), end = db_column(s, "endNs");
    while (id >= 0 && begin >= 0 && end >= 0 && has_memory && db_reader_next(r, s, table)) {
        const uint32_t kernel = keys_find(&kernels->ids, (uint64_t)sqlite3_column_int64(s, id));
        const int64_t begin_ns = stamp_held(sqlite3_column_int64(s, begin)),
                      end_ns = stamp_held(sqlite3_column_int64(s, end));
        if (kernel == KEYS_NONE || begin_ns <= 0 || end_ns < begin_ns)
            continue;
        has_memory = roofline_add(to, &kernels->key.at[kernel],
                                  &(struct roofline_run){ (double)(end_ns - begin_ns), begin_ns, end_ns, 0, 0 });
    }
    sqlite3_finalize(s);
    return has_memory;
}

/* Reads COMPUTE_TASK_INFO and TASK. Peak rates of the device are unknown: no database has them, and other files are
 * not read. False: see e. */
static bool view_database_work(struct view_input *in, struct db_reader *r, struct error *e)
{
    enum { NO_CHIP = -1 };
    struct arena *mem = arena_new();
    struct work_kernels kernels = { 0 };
    struct roofline found;
    roofline_begin(&found, r->names, mem);
    const bool done = mem && kernels_read(&kernels, r, mem) && tasks_read(&found, &kernels, r);
    if (done)
        roofline_end(&found, &(struct device_facts){ .chip = chip_of(NO_CHIP) });
    const bool is_kept = done && view_roofline_keep(in, &found, false, "");
    arena_free(mem);
    return is_kept || error_no_memory(e, in->path);
}

static bool add_fact(struct view_input *in, const char *name, const char *text)
{
    struct view_fact *f = text ? list_add(&in->facts, in->mem) : NULL;
    if (f)
        *f = (struct view_fact){ name, text };
    return f != NULL;
}

static const char *device_word(const struct db_trace *t)
{
    return t->is_gpu ? "GPU" : "NPU";
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static const char *view_database_text_of(struct view_input *in, struct db_reader *r, sqlite3_stmt *s, int column)
{
    bool is_there = false;
    if (column < 0)
        return "";
    if (sqlite3_column_type(s, column) != SQLITE_INTEGER) {
        const char *text = (const char *)sqlite3_column_text(s, column);
        return text ? arena_text(in->mem, text, (size_t)sqlite3_column_bytes(s, column)) : "";
    }
    const name_id name = db_text(&r->strings, sqlite3_column_int64(s, column), &is_there);
    const size_t n = names_len(r->names, name);
    return is_there ? arena_text(in->mem, names_text(r->names, name), n < 200 ? n : 200) : "";
}

static int by_time(const void *a, const void *b)
{
    const struct view_held *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Loads the memory that each allocator (device and component) held over time. False: no memory. */
static bool held_load(struct view_input *in, struct db_reader *r, const struct db_trace *t, struct keys *allocators)
{
    sqlite3_stmt *s = db_reader_rows(r, "MEMORY_RECORD");
    bool has_memory = true;
    if (!s)
        return true;
    const int component = db_column(s, "component"), device = db_column(s, "deviceId"),
              time = db_column(s, "timestamp"), allocated = db_column(s, "totalAllocated"),
              reserved = db_column(s, "totalReserved");
    while (component >= 0 && time >= 0 && allocated >= 0 && has_memory && db_reader_next(r, s, "MEMORY_RECORD")) {
        const int64_t number = device >= 0 ? sqlite3_column_int64(s, device) : 0;
        const uint64_t key = (uint64_t)number << 32 | ((uint64_t)sqlite3_column_int64(s, component) & 0xffffffff);
        const uint32_t at = keys_add(allocators, key, in->mem);
        if (at == KEYS_NO_MEMORY)
            has_memory = false;
        if (has_memory && at == in->allocators.n) {
            struct view_allocator *added = list_add(&in->allocators, in->mem);
            const char *of = view_database_text_of(in, r, s, component);
            if (added && of)
                added->name = arena_printf(in->mem, "%s %lld, %s", device_word(t), (long long)number, of);
            has_memory = added && added->name;
        }
        struct view_held *held = has_memory ? list_add(&in->allocators.at[at].held, in->mem) : NULL;
        has_memory = held != NULL;
        if (held)
            *held = (struct view_held){ stamp_held(sqlite3_column_int64(s, time)), sqlite3_column_int64(s, allocated),
                                        reserved >= 0 ? sqlite3_column_int64(s, reserved) : 0 };
    }
    sqlite3_finalize(s);
    for (size_t i = 0; i < in->allocators.n; i++)
        qsort(in->allocators.at[i].held.at, in->allocators.at[i].held.n, sizeof *in->allocators.at[i].held.at, by_time);
    return has_memory;
}

/* The allocators to which blocks are assigned: for each device the first one of the toolkit (GE) and of the
 * framework (PTA). */
struct block_allocators {
    struct keys of;       /* device, whether it is GE's */
    LIST(uint32_t) first; /* by place in `of` */
};

static uint64_t block_key(int64_t device, bool is_ge)
{
    return ((uint64_t)device & 0xffffffff) << 1 | is_ge;
}

static bool block_allocators_find(struct block_allocators *b, struct view_input *in, const struct keys *allocators)
{
    for (size_t i = 0; i < in->allocators.n; i++) {
        const char *is = strrchr(in->allocators.at[i].name, ',');
        const bool is_ge = is && !strcmp(is, ", GE"), is_pta = is && !strcmp(is, ", PTA");
        if (!is_ge && !is_pta)
            continue;
        const uint32_t at = keys_add(&b->of, block_key((int64_t)(allocators->key.at[i] >> 32), is_ge), in->mem);
        uint32_t *first = at == b->first.n ? list_add(&b->first, in->mem) : NULL;
        if (first)
            *first = (uint32_t)i;
        else if (at >= b->first.n) /* also KEYS_NO_MEMORY */
            return false;
    }
    return true;
}

static uint32_t allocator_of(const struct block_allocators *b, int64_t device, const char *name)
{
    const uint32_t at = keys_find(&b->of, block_key(device, !strncmp(name, "cann::", 6)));
    return at == KEYS_NONE ? 0 : b->first.at[at];
}

static bool blocks_load(struct view_input *in, struct db_reader *r, const struct keys *allocators)
{
    sqlite3_stmt *s = in->allocators.n ? db_reader_rows(r, "OP_MEMORY") : NULL;
    LIST(struct view_block) blocks = { 0 };
    struct block_allocators of_blocks = { 0 };
    if (!s)
        return true;
    bool has_memory = block_allocators_find(&of_blocks, in, allocators);
    const int name = db_column(s, "name"), size = db_column(s, "size"), begin = db_column(s, "allocationTime"),
              end = db_column(s, "releaseTime"), device = db_column(s, "deviceId");
    while (name >= 0 && size >= 0 && begin >= 0 && has_memory && db_reader_next(r, s, "OP_MEMORY")) {
        const int64_t begin_ns = stamp_held(sqlite3_column_int64(s, begin)),
                      end_ns = end >= 0 ? stamp_held(sqlite3_column_int64(s, end)) : 0;
        if (begin_ns <= 0)
            continue;
        struct view_block *added = list_add(&blocks, in->mem);
        const char *of = view_database_text_of(in, r, s, name);
        has_memory = added && of;
        if (has_memory)
            *added = (struct view_block){ .begin_ns = begin_ns,
                                          .end_ns = end_ns > 0 ? end_ns : INT64_MAX,
                                          .bytes = sqlite3_column_int64(s, size),
                                          .allocator = allocator_of(
                                              &of_blocks, device >= 0 ? sqlite3_column_int64(s, device) : 0, of),
                                          .name = of };
    }
    sqlite3_finalize(s);
    in->blocks = blocks.at;
    in->n_blocks = blocks.n;
    return has_memory;
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

/* The SQL expression that a filter searches: "coalesce("a",'')||' '||…", all columns. */
static const char *filter_of(struct view_input *in, sqlite3_stmt *s)
{
    enum { MOST_COLUMNS = 24 };
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < sqlite3_column_count(s) && i < MOST_COLUMNS; i++)
        sqlite3_str_appendf(text, "%scoalesce(\"%w\",'')", i ? "||' '||" : "", sqlite3_column_name(s, i));
    char *made = sqlite3_str_finish(text);
    const char *kept = made ? arena_text(in->mem, made, strlen(made)) : NULL;
    sqlite3_free(made);
    return kept;
}

static bool tables_load(struct view_input *in, struct db_reader *r)
{
    enum { MOST_TABLES = 500 };
    sqlite3_stmt *s = NULL;
    bool has_memory = true;
    if (sqlite3_prepare_v2(r->u.db, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY 1",
                           -1, &s, NULL) != SQLITE_OK)
        return true;
    while (has_memory && in->db_tables.n < MOST_TABLES && sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        sqlite3_stmt *table = name && strlen(name) < 64 ? db_reader_rows(r, name) : NULL;
        if (!table)
            continue;
        struct view_db_table *added = list_add(&in->db_tables, in->mem);
        if (added)
            *added = (struct view_db_table){ arena_text(in->mem, name, strlen(name)), filter_of(in, table) };
        has_memory = added && added->name && added->filtered;
        sqlite3_finalize(table);
    }
    sqlite3_finalize(s);
    in->db_path = in->path;
    in->db_has_log = r->u.file->log.frame_of != NULL;
    return has_memory;
}

static bool facts_load(struct view_input *in, struct db_reader *r, const struct db_trace *t)
{
    in->is_lossy = r->problem[0] || t->is_cut || r->u.log_trouble[0];
    bool is_good = add_fact(in, "database", in->path) &&
                   add_fact(in, "tables", arena_printf(in->mem, "%zu", in->db_tables.n)) &&
                   add_fact(in, "events", arena_printf(in->mem, "%llu", (unsigned long long)t->n_events));
    if (t->n_timeless > 0)
        is_good = is_good && add_fact(in, "rows without a time, left out",
                                      arena_printf(in->mem, "%llu", (unsigned long long)t->n_timeless));
    if (r->problem[0])
        is_good = is_good && add_fact(in, "damaged, shown in part", arena_printf(in->mem, "%s", r->problem));
    if (t->is_cut)
        is_good = is_good && add_fact(in, "left out", "texts repeat too often: the last events are not shown");
    if (r->u.log_trouble[0])
        is_good = is_good && add_fact(in, "-wal file", arena_printf(in->mem, "%s", r->u.log_trouble));
    return is_good;
}

bool view_database_load(struct view_input *in, struct error *e)
{
    struct db_reader r;
    struct db_trace t;
    struct keys allocators = { 0 };
    if (!db_reader_open(&r, in->path, e))
        return false;
    const int fd = db_trace_unnamed(&t, &r, false, e);
    view_progress_stage(&in->progress, VIEW_ARRANGING, 50, 100, 1);
    const bool is_read = fd >= 0 && chrome_parse_unnamed(&in->trace, &in->drawn, fd, in->path, e);
    const bool is_done = is_read && view_trace_steps(in, e) &&
                         ((held_load(in, &r, &t, &allocators) && blocks_load(in, &r, &allocators) &&
                           tables_load(in, &r) && facts_load(in, &r, &t)) ||
                          error_no_memory(e, in->path)) &&
                         view_database_work(in, &r, e);
    if (fd >= 0)
        close(fd);
    db_reader_close(&r);
    return is_done;
}
