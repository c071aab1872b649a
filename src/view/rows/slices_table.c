/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/slices_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"
#include "view/answers/operator_times.h"

/* A virtual table: its columns, the number of its rows, and its cells. */
struct slices_table_source {
    const char *name, *columns;
    size_t (*n_rows)(const struct view_input *in);
    void (*cell)(const struct view_input *in, size_t row, int column, sqlite3_context *c);
};

struct bound {
    const struct slices_table_source *source;
    const struct view_input *in;
};

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void give_name(sqlite3_context *c, const struct view_timeline *t, name_id id)
{
    const struct names *names = t->trace->names;
    sqlite3_result_text64(c, names_text(names, id), names_len(names, id), SQLITE_STATIC, SQLITE_UTF8);
}

static void give_row_name(sqlite3_context *c, const struct view_timeline *t, name_id name, const struct chrome_id *id)
{
    give_name(c, t, name != NAME_EMPTY ? name : id->text);
}

/* The name of a process without the title of its rank, which the column `run` has. */
static void give_process(sqlite3_context *c, const struct view_input *in, uint32_t process)
{
    const struct view_timeline *t = &in->timeline;
    const struct chrome_process *p = &t->trace->processes.at[process];
    const struct view_rank *rank = view_rank_of(in, process);
    const name_id name = p->name != NAME_EMPTY ? p->name : p->id.text;
    const char *text = names_text(t->trace->names, name);
    const size_t n = rank ? strlen(rank->title) : 0;
    if (rank && strncmp(text, rank->title, n) == 0 && strncmp(text + n, ": ", 2) == 0)
        sqlite3_result_text(c, text + n + 2, -1, SQLITE_STATIC);
    else
        give_name(c, t, name);
}

static void give_run(sqlite3_context *c, const struct view_input *in, uint32_t process)
{
    const struct view_rank *rank = view_rank_of(in, process);
    sqlite3_result_text(c, rank ? rank->title : "", -1, SQLITE_STATIC);
}

static size_t n_slices(const struct view_input *in)
{
    return in->timeline.trace->slices.n;
}

enum {
    SLICE_ID,
    SLICE_NAME,
    SLICE_CATEGORY,
    SLICE_PROCESS,
    SLICE_THREAD,
    SLICE_DEPTH,
    SLICE_BEGIN,
    SLICE_DUR,
    SLICE_ARGS,
    SLICE_RUN,
    SLICE_TOPIC,
    SLICE_SELF,
    SLICE_DEVICE_SELF,
    SLICE_DEVICE
};

static void topic_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct operator_times *o = operator_times_of(in);
    if (!o)
        return sqlite3_result_error_nomem(c);
    if (column == SLICE_TOPIC)
        return sqlite3_result_text(c, topic_names[o->topic[row]], -1, SQLITE_STATIC);
    if (o->number[row] == 0)
        return;
    const struct operator_time *of = &o->at[o->number[row] - 1];
    sqlite3_result_int64(c, column == SLICE_SELF          ? of->self_ns
                            : column == SLICE_DEVICE_SELF ? of->device_self_ns
                                                          : of->device_ns);
}

