/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/sql_inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "base/files/inside.h"
#include "base/memory/columns.h"
#include "load/trace/db_reader.h"
#include "open/recording_open.h"
#include "report/term.h"
#include "view/inputs/view_any.h"

/* A folder of tables, or a database without a timeline: what the viewer shows as tables. NULL: neither. */
static const char *tables_of(const char *path, struct arena *mem)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return NULL;
    if (S_ISDIR(st.st_mode)) {
        inside_enter(path);
        return results_file(path, mem);
    }
    return db_is_database(path) ? path : NULL;
}

static enum exit_status word_find(struct sql_inputs *s, const char *path)
{
    struct error e = { 0 };
    const size_t before = s->run.inputs.list.n;
    const bool is_whole = inputs_add(&s->run.inputs, path, INPUT_RESULTS, &e);
    if (is_whole || s->run.inputs.list.n > before) {
        if (!is_whole) {
            complain("%s", e.text);
            s->n_refused++;
        }
        while (s->group.n < s->run.inputs.list.n) {
            uint32_t *new = list_add(&s->group, s->a->mem);
            if (!new)
                return STATUS_NOTHING;
            *new = (uint32_t)(s->title.n - 1);
        }
        return STATUS_DONE;
    }
    const char *tables = tables_of(path, s->a->mem);
    const char **new = tables ? list_add(&s->tables, s->a->mem) : NULL;
    if (new) {
        *new = tables;
        return STATUS_DONE;
    }
    complain("%s", e.text);
    s->n_refused++;
    return e.fault == FAULT_ASKED ? STATUS_PATH : STATUS_NOTHING;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Titles become the last parts of the paths, if these differ; otherwise what follows the directories that all share. */
static void titles_shorten(struct sql_inputs *s)
{
    const char *first = s->title.n > 0 ? s->title.at[0] : "";
    size_t shared = strlen(first);
    bool are_unique = true;
    for (size_t i = 0; i < s->title.n; i++) {
        size_t same = 0;
        while (same < shared && s->title.at[i][same] == first[same])
            same++;
        shared = same;
        for (size_t k = 0; k < i; k++)
            are_unique = are_unique && strcmp(last_part(s->title.at[i]), last_part(s->title.at[k])) != 0;
    }
    while (shared > 0 && first[shared - 1] != '/')
        shared--;
    for (size_t i = 0; i < s->title.n; i++)
        s->title.at[i] = are_unique ? last_part(s->title.at[i]) : s->title.at[i] + shared;
}

enum exit_status sql_inputs_find(struct sql_inputs *s, struct arguments *a)
{
    enum exit_status last = STATUS_DONE;
    *s = (struct sql_inputs){ .a = a, .run.inputs = { .mem = a->mem, .steps_by = a->steps_by }, .names = names_new() };
    if (!s->names) {
        complain_no_memory("the names");
        return STATUS_NOTHING;
    }
    for (size_t i = 0; i < a->n_words; i++) {
        char *path = (char *)path_expand(a, "DIR", a->word[i]);
        const char **title = path ? list_add(&s->title, a->mem) : NULL;
        if (!title)
            return arena_failed(a->mem) ? STATUS_NOTHING : STATUS_PATH;
        *title = path;
        const enum exit_status here = word_find(s, path);
        last = here == STATUS_DONE ? last : here;
        char *kept = arena_text(a->mem, path, strlen(path));
        for (size_t n = kept ? strlen(kept) : 0; n > 1 && kept[n - 1] == '/'; n--)
            kept[n - 1] = '\0';
        if (!kept)
            return STATUS_NOTHING;
        s->title.at[i] = kept;
    }
    titles_shorten(s);
    s->columns.names = s->names;
    run_sources(s->source, &s->columns);
    slices_table_sources(s->source + SQL_RUN_TABLES, &s->slices);
    s->db = (struct sql_database){ .source = s->source, .n_sources = SQL_TABLES };
    s->status = s->n_refused > 0 ? STATUS_LOSSES : STATUS_DONE;
    return s->run.inputs.list.n + s->tables.n > 0 || a->n_words == 0 ? STATUS_DONE : last;
}

/* ---- tables of the run ------------------------------------------------------------------------------------------- */

struct sql_look {
    struct names *names;
    uint32_t wanted;
};

static void *sql_look(const void *of, const struct recording *l, size_t i, struct arena *mem, struct error *e)
{
    const struct sql_look *look = of;
    (void)e;
    return run_tables_of(l, i, look->wanted, look->names, mem);
}

bool sql_inputs_columns(struct sql_inputs *s, uint32_t wanted)
{
    struct given_run *g = &s->run;
    const struct sql_look look = { s->names, wanted };
    const struct run_request how = { .only_look = true, .look = sql_look, .look_of = &look, .group = s->group.at };
    run_end(&g->run);
    const enum exit_status status = given_run_read(g, s->a, how, s->n_refused);
    s->status = status == STATUS_DONE ? s->status : status;
    struct joined_rank *part = arena_take(s->a->mem, g->run.n, sizeof *part);
    for (size_t i = 0; part && i < g->run.n; i++)
        part[i] =
            (struct joined_rank){ g->run.more[i], s->title.at[s->group.at[g->run.rank[i].input]], g->run.rank[i].path };
    if (!part || !run_tables_join(&s->columns, part, g->run.n, s->names, s->a->mem)) {
        complain_no_memory("the tables");
        return false;
    }
    s->has = wanted;
    return true;
}

/* ---- timelines --------------------------------------------------------------------------------------------------- */

static void timeline_load(struct sql_inputs *s, struct view_input *in, const char *title)
{
    struct error e = { 0 };
    view_input_init(in);
    in->name = in->path;
    if (view_input_start(in, &e))
        view_input_wait(in);
    if (atomic_load(&in->state) != VIEW_READY) {
        complain("%s", in->error.fault ? in->error.text : e.text);
        s->status = STATUS_LOSSES;
        return;
    }
    if (in->is_lossy)
        s->status = STATUS_LOSSES;
    s->run_of[s->slices.n] = title;
    s->shown[s->slices.n++] = in;
    if (in->db_path || in->db_image)
        s->db = (struct sql_database){ s->source, SQL_TABLES, in->db_path, in->db_has_log, in->db_image, in->db_bytes };
}

static bool timelines_load(struct sql_inputs *s)
{
    const struct inputs *inputs = &s->run.inputs;
    const size_t n = inputs->list.n + s->tables.n;
    arena_columns(s->a->mem, n, s->timeline, s->collection, s->shown, s->run_of);
    if (!s->timeline || !s->collection || !s->shown || !s->run_of) {
        complain_no_memory("the timelines");
        return false;
    }
    s->has_timelines = true;
    given_run_memory(&s->run, s->a);
    s->slices = (struct slices_of){ .in = s->shown, .run = s->run_of, .is_absolute = true };
    for (size_t i = 0; i < n; i++) {
        const struct input *in = i < inputs->list.n ? &inputs->list.at[i] : NULL;
        if (in)
            s->collection[i] = (struct view_collection){ in, &s->a->options };
        s->timeline[i] = in && !in->file
                             ? view_any_collection(&s->collection[i])
                             : view_any_file(in ? in->file : s->tables.at[i - inputs->list.n], s->a->steps_by);
        timeline_load(s, &s->timeline[i], in ? s->title.at[s->group.at[i]] : "");
    }
    return true;
}

bool sql_inputs_load(struct sql_inputs *s, const char *sql, bool all, struct error *e)
{
    enum { RUN = (1 << SQL_RUN_TABLES) - 1 };
    uint32_t needs;
    if (!s->has_timelines && strcasestr(sql, "db.") && !timelines_load(s))
        return error_no_memory(e, "the timelines");
    if (!sql_needs(&s->db, sql, &needs, e))
        return false;
    if (needs & ~(uint32_t)RUN && !s->has_timelines && !timelines_load(s))
        return error_no_memory(e, "the timelines");
    if (needs & RUN && s->run.inputs.list.n == 0 && s->tables.n > 0)
        return error_set(e, FAULT_ASKED,
                         "%s: only tables without a timeline or a database, whose run is not known; they are in the "
                         "schema db, and ascope view shows them",
                         s->tables.at[0]);
    if (needs & RUN & ~s->has && s->run.inputs.list.n > 0 && !sql_inputs_columns(s, all ? RUN : needs & RUN))
        return error_no_memory(e, "the tables");
    return true;
}

void sql_inputs_end(struct sql_inputs *s)
{
    for (size_t i = 0; s->has_timelines && i < s->run.inputs.list.n + s->tables.n; i++)
        view_input_close(&s->timeline[i]);
    given_run_end(&s->run);
    names_free(s->names);
}
