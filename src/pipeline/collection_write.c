/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/collection_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/profile_analyse.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/leftover.h"
#include "base/files/out.h"
#include "base/files/outdir.h"
#include "base/process/pool.h"
#include "load/framework/framework_loaders.h"
#include "pipeline/analyse_done.h"
#include "pipeline/analysis_log.h"
#include "pipeline/framework_outputs.h"
#include "pipeline/prof_write.h"
#include "pipeline/registry.h"
#include "pipeline/simplify.h"
#include "pipeline/stages.h"

struct collection_write_job {
    const struct framework_output *output;
    const char *path;
    struct arena *mem;
    uint64_t n_rows; /* 0: the file was not written */
    uint64_t n_bytes;
    bool is_written; /* true even if its size cannot be read afterwards */
    struct error error;
};

struct collection_write_writing {
    const struct framework_kind *kind;
    const struct output_options *options;
    unsigned want; /* WANT_* */
    const struct collection *collection;
    const struct collection_part *part; /* NULL: all of it */
    struct window *window;              /* of each device; NULL without a part */
    struct window *host_window;         /* of the host, n_host_windows equal ones */
    size_t n_host_windows;
    struct collection_write_job *job;
    size_t n_jobs;
};

static const struct report *report_of(const char *name)
{
    for (size_t i = 0; i < prof_registry.n_reports; i++)
        if (strcmp(prof_registry.report[i].file, name) == 0)
            return &prof_registry.report[i];
    return NULL;
}

/* False: memory ran out while a result was made; it would be incomplete. */
static bool has_memory(const struct collection_write_writing *w, struct collection_write_job *j)
{
    if (!arena_failed(j->mem) && !names_failed(w->collection->profile.names))
        return true;
    return error_no_memory(&j->error, j->path);
}

/* Restricts a table to the rows of the requested steps. False: no memory. */
static bool cut_table(const struct collection_export *x, struct collection_write_job *j, struct table *t)
{
    const struct framework_output *o = j->output;
    uint32_t *shown = arena_take(j->mem, t->n_rows, sizeof *shown);
    size_t column = 0, n = 0;
    if (!shown)
        return error_no_memory(&j->error, j->path);
    while (column < t->n_columns && strcmp(t->column[column].name, o->time) != 0)
        column++;
    for (uint32_t i = 0; column < t->n_columns && i < t->n_rows; i++) {
        const struct cell at = table_cell(t, i, column);
        if ((at.kind == CELL_TIME || at.kind == CELL_TIME_BARE) &&
            (o->is_of_device ? collection_shows_device(x, at.i) : collection_shows(x, at.i)))
            shown[n++] = t->shown ? t->shown[i] : i;
    }
    t->shown = shown;
    t->n_rows = n;
    return true;
}

static bool write_table(const struct collection_write_writing *w, struct collection_write_job *j, struct table *t)
{
    t->has_crlf = !j->output->is_copy;
    t->is_safe = w->options->csv_is_safe;
    struct out o;
    if (!has_memory(w, j) || t->n_rows == 0 || !out_open(&o, j->path, &j->error))
        return j->error.fault == FAULT_NONE;
    table_csv_header(t, &o);
    table_csv_rows(t, &o, 0, t->n_rows);
    if (!has_memory(w, j)) {
        out_discard(&o);
        return false;
    }
    j->n_rows = t->n_rows;
    return out_close(&o, &j->error);
}

struct collection_export collection_export_of(const struct collection *s, const struct output_options *options,
                                              struct arena *mem)
{
    return (struct collection_export){
        .collection = s, .framework = &s->framework, .device = prof_export_of(&s->profile, options, mem), .mem = mem
    };
}

static void write_job(const struct collection_write_writing *w, struct collection_write_job *j)
{
    const struct framework_output *o = j->output;
    const struct collection *s = w->collection;
    struct collection_export x = collection_export_of(s, w->options, j->mem);
    if (w->part) {
        x.part = w->part;
        x.framework = &w->part->framework;
        x.device.scope = SCOPE_STEP;
        x.device.window = w->window;
        x.device.host_window = w->host_window;
        x.device.n_host_windows = w->n_host_windows;
    }
    if (o->write) {
        if (o->write(&x, j->path, &j->n_rows, &j->error) && !has_memory(w, j))
            inside_remove(j->path, 0); /* it may be incomplete */
        return;
    }
    struct table t = { 0 };
    const struct report *report = o->report ? report_of(o->report) : NULL;
    if (o->report ? !report || !s->has_device || !report->build(&x.device, &t, &j->error)
                  : !o->build(&x, &t, &j->error))
        return;
    if (w->part && o->time && !cut_table(&x, j, &t))
        return;
    /* Older tools, and the documents, have no Device_id: it is omitted for a single device. */
    if (o->report && w->options->dialect == DIALECT_DOCUMENTED && s->profile.n_devices < 2)
        t.n_hidden = 1;
    write_table(w, j, &t);
}