static void slice_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_timeline *t = &in->timeline;
    const struct chrome_slices *s = &t->trace->slices;
    const struct chrome_track *track = &t->trace->tracks.at[s->track[row]];
    switch (column) {
    case SLICE_ID: sqlite3_result_int64(c, (sqlite3_int64)row); break;
    case SLICE_NAME: give_name(c, t, s->name[row]); break;
    case SLICE_CATEGORY: give_name(c, t, s->category[row]); break;
    case SLICE_PROCESS: give_process(c, in, track->process); break;
    case SLICE_THREAD: give_row_name(c, t, track->name, &track->id); break;
    case SLICE_DEPTH: sqlite3_result_int(c, t->levels.depth[row]); break;
    case SLICE_BEGIN: sqlite3_result_int64(c, wrap_sub(s->begin_ns[row], t->begin_ns)); break;
    case SLICE_DUR: sqlite3_result_int64(c, s->dur_ns[row]); break;
    case SLICE_RUN: give_run(c, in, track->process); break;
    case SLICE_TOPIC:
    case SLICE_SELF:
    case SLICE_DEVICE_SELF:
    case SLICE_DEVICE: topic_cell(in, row, column, c); break;
    default:
        if (s->args_len[row] > 0)
            sqlite3_result_text64(c, t->trace->text + s->args_at[row], s->args_len[row], SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
}

static size_t n_instants(const struct view_input *in)
{
    return in->timeline.instants.n;
}

static void instant_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_timeline *t = &in->timeline;
    const struct chrome_instant *i = view_instant(&t->instants, row);
    const struct chrome_track *track = &t->trace->tracks.at[i->track];
    switch (column) {
    case 0: sqlite3_result_int64(c, (sqlite3_int64)(t->trace->slices.n + row)); break; /* as pages number them */
    case 1: give_name(c, t, i->name); break;
    case 2: give_name(c, t, i->category); break;
    case 3: give_process(c, in, track->process); break;
    case 4: give_row_name(c, t, track->name, &track->id); break;
    case 5: sqlite3_result_int64(c, wrap_sub(i->ns, t->begin_ns)); break;
    case 7: give_run(c, in, track->process); break;
    default:
        if (i->args_len > 0)
            sqlite3_result_text64(c, t->trace->text + i->args_at, i->args_len, SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
}

static size_t n_counters(const struct view_input *in)
{
    return in->timeline.trace->counters.n;
}

static void counter_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_timeline *t = &in->timeline;
    const struct chrome_counter *v = &t->trace->counters.at[row];
    const uint32_t process = t->trace->tracks.at[v->track].process;
    switch (column) {
    case 0: give_name(c, t, v->name); break;
    case 1: give_name(c, t, v->series); break;
    case 2: give_process(c, in, process); break;
    case 3: sqlite3_result_int64(c, wrap_sub(v->ns, t->begin_ns)); break;
    case 5: give_run(c, in, process); break;
    default: sqlite3_result_double(c, v->value); break;
    }
}

static size_t n_flows(const struct view_input *in)
{
    return in->timeline.flows.n;
}

static void flow_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_timeline *t = &in->timeline;
    sqlite3_result_int64(c, column == 0 ? t->flows.from[row] : t->flows.to[row]);
}

static size_t n_blocks(const struct view_input *in)
{
    return in->n_blocks;
}

static void block_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_block *b = &in->blocks[row];
    switch (column) {
    case 0: sqlite3_result_text(c, b->name, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_text(c, in->allocators.at[b->allocator].name, -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_int64(c, b->bytes); break;
    case 3: sqlite3_result_int64(c, wrap_sub(b->begin_ns, in->timeline.begin_ns)); break;
    default:
        if (b->end_ns != INT64_MAX)
            sqlite3_result_int64(c, wrap_sub(b->end_ns, in->timeline.begin_ns));
        break;
    }
}

static size_t n_losses(const struct view_input *in)
{
    return in->losses.n;
}

static void loss_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_loss *l = &in->losses.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, l->what, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_int64(c, (sqlite3_int64)l->n); break;
    case 2: sqlite3_result_int(c, l->is_damage); break;
    case 3: sqlite3_result_text(c, l->file, -1, SQLITE_STATIC); break;
    default: sqlite3_result_int64(c, (sqlite3_int64)l->at); break;
    }
}

static size_t n_kernel_counters(const struct view_input *in)
{
    return in->kernel_counters.n;
}

static void kernel_counter_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_kernel_counter *k = &in->kernel_counters.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, k->name, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_text(c, k->task_type, -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_text(c, k->metric, -1, SQLITE_STATIC); break;
    case 3: sqlite3_result_int64(c, (sqlite3_int64)k->count); break;
    case 4: sqlite3_result_double(c, k->mean); break; /* NAN becomes NULL */
    case 5: sqlite3_result_double(c, k->most); break;
    case 6: sqlite3_result_double(c, k->total_us); break;
    default: sqlite3_result_text(c, k->run, -1, SQLITE_STATIC); break;
    }
}

static size_t n_work(const struct view_input *in)
{
    return in->work.n;
}

/* An unknown value stays NULL. */
static void put_known(sqlite3_context *c, double v)
{
    if (v > 0)
        sqlite3_result_double(c, v);
}

