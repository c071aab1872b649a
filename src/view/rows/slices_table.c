/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/slices_table.h"

#include <string.h>

#include "base/text/stamp.h"
#include "view/answers/operator_times.h"

/* One of several timelines, which the row of a table belongs to. */
struct slices_at {
    const struct view_input *in;
    const struct slices_of *of;
    size_t number;    /* of the timeline */
    int64_t base_ns;  /* what times count from */
    int64_t first_id; /* number of its first slice among those of all timelines */
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

static void give_run(sqlite3_context *c, const struct slices_at *at, const char *title)
{
    sqlite3_result_text(c, at->of->run ? at->of->run[at->number] : title, -1, SQLITE_STATIC);
}

/* `of`: its rank in a joint timeline; NULL: none. */
static void give_rank(sqlite3_context *c, const struct slices_at *at, const struct view_rank *of)
{
    const int64_t rank = of ? of->rank : at->in->has_rank ? at->in->rank : -1;
    if (rank >= 0)
        sqlite3_result_int64(c, rank);
}

/* The columns of run and rank of what belongs to a process. */
static void give_place(sqlite3_context *c, const struct slices_at *at, uint32_t process, bool is_rank)
{
    const struct view_rank *of = view_rank_of(at->in, process);
    if (is_rank)
        give_rank(c, at, of);
    else
        give_run(c, at, of ? of->title : "");
}

/* The rank with a title in a joint timeline; NULL: there is none. */
static const struct view_rank *rank_titled(const struct view_input *in, const char *title)
{
    for (size_t i = 0; i < in->ranks.n; i++)
        if (strcmp(in->ranks.at[i].title, title) == 0)
            return &in->ranks.at[i];
    return NULL;
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
    SLICE_DEVICE,
    SLICE_RANK
};

static void topic_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
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

static void slice_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_timeline *t = &in->timeline;
    const struct chrome_slices *s = &t->trace->slices;
    const struct chrome_track *track = &t->trace->tracks.at[s->track[row]];
    switch (column) {
    case SLICE_ID: sqlite3_result_int64(c, at->first_id + (sqlite3_int64)row); break;
    case SLICE_NAME: give_name(c, t, s->name[row]); break;
    case SLICE_CATEGORY: give_name(c, t, s->category[row]); break;
    case SLICE_PROCESS: give_process(c, in, track->process); break;
    case SLICE_THREAD: give_row_name(c, t, track->name, &track->id); break;
    case SLICE_DEPTH: sqlite3_result_int(c, t->levels.depth[row]); break;
    case SLICE_BEGIN: sqlite3_result_int64(c, wrap_sub(s->begin_ns[row], at->base_ns)); break;
    case SLICE_DUR: sqlite3_result_int64(c, s->dur_ns[row]); break;
    case SLICE_RUN:
    case SLICE_RANK: give_place(c, at, track->process, column == SLICE_RANK); break;
    case SLICE_TOPIC:
    case SLICE_SELF:
    case SLICE_DEVICE_SELF:
    case SLICE_DEVICE: topic_cell(at, row, column, c); break;
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

static void instant_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_timeline *t = &in->timeline;
    const struct chrome_instant *i = view_instant(&t->instants, row);
    const struct chrome_track *track = &t->trace->tracks.at[i->track];
    switch (column) {
    case 0: sqlite3_result_int64(c, at->first_id + (sqlite3_int64)row); break;
    case 1: give_name(c, t, i->name); break;
    case 2: give_name(c, t, i->category); break;
    case 3: give_process(c, in, track->process); break;
    case 4: give_row_name(c, t, track->name, &track->id); break;
    case 5: sqlite3_result_int64(c, wrap_sub(i->ns, at->base_ns)); break;
    case 7:
    case 8: give_place(c, at, track->process, column == 8); break;
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

static void counter_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_timeline *t = &in->timeline;
    const struct chrome_counter *v = &t->trace->counters.at[row];
    const uint32_t process = t->trace->tracks.at[v->track].process;
    switch (column) {
    case 0: give_name(c, t, v->name); break;
    case 1: give_name(c, t, v->series); break;
    case 2: give_process(c, in, process); break;
    case 3: sqlite3_result_int64(c, wrap_sub(v->ns, at->base_ns)); break;
    case 5:
    case 6: give_place(c, at, process, column == 6); break;
    default: sqlite3_result_double(c, v->value); break;
    }
}

static size_t n_flows(const struct view_input *in)
{
    return in->timeline.flows.n;
}

static void flow_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_timeline *t = &in->timeline;
    sqlite3_result_int64(c, at->first_id + (column == 0 ? t->flows.from[row] : t->flows.to[row]));
}

static size_t n_blocks(const struct view_input *in)
{
    return in->n_blocks;
}

static void block_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_block *b = &in->blocks[row];
    switch (column) {
    case 0: sqlite3_result_text(c, b->name, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_text(c, in->allocators.at[b->allocator].name, -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_int64(c, b->bytes); break;
    case 3: sqlite3_result_int64(c, wrap_sub(b->begin_ns, at->base_ns)); break;
    case 5: give_run(c, at, ""); break;
    case 6: give_rank(c, at, NULL); break;
    default:
        if (b->end_ns != INT64_MAX)
            sqlite3_result_int64(c, wrap_sub(b->end_ns, at->base_ns));
        break;
    }
}

static size_t n_losses(const struct view_input *in)
{
    return in->losses.n;
}

static void loss_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_loss *l = &in->losses.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, l->what, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_int64(c, (sqlite3_int64)l->n); break;
    case 2: sqlite3_result_int(c, l->is_damage); break;
    case 3: sqlite3_result_text(c, l->file, -1, SQLITE_STATIC); break;
    case 4: sqlite3_result_int64(c, (sqlite3_int64)l->at); break;
    case 5: give_run(c, at, ""); break;
    default: give_rank(c, at, NULL); break;
    }
}

