/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_database_work.h"

#include "answers/run/roofline.h"
#include "base/text/stamp.h"
#include "view/inputs/view_roofline.h"

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

bool view_database_work(struct view_input *in, struct db_reader *r, struct error *e)
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