static void work_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_work *w = &in->work.at[row];
    const double s = w->total_us / 1e6;
    switch (column) {
    case 0: sqlite3_result_text(c, w->name, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_text(c, w->input_shapes, -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_text(c, w->input_types, -1, SQLITE_STATIC); break;
    case 3: sqlite3_result_text(c, w->input_formats, -1, SQLITE_STATIC); break;
    case 4: sqlite3_result_text(c, w->output_shapes, -1, SQLITE_STATIC); break;
    case 5: sqlite3_result_int64(c, (sqlite3_int64)w->count); break;
    case 6: sqlite3_result_double(c, w->total_us); break;
    case 7: put_known(c, w->operations); break;
    case 8: put_known(c, w->bytes); break;
    case 9: put_known(c, w->operations / w->bytes); break;
    case 10: put_known(c, s > 0 ? w->operations / s : 0); break;
    case 11: put_known(c, s > 0 ? w->bytes / s : 0); break;
    case 12: sqlite3_result_double(c, w->share); break; /* NAN becomes NULL */
    case 13: put_known(c, w->counted_operations); break;
    case 14: put_known(c, w->counted_bytes); break;
    case 15: sqlite3_result_text(c, w->operations_by, -1, SQLITE_STATIC); break;
    case 16: sqlite3_result_text(c, w->bytes_by, -1, SQLITE_STATIC); break;
    default: sqlite3_result_text(c, w->run, -1, SQLITE_STATIC); break;
    }
}

static size_t n_roofs(const struct view_input *in)
{
    return in->roofs.n;
}

static void roof_cell(const struct view_input *in, size_t row, int column, sqlite3_context *c)
{
    const struct view_roof *r = &in->roofs.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, r->what, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_double(c, r->per_s); break;
    case 2: sqlite3_result_text(c, r->source, -1, SQLITE_STATIC); break;
    default: sqlite3_result_text(c, r->run, -1, SQLITE_STATIC); break;
    }
}

static const struct slices_table_source sources[] = {
    { "slices",
      "id INTEGER, name TEXT, category TEXT, process TEXT, thread TEXT, depth INTEGER, begin_ns INTEGER, dur_ns INTEGER, args TEXT, run TEXT, topic TEXT, self_ns INTEGER, device_self_ns INTEGER, device_ns INTEGER",
      n_slices, slice_cell },
    { "instants", "id INTEGER, name TEXT, category TEXT, process TEXT, thread TEXT, at_ns INTEGER, args TEXT, run TEXT",
      n_instants, instant_cell },
    { "counters", "name TEXT, series TEXT, process TEXT, at_ns INTEGER, value REAL, run TEXT", n_counters,
      counter_cell },
    { "flows", "from_id INTEGER, to_id INTEGER", n_flows, flow_cell },
    { "blocks", "name TEXT, allocator TEXT, bytes INTEGER, begin_ns INTEGER, end_ns INTEGER", n_blocks, block_cell },
    { "losses", "what TEXT, n INTEGER, is_damage INTEGER, file TEXT, at INTEGER", n_losses, loss_cell },
    { "kernel_counters",
      "name TEXT, task_type TEXT, metric TEXT, count INTEGER, mean REAL, most REAL, total_us REAL, run TEXT",
      n_kernel_counters, kernel_counter_cell },
    { "kernel_work",
      "name TEXT, input_shapes TEXT, input_types TEXT, input_formats TEXT, output_shapes TEXT, count INTEGER, total_us REAL, operations REAL, bytes REAL, intensity REAL, operations_per_s REAL, bytes_per_s REAL, roof_share REAL, counted_operations REAL, counted_bytes REAL, operations_by TEXT, bytes_by TEXT, run TEXT",
      n_work, work_cell },
    { "roofs", "what TEXT, per_s REAL, source TEXT, run TEXT", n_roofs, roof_cell },
};

/* ---- SQLite's side ----------------------------------------------------------------------------------------------- */

struct slices_table_state {
    sqlite3_vtab base; /* first: SQLite knows only this */
    struct bound bound;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct bound bound;
    size_t row, end;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
    const struct bound *b = aux;
    (void)argc, (void)argv, (void)error;
    struct slices_table_state *made = sqlite3_malloc64(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct slices_table_state){ .bound = *b };
    char *declaration = sqlite3_mprintf("CREATE TABLE x(%s)", b->source->columns);
    const int status = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (status != SQLITE_OK) {
        sqlite3_free(made);
        return status;
    }
    *out = &made->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Offers access to one row by its id, which joins use; otherwise all rows are scanned. */
static int table_best(sqlite3_vtab *table, sqlite3_index_info *x)
{
    const struct bound *b = &((const struct slices_table_state *)table)->bound;
    const bool has_id = b->source->cell == slice_cell;
    x->estimatedRows = (sqlite3_int64)b->source->n_rows(b->in);
    x->estimatedCost = (double)x->estimatedRows;
    for (int i = 0; i < x->nConstraint; i++)
        if (x->aConstraint[i].usable && x->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            (x->aConstraint[i].iColumn < 0 || (has_id && x->aConstraint[i].iColumn == SLICE_ID))) {
            x->aConstraintUsage[i].argvIndex = 1;
            x->idxNum = 1;
            x->estimatedRows = 1;
            x->estimatedCost = 1;
            break;
        }
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *made = sqlite3_malloc64(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct cursor){ .bound = ((const struct slices_table_state *)table)->bound };
    *out = &made->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc, sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)cursor;
    const size_t n = c->bound.source->n_rows(c->bound.in);
    (void)text;
    c->row = 0;
    c->end = n;
    if (number == 1 && argc == 1) {
        const sqlite3_int64 wanted = sqlite3_value_int64(argv[0]);
        c->row = wanted >= 0 && (uint64_t)wanted < n ? (size_t)wanted : n;
        c->end = c->row < n ? c->row + 1 : n;
    }
    return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *c = (const struct cursor *)cursor;
    return c->row >= c->end;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct cursor *c = (const struct cursor *)cursor;
    c->bound.source->cell(c->bound.in, c->row, column, context);
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct cursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = table_connect,
    .xBestIndex = table_best,
    .xDisconnect = table_disconnect,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_filter,
    .xNext = cursor_next,
    .xEof = cursor_eof,
    .xColumn = cursor_column,
    .xRowid = cursor_rowid,
};