static size_t n_kernel_counters(const struct view_input *in)
{
    return in->kernel_counters.n;
}

static void kernel_counter_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_kernel_counter *k = &in->kernel_counters.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, k->name, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_text(c, k->task_type, -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_text(c, k->metric, -1, SQLITE_STATIC); break;
    case 3: sqlite3_result_int64(c, (sqlite3_int64)k->count); break;
    case 4: sqlite3_result_double(c, k->mean); break; /* NAN becomes NULL */
    case 5: sqlite3_result_double(c, k->most); break;
    case 6: sqlite3_result_double(c, k->total_us); break;
    case 7: give_run(c, at, k->run); break;
    default: give_rank(c, at, rank_titled(in, k->run)); break;
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

static void work_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
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
    case 17: give_run(c, at, w->run); break;
    default: give_rank(c, at, rank_titled(in, w->run)); break;
    }
}

static size_t n_roofs(const struct view_input *in)
{
    return in->roofs.n;
}

static void roof_cell(const struct slices_at *at, size_t row, int column, sqlite3_context *c)
{
    const struct view_input *in = at->in;
    const struct view_roof *r = &in->roofs.at[row];
    switch (column) {
    case 0: sqlite3_result_text(c, r->what, -1, SQLITE_STATIC); break;
    case 1: sqlite3_result_double(c, r->per_s); break;
    case 2: sqlite3_result_text(c, r->source, -1, SQLITE_STATIC); break;
    case 3: give_run(c, at, r->run); break;
    default: give_rank(c, at, rank_titled(in, r->run)); break;
    }
}

/* ---- several timelines ------------------------------------------------------------------------------------------ */

static const struct slices_table_rows {
    size_t (*n_rows)(const struct view_input *in);
    void (*cell)(const struct slices_at *at, size_t row, int column, sqlite3_context *c);
} rows_of[SLICES_TABLES] = {
    { n_slices, slice_cell },
    { n_instants, instant_cell },
    { n_counters, counter_cell },
    { n_flows, flow_cell },
    { n_blocks, block_cell },
    { n_losses, loss_cell },
    { n_kernel_counters, kernel_counter_cell },
    { n_work, work_cell },
    { n_roofs, roof_cell },
};

static size_t number_of(const struct sql_source *s)
{
    return (size_t)(s->of - &sql_tables[SQL_SLICES]);
}

static size_t slices_n_rows(const struct sql_source *s)
{
    const struct slices_of *of = s->context;
    size_t n = 0;
    for (size_t i = 0; i < of->n; i++)
        n += rows_of[number_of(s)].n_rows(of->in[i]);
    return n;
}

/* Slices are numbered through all timelines, instants after them: as pages do, if there is one. */
static void slices_cell(const struct sql_source *s, size_t row, int column, sqlite3_context *c)
{
    const struct slices_of *of = s->context;
    const struct slices_table_rows *rows = &rows_of[number_of(s)];
    const bool is_instant = rows->cell == instant_cell;
    struct slices_at at = { .of = of };
    for (size_t i = 0; i < of->n && is_instant; i++)
        at.first_id += (int64_t)n_slices(of->in[i]);
    for (; at.number < of->n; at.number++) {
        at.in = of->in[at.number];
        const size_t n = rows->n_rows(at.in);
        if (row < n) {
            at.base_ns = of->is_absolute ? 0 : at.in->timeline.begin_ns;
            return rows->cell(&at, row, column, c);
        }
        row -= n;
        at.first_id += (int64_t)(is_instant ? n : n_slices(at.in));
    }
}

void slices_table_sources(struct sql_source out[SLICES_TABLES], const struct slices_of *of)
{
    for (int i = 0; i < SLICES_TABLES; i++)
        out[i] = (struct sql_source){ .of = &sql_tables[SQL_SLICES + i],
                                      .context = of,
                                      .n_rows = slices_n_rows,
                                      .cell = slices_cell,
                                      .row_column = rows_of[i].cell == slice_cell ? SLICE_ID : -1 };
}