static void run_job(void *context, size_t i)
{
    struct collection_write_writing *w = context;
    struct collection_write_job *j = &w->job[i];
    struct stat st;
    j->mem = arena_new();
    if (j->mem)
        write_job(w, j);
    else
        error_no_memory(&j->error, j->path);
    j->is_written = j->n_rows > 0 && j->error.fault == FAULT_NONE;
    if (j->is_written) {
        if (inside_stat(j->path, &st) == 0)
            j->n_bytes = (uint64_t)st.st_size;
        else
            error_set(&j->error, FAULT_IO, "%s: missing after it was written: %s", j->path, write_trouble(errno));
    }
    arena_free(j->mem);
}

/* Makes a job for each requested file. False: no memory. */
static bool plan(struct collection_write_writing *w, const char *dir, struct arena *mem)
{
    const struct collection *s = w->collection;
    char rank[24] = "", dataset[24];
    if (s->settings.has_rank)
        snprintf(rank, sizeof rank, "_%lld", (long long)s->settings.rank);
    snprintf(dataset, sizeof dataset, "_%lld", (long long)s->settings.dataset);
    const struct output_rows rows = framework_outputs(w->kind->id);
    w->job = arena_take(mem, rows.n, sizeof *w->job);
    for (size_t i = 0; w->job && i < rows.n; i++) {
        const struct framework_output *o = &rows.at[i];
        if (!(w->want & (o->is_db ? WANT_DB : WANT_TEXT)))
            continue;
        const char *percent = strstr(o->file, "%s");
        struct collection_write_job *j = &w->job[w->n_jobs++];
        j->output = o;
        j->path = percent ? arena_printf(mem, "%s/%.*s%s%s", dir, (int)(percent - o->file), o->file,
                                         o->is_of_dataset ? dataset : rank, percent + 2)
                          : arena_printf(mem, "%s/%s", dir, o->file);
    }
    return w->job && !arena_failed(mem);
}

/* Removes files of earlier runs that this run did not write: they would be taken for its results. */
static void remove_stale(const struct collection_write_writing *w)
{
    for (size_t i = 0; i < w->n_jobs; i++)
        if (w->job[i].n_rows == 0 && w->job[i].error.fault == FAULT_NONE)
            inside_remove(w->job[i].path, 0);
}

static bool collection_write_is_wanted(const struct collection_write_writing *w, const struct collection_write_job *j)
{
    const struct framework_output *o = j->output;
    return (!o->is_new || w->options->dialect == DIALECT_CURRENT) && (!o->is_wanted || o->is_wanted(w->collection));
}

/* Runs the jobs whose files the settings call for. The others stay in the list, so that remove_stale() removes their
 * files. */
static void run_wanted(struct collection_write_writing *w)
{
    size_t n = 0;
    struct collection_write_job *const all = w->job;
    const size_t n_all = w->n_jobs;
    for (size_t i = 0; i < n_all; i++)
        if (collection_write_is_wanted(w, &all[i])) {
            const struct collection_write_job swap = all[n];
            all[n++] = all[i];
            all[i] = swap;
        }
    w->n_jobs = n;
    pool_run(n, w->options->n_threads, run_job, w);
    w->n_jobs = n_all;
}

static bool collect(struct collection_write_writing *w, struct collection_result *out, struct error *e)
{
    struct account *a = &out->account;
    bool has_any = false;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct collection_write_job *j = &w->job[i];
        has_any |= j->is_written;
        if (j->error.fault != FAULT_NONE) {
            account_problem(a, j->error.text);
            error_set(e, j->error.fault, "%s", j->error.text);
        } else if (j->n_rows > 0) {
            struct written *f = list_add(&a->files, a->mem);
            if (f)
                *f = (struct written){ j->path, j->output->about, j->n_rows, j->n_bytes, j->output->is_timeline };
            else
                account_problem(a, NULL);
        }
    }
    return has_any || error_set(e, FAULT_ASKED, "%s: nothing to write for this request", out->collection.path);
}

static bool find_part(struct collection_write_writing *w, struct arena *mem, struct error *e)
{
    const struct collection *s = w->collection;
    struct collection_part *part = arena_take(mem, 1, sizeof *part);
    w->n_host_windows = s->profile.n_devices > 0 ? s->profile.n_devices : 1;
    w->window = arena_take(mem, s->profile.n_devices, sizeof *w->window);
    w->host_window = arena_take(mem, w->n_host_windows, sizeof *w->host_window);
    if (!part || !w->window || !w->host_window)
        return error_no_memory(e, s->path);
    const struct step_range asked = { w->options->first_step, w->options->last_step, w->options->steps_are_counted };
    if (!collection_part_find(part, s, &asked, mem, e))
        return false;
    for (size_t d = 0; d < s->profile.n_devices; d++)
        w->window[d] = (struct window){ .has_any = part->is_on_device,
                                        .begin_ns = part->device_begin_ns,
                                        .end_ns = part->device_end_ns,
                                        .lead_ns = part->device_begin_ns,
                                        .shown_ns = part->device_begin_ns };
    for (size_t d = 0; d < w->n_host_windows; d++)
        w->host_window[d] = (struct window){ .has_any = true,
                                             .begin_ns = part->begin_ns,
                                             .end_ns = part->launched_ns,
                                             .lead_ns = part->begin_ns,
                                             .shown_ns = part->begin_ns };
    w->part = part;
    return true;
}