/* ---- percentile(value, percent) ---------------------------------------------------------------------------------- */

struct values {
    double *at;
    size_t n, cap;
    double percent;
};

static void values_add(sqlite3_context *c, int argc, sqlite3_value **argv)
{
    struct values *v = sqlite3_aggregate_context(c, sizeof *v);
    (void)argc;
    if (!v || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    if (v->n == v->cap) {
        const size_t cap = v->cap ? 2 * v->cap : 64;
        double *more = sqlite3_realloc64(v->at, cap * sizeof *more);
        if (!more)
            return sqlite3_result_error_nomem(c);
        v->at = more;
        v->cap = cap;
    }
    v->at[v->n++] = sqlite3_value_double(argv[0]);
    v->percent = sqlite3_value_double(argv[1]);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The result is one of the values, never the mean of two. */
static void values_final(sqlite3_context *c)
{
    struct values *v = sqlite3_aggregate_context(c, 0);
    if (!v || v->n == 0)
        return;
    qsort(v->at, v->n, sizeof *v->at, compare_doubles);
    const double share = v->percent > 0 ? v->percent < 100 ? v->percent / 100 : 1 : 0;
    sqlite3_result_double(c, v->at[(size_t)((double)(v->n - 1) * share)]);
    sqlite3_free(v->at);
}

/* ---- histogram(value): how many values have how many bits
 * ---------------------------------------------------------- */

enum { HISTOGRAM_BITS = 64 };
struct histogram {
    uint64_t n[HISTOGRAM_BITS];
};

static void histogram_add(sqlite3_context *c, int argc, sqlite3_value **argv)
{
    struct histogram *h = sqlite3_aggregate_context(c, sizeof *h);
    const sqlite3_int64 v = sqlite3_value_int64(argv[0]);
    (void)argc;
    if (h && sqlite3_value_type(argv[0]) != SQLITE_NULL)
        h->n[v > 0 ? 63 - __builtin_clzll((unsigned long long)v) : 0]++;
}

static void histogram_final(sqlite3_context *c)
{
    const struct histogram *h = sqlite3_aggregate_context(c, 0);
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; h && i < HISTOGRAM_BITS; i++)
        if (h->n[i] > 0)
            sqlite3_str_appendf(text, "%s%d:%llu", sqlite3_str_length(text) ? " " : "", i, (unsigned long long)h->n[i]);
    char *made = sqlite3_str_finish(text);
    sqlite3_result_text(c, made ? made : "", -1, made ? sqlite3_free : SQLITE_STATIC);
}

size_t slices_table_count(void)
{
    return sizeof sources / sizeof *sources;
}

const char *slices_table_name(size_t i)
{
    return sources[i].name;
}

const char *slices_table_columns(size_t i)
{
    return sources[i].columns;
}

int slices_table_add(sqlite3 *db, const struct view_input *in)
{
    int status = sqlite3_create_function_v2(db, "percentile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                                            values_add, values_final, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "histogram", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                                            histogram_add, histogram_final, NULL);
    for (size_t i = 0; i < sizeof sources / sizeof *sources && status == SQLITE_OK; i++) {
        struct bound *b = sqlite3_malloc64(sizeof *b);
        if (!b)
            return SQLITE_NOMEM;
        *b = (struct bound){ &sources[i], in };
        status = sqlite3_create_module_v2(db, sources[i].name, &module, b, sqlite3_free);
        char use[64]; /* using the table declares it, which the authorizer would refuse later */
        snprintf(use, sizeof use, "SELECT 1 FROM %s LIMIT 0", sources[i].name);
        status = status == SQLITE_OK ? sqlite3_exec(db, use, NULL, NULL, NULL) : status;
    }
    return status;
}