/* The order in which a power cut finds the results: all of them, then what says so, then the removal of what they
 * replace. */
static bool collection_write_finish(struct collection_result *out, const struct output_options *options,
                                    const char *home, const char *dir, struct error *e)
{
    struct error log = { 0 }; /* without it the results are no worse */
    const bool simplifies =
        options->simplifies == AS_RECORDED ? out->collection.settings.simplifies : options->simplifies == CHOICE_ON;
    if (!outdir_settle(dir, e))
        return false;
    if (out->collection.has_device && !options->out_dir)
        prof_simplify(&out->collection.profile, simplifies, &out->account);
    if (!analysis_log_write(out, home, &log))
        account_problem(&out->account, log.text);
    return analyse_done_write(out, options->code_of_losses, dir, e) && outdir_settle(dir, e);
}

static bool collection_write_write_all(const struct framework_kind *kind, const struct output_options *options,
                                       unsigned want, struct collection_result *out, struct error *e)
{
    struct collection_write_writing w = {
        .kind = kind, .options = options, .want = want, .collection = &out->collection
    };
    struct arena *mem = out->account.mem;
    if (options->steps_are_counted && !collection_has_steps(&out->collection))
        account_problem(&out->account,
                        arena_printf(mem, "%s: no steps were counted; everything is analysed", out->collection.path));
    else if (options->has_steps && !find_part(&w, mem, e))
        return false;
    out->part = w.part;
    const char *home =
        options->out_dir ? arena_printf(mem, "%s/%s", options->out_dir, out->collection.name) : out->collection.path;
    const char *dir = home ? arena_printf(mem, "%s/%s", home, ANALYSE_RESULTS) : NULL;
    const char *done = dir ? arena_printf(mem, "%s/%s", dir, ANALYSE_DONE) : NULL;
    const char *logs = home ? arena_printf(mem, "%s/logs", home) : NULL;
    if (!done || !logs || !plan(&w, dir, mem))
        return error_no_memory(e, out->collection.path);
    if (options->out_dir && (!outdir_make(options->out_dir, e) || !outdir_make_inside(home, e)))
        return false;
    const int lock = outdir_is_inside(logs, e) ? outdir_lock(dir, OUTDIR_PATIENCE_MS, e) : -1;
    if (lock < 0)
        return false;
    leftovers_sweep(dir);
    /* Written last: without it the results are not complete. It is gone for good before the first of them changes. */
    if (inside_remove(done, 0) == 0 && !outdir_settle(dir, e)) {
        close(lock);
        return false;
    }
    run_wanted(&w);
    remove_stale(&w);
    if (!collect(&w, out, e)) {
        inside_remove(dir, AT_REMOVEDIR); /* only if nothing else is in it */
        close(lock);
        return false;
    }
    struct error problem = { 0 };
    if (!collection_write_finish(out, options, home, dir, &problem))
        account_problem(&out->account, problem.text);
    close(lock);
    return true;
}

/* The user's choice, or else that of the recording. */
static unsigned want_of(const struct output_options *options, const struct collection_settings *recorded)
{
    if (options->want)
        return options->want;
    return (recorded->wants_text ? WANT_TEXT : 0) | (recorded->wants_db ? WANT_DB : 0);
}

bool collection_export(const struct framework_kind *kind, const char *path, const struct output_options *options,
                       struct progress *progress, struct collection_result *out, struct error *e)
{
    *out = (struct collection_result){ .account.mem = arena_new() };
    if (!out->account.mem)
        return error_no_memory(e, path);
    struct account *a = &out->account;
    const double start = account_clock_s();
    const uint64_t bytes = raw_bytes(path);
    struct output_options sized = *options;
    sized.n_threads = stage_threads(bytes, options->n_threads);
    progress_stage(progress, "reading", 0, STAGE_READ, bytes);
    const struct collection_request request = { .n_threads = sized.n_threads };
    if (!kind->load(&out->collection, path, &request, e))
        return false;
    a->load_s = account_clock_s() - start;
    progress_stage(progress, "analysing", STAGE_READ, STAGE_ANALYSED, profile_analyse_steps(&out->collection.profile));
    if (!kind->analyse(&out->collection, sized.n_threads, e))
        return false;
    collection_losses(&out->collection, &out->collection.lost);
    a->analyse_s = account_clock_s() - start - a->load_s;
    if (out->collection.device_error.fault != FAULT_NONE)
        account_problem(a, out->collection.device_error.text);
    const unsigned want = want_of(options, &out->collection.settings);
    progress_stage(progress, "writing", STAGE_ANALYSED, 1,
                   stage_output_bytes(bytes, want & WANT_TEXT, want & WANT_TEXT, want & WANT_DB));
    const bool done = collection_write_write_all(kind, &sized, want, out, e);
    a->write_s = account_clock_s() - start - a->load_s - a->analyse_s;
    return done;
}

void collection_result_free(struct collection_result *r)
{
    collection_free(&r->collection);
    arena_free(r->account.mem);
    *r = (struct collection_result){ 0 };
}
