/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/prof_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/profile_analyse.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/outdir.h"
#include "base/process/pool.h"
#include "export/msprof/prof_outputs.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"
#include "export/trace_split.h"
#include "load/framework/framework_loaders.h"
#include "load/prof/prof.h"
#include "pipeline/registry.h"
#include "pipeline/stages.h"

/* A table longer than this is cut into files that spreadsheets can open. */
enum { ROWS_PER_FILE = 1000000 };

/* Each file, or group of files, is a job; jobs share nothing. The large ones come first, so that no thread is left
 * alone with one of them at the end. */
enum job_kind { JOB_DB, JOB_TIMELINE, JOB_REPORT };
struct prof_write_job {
    enum job_kind kind;
    const char *file; /* of a timeline: "msprof", or the own_file of some tracks */
    const struct report *report;
    struct arena *mem; /* of the result and its texts */
    LIST(struct written) files;
    size_t n_written; /* number of files, including those that are not in the list for want of memory */
    struct error error;
};

struct prof_write_writing {
    const struct output_options *options;
    unsigned want;      /* WANT_* */
    struct export base; /* what all outputs share */
    const char *dir, *prof_dir, *stamp;
    struct prof_write_job *job;
    size_t n_jobs;
};

static void note_file(struct prof_write_job *j, const char *path, const char *about, uint64_t rows)
{
    struct written *w = list_add(&j->files, j->mem);
    struct stat st = { 0 };
    j->n_written++;
    if (!w)
        error_no_memory(&j->error, path);
    else if (inside_stat(path, &st) != 0)
        error_set(&j->error, FAULT_IO, "%s: missing after it was written: %s", path, write_trouble(errno));
    if (w)
        *w = (struct written){ path, about, rows, (uint64_t)st.st_size, j->kind == JOB_TIMELINE };
}

/* False: memory ran out while a result was made; it would be incomplete. */
static bool has_memory(const struct prof_write_writing *w, struct prof_write_job *j, const char *file)
{
    if (!arena_failed(j->mem) && !names_failed(w->base.profile->names))
        return true;
    return error_no_memory(&j->error, file);
}

/* Writes a timeline: msprof_*.json with all processes, or one of the files with the processes of one own_file. */
static void write_timeline(struct prof_write_writing *w, struct prof_write_job *j)
{
    const struct output_options *options = w->options;
    struct export x = w->base;
    x.mem = j->mem;
    const bool is_own_file = strcmp(j->file, "msprof") != 0;
    struct trace_split split = { .max_bytes = options->max_bytes,
                                 .gzips = options->gzips,
                                 .before = arena_printf(j->mem, "%s/%s", w->dir, j->file),
                                 .after = arena_printf(j->mem, "_%s.json%s", w->stamp, options->gzips ? ".gz" : ""),
                                 .n_threads = options->n_threads,
                                 .mem = j->mem };
    const char *path = arena_printf(j->mem, "%s%s", split.before, split.after);
    struct out o;
    uint64_t n_events = 0;
    if (!has_memory(w, j, j->file) || !out_open(&o, path, &j->error))
        return;
    if (!prof_trace_draw(&x, is_own_file ? j->file : NULL, &o, NULL, &n_events, &j->error) || !has_memory(w, j, path) ||
        n_events == 0) {
        out_discard(&o);
        return;
    }
    if (!trace_split(&split, &o, &j->error))
        return;
    for (size_t i = 0; i < split.pieces.n; i++)
        note_file(j, split.pieces.at[i].path,
                  is_own_file          ? "one layer of the timeline"
                  : split.pieces.n > 1 ? "a part of the timeline, by time"
                  : options->gzips     ? "the whole timeline, for Perfetto, Chrome or ascope view"
                                       : "the whole timeline, for Perfetto, Chrome or MindStudio Insight",
                  split.pieces.n > 1 ? split.pieces.at[i].n_events : n_events);
}

static bool end_table(const struct prof_write_writing *w, struct prof_write_job *j, struct out *o)
{
    if (has_memory(w, j, o->path))
        return out_close(o, &j->error);
    out_discard(o);
    return false;
}

static bool write_csv(struct prof_write_writing *w, struct prof_write_job *j, const struct table *t, const char *file)
{
    const bool sliced = t->n_rows > ROWS_PER_FILE;
    for (size_t first = 0, slice = 0; first < t->n_rows; first += ROWS_PER_FILE, slice++) {
        const size_t n = t->n_rows - first < ROWS_PER_FILE ? t->n_rows - first : ROWS_PER_FILE;
        const char *path = sliced ? arena_printf(j->mem, "%s/%s_slice_%zu_%s.csv", w->dir, file, slice, w->stamp)
                                  : arena_printf(j->mem, "%s/%s_%s.csv", w->dir, file, w->stamp);
        struct out o;
        if (!has_memory(w, j, file) || !out_open(&o, path, &j->error))
            return false;
        table_csv_header(t, &o);
        table_csv_rows(t, &o, first, n);
        if (!end_table(w, j, &o))
            return false;
        note_file(j, path, j->report->about, n);
    }
    return true;
}

static bool write_json(struct prof_write_writing *w, struct prof_write_job *j, const struct table *t, const char *file)
{
    const char *path = arena_printf(j->mem, "%s/%s_%s.json", w->dir, file, w->stamp);
    struct out o;
    if (!has_memory(w, j, file) || !out_open(&o, path, &j->error))
        return false;
    table_json(t, &o);
    if (!end_table(w, j, &o))
        return false;
    note_file(j, path, j->report->about, t->n_rows);
    return true;
}

/* Whether a timeline has this name, too: a JSON table must not replace it, even if both are written in the same
 * second. */
static bool is_timeline(const char *file)
{
    bool found = false;
    for (size_t i = 0; i < prof_registry.n_tracks && !found; i++)
        found = prof_registry.track[i].own_file && strcmp(prof_registry.track[i].own_file, file) == 0;
    return found;
}

static void write_report(struct prof_write_writing *w, struct prof_write_job *j)
{
    struct export x = w->base;
    x.mem = j->mem;
    struct table t = { 0 };
    if (!j->report->build(&x, &t, &j->error) || !has_memory(w, j, j->report->file) || t.n_rows == 0)
        return;
    t.is_safe = w->options->csv_is_safe;
    const bool is_documented = x.options->dialect == DIALECT_DOCUMENTED && j->report->documented_file;
    const char *file = is_documented ? j->report->documented_file : j->report->file;
    if (w->options->format == FORMAT_JSON)
        write_json(w, j, &t, is_timeline(file) ? arena_printf(j->mem, "%s_summary", file) : file);
    else
        write_csv(w, j, &t, file);
}

struct export prof_export_of(const struct profile *p, const struct output_options *options, struct arena *mem)
{
    return (struct export){ .profile = p,
                            .registry = &prof_registry,
                            .options = options,
                            .scope = SCOPE_ALL,
                            .is_generic = !p->chip->is_native,
                            .mem = mem };
}

/* The database always covers the whole collection. */
static void write_db(struct prof_write_writing *w, struct prof_write_job *j)
{
    const struct export x = prof_export_of(w->base.profile, w->options, j->mem);
    const char *path = arena_printf(j->mem, "%s/msprof_%s.db", w->prof_dir, w->stamp);
    struct db *db = has_memory(w, j, "msprof.db") ? db_open(path, x.profile->names, &j->error) : NULL;
    if (!db)
        return;
    if (!device_db(&x, db, &j->error) || !about_db(&x, db, -1, &j->error)) {
        db_discard(db);
        return;
    }
    const uint64_t rows = db_rows(db);
    if (db_close(db, &j->error))
        note_file(j, path, "everything as tables, for SQL and MindStudio Insight", rows);
}

static void write_job(struct prof_write_writing *w, struct prof_write_job *j)
{
    switch (j->kind) {
    case JOB_DB: write_db(w, j); break;
    case JOB_TIMELINE: write_timeline(w, j); break;
    case JOB_REPORT: write_report(w, j); break;
    }
}

static void run_job(void *context, size_t i)
{
    struct prof_write_writing *w = context;
    struct prof_write_job *j = &w->job[i];
    if (j->mem)
        write_job(w, j);
    else
        error_no_memory(&j->error, w->dir);
}

static struct prof_write_job *add_job(struct prof_write_writing *w, enum job_kind kind)
{
    struct prof_write_job *j = &w->job[w->n_jobs++];
    j->kind = kind;
    j->mem = arena_new();
    return j;
}

static bool has_db(const char *dir)
{
    DIR *d = inside_list(dir);
    bool found = false;
    int why;
    for (const char *name; d && !found && (name = dir_next(d, &why));)
        found = strncmp(name, "msprof_", 7) == 0 && strlen(name) > 10 && strcmp(name + strlen(name) - 3, ".db") == 0;
    if (d)
        closedir(d);
    return found;
}

static void plan(struct prof_write_writing *w)
{
    /* As in the reference, text exports also write a database, unless one exists, only a part is wanted, or the
     * older presentation applies. */
    const bool leaves_db = w->base.scope == SCOPE_ALL && !w->base.is_generic && !has_db(w->prof_dir);
    const bool wants_db = (w->want & WANT_DB) || leaves_db;
    if (wants_db && w->base.scope == SCOPE_ALL)
        add_job(w, JOB_DB);
    if (w->want & WANT_TIMELINE) {
        add_job(w, JOB_TIMELINE)->file = "msprof";
        for (size_t i = 0; i < prof_registry.n_tracks; i++) {
            const char *own = prof_registry.track[i].own_file;
            bool is_new = own != NULL;
            for (size_t k = 0; k < i && is_new; k++)
                is_new = !prof_registry.track[k].own_file || strcmp(prof_registry.track[k].own_file, own) != 0;
            if (is_new)
                add_job(w, JOB_TIMELINE)->file = own;
        }
    }
    for (size_t i = 0; i < prof_registry.n_reports && (w->want & WANT_SUMMARY); i++)
        add_job(w, JOB_REPORT)->report = &prof_registry.report[i];
}

/* The facts of ascope's recorder: version, accuracy of the clocks, losses. */
static void readme_recording(struct out *o, const struct result *out)
{
    const struct recording_facts facts = recording_facts(&out->profile.collector, out->account.mem);
    if (facts.list.n == 0)
        return;
    out_lit(o, "The recording, as recorded by ascope\n");
    for (size_t i = 0; i < facts.list.n; i++) {
        char line[256];
        const int len = snprintf(line, sizeof line, "%s: %s\n", facts.list.at[i].name, facts.list.at[i].value);
        out_bytes(o, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
    }
    out_char(o, '\n');
}

/* README.txt: describes each file that this export wrote. */
static bool write_readme(struct prof_write_writing *w, struct result *out, struct error *e)
{
    const char *path = arena_printf(out->account.mem, "%s/README.txt", w->dir);
    static const struct {
        const char *ending, *heading;
    } part[] = { { ".json", "Timelines and JSON tables" }, { ".csv", "Tables" } };
    struct out o;
    if (!path)
        return error_no_memory(e, w->dir);
    if (!out_open(&o, path, e))
        return false;
    if (source_is_simulated(profile_main_source(&out->profile)))
        out_lit(&o, "The data is simulated; no such device was used.\n\n");
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        size_t n = 0;
        for (size_t i = 0; i < out->account.files.n; i++) {
            const struct written *f = &out->account.files.at[i];
            const char *name = strrchr(f->path, '/') + 1, *ending = strrchr(name, '.');
            if (strcmp(strcmp(ending, ".gz") == 0 ? ".json" : ending, part[k].ending) != 0)
                continue;
            char line[512];
            const int len = n++ == 0 ? snprintf(line, sizeof line, "%s\n1. %s: %s\n", part[k].heading, name, f->about)
                                     : snprintf(line, sizeof line, "%zu. %s: %s\n", n, name, f->about);
            out_bytes(&o, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
        }
        if (n > 0)
            out_char(&o, '\n');
    }
    readme_recording(&o, out);
    return out_close(&o, e);
}

/* Reports streams and format versions that this version does not know. */
static void note_unknown(struct result *out)
{
    const struct profile *p = &out->profile;
    const char *version = NULL;
    if (p->lost.by[LOSS_UNREAD].n > 0)
        account_problem(&out->account,
                        arena_printf(out->account.mem,
                                     "%s: platform %d (%s): not read by this version: %s; everything else is "
                                     "exported",
                                     p->path, p->platform, p->chip->product, p->lost.by[LOSS_UNREAD].file));
    for (size_t d = 0; d < p->n_devices && !version; d++) {
        const char *reported = p->device[d].source.settings.version;
        if (*reported && strcmp(reported, "1.0") != 0 && strcmp(reported, "2.0") != 0)
            version = reported;
    }
    if (version)
        account_problem(
            &out->account,
            arena_printf(out->account.mem,
                         "%s: collected in version %.20s of the format; only 1.0 and 2.0 are known; reading it as 1.0",
                         p->path, version));
}

static bool write_locked(struct prof_write_writing *w, struct result *out, struct error *e)
{
    leftovers_sweep(w->dir);
    leftovers_sweep(w->prof_dir);
    plan(w);
    pool_run(w->n_jobs, w->options->n_threads, run_job, w);
    size_t n_written = 0;
    for (size_t i = 0; i < w->n_jobs; i++) {
        struct prof_write_job *j = &w->job[i];
        n_written += j->n_written;
        for (size_t k = 0; k < j->files.n; k++) {
            const char *path = arena_text(out->account.mem, j->files.at[k].path, strlen(j->files.at[k].path));
            struct written *f = path ? list_add(&out->account.files, out->account.mem) : NULL;
            if (!f) {
                error_no_memory(&j->error, j->files.at[k].path);
                break;
            }
            *f = j->files.at[k];
            f->path = path;
        }
        if (j->error.fault != FAULT_NONE) {
            account_problem(&out->account, j->error.text);
            error_set(e, j->error.fault, "%s", j->error.text);
        }
        arena_free(j->mem);
    }
    if (n_written == 0) {
        inside_remove(w->dir, AT_REMOVEDIR); /* only if nothing else is in it */
        return error_set(e, FAULT_ASKED, "%s: nothing to export for this request", out->profile.path);
    }
    struct error readme = { 0 };
    if ((w->want & (WANT_TIMELINE | WANT_SUMMARY)) && !write_readme(w, out, &readme))
        account_problem(&out->account, readme.text);
    return true;
}

static bool prof_write_write_all(const struct output_options *options, unsigned want, struct result *out,
                                 struct error *e)
{
    struct prof_write_writing w = {
        .options = options,
        .want = want,
        .base = { .profile = &out->profile, .registry = &prof_registry, .options = options },
        .job = arena_take(out->account.mem, 2 + 2 * prof_registry.n_tracks + prof_registry.n_reports, sizeof *w.job)
    };
    const char *name = strrchr(out->profile.path, '/');
    name = name ? name + 1 : out->profile.path;
    w.prof_dir = options->out_dir ? arena_printf(out->account.mem, "%s/%s", options->out_dir, name) : out->profile.path;
    w.dir = arena_printf(out->account.mem, "%s/mindstudio_profiler_output", w.prof_dir);
    char stamp[32];
    const time_t now = time(NULL);
    struct tm local;
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", localtime_r(&now, &local));
    w.stamp = options->stamp ? options->stamp : stamp;
    if (!w.job || !w.prof_dir || !w.dir)
        return error_no_memory(e, out->profile.path);
    if (!scope_resolve(&w.base, e))
        return false;
    if (options->out_dir && (!outdir_make(options->out_dir, e) || !outdir_make_inside(w.prof_dir, e)))
        return false;
    const int lock = outdir_lock(w.dir, OUTDIR_PATIENCE_MS, e); /* also protects the database in the directory above */
    if (lock < 0)
        return false;
    const bool done = write_locked(&w, out, e) && outdir_settle(w.dir, e) && outdir_settle(w.prof_dir, e);
    close(lock);
    return done;
}

/* Removes the intermediate databases of the reference (--clear). */
static void clear_folder(struct result *out, const struct source *s)
{
    const char *path = arena_printf(out->account.mem, "%s/sqlite", s->path);
    DIR *d = path ? inside_list(path) : NULL;
    if (!d) {
        if (path && (errno == ENOTDIR || errno == ELOOP))
            account_problem(&out->account, arena_printf(out->account.mem,
                                                        "%s: not removed: it is not a folder, or it is a link", path));
        return;
    }
    int why;
    for (const char *name; (name = dir_next(d, &why));)
        if (name[0] != '.')
            unlinkat(dirfd(d), name, 0);
    closedir(d);
    if (inside_remove(path, AT_REMOVEDIR) != 0)
        account_problem(&out->account,
                        arena_printf(out->account.mem, "%s: cannot be removed: %s", path, write_trouble(errno)));
}

void result_clear(struct result *out)
{
    if (profile_has_host(&out->profile))
        clear_folder(out, &out->profile.host.source);
    for (size_t i = 0; i < out->profile.n_devices; i++)
        clear_folder(out, &out->profile.device[i].source);
}

bool prof_load(const char *prof_path, unsigned without, unsigned n_threads, struct progress *progress,
               struct result *out, struct error *e)
{
    *out = (struct result){ .account.mem = arena_new() };
    if (!out->account.mem)
        return error_no_memory(e, prof_path);
    const double start = account_clock_s();
    struct profile *p = &out->profile;
    progress_stage(progress, "reading", 0, STAGE_READ, raw_bytes(prof_path));
    if (!profile_load_without(p, prof_path, without, n_threads, e) ||
        (!p->collector.is_there && (!collector_load_above(&p->collector, p->path, p->mem, &p->lost, e) ||
                                    !seal_load(&p->collector, p->path, SEAL_PART, n_threads, p->mem, &p->lost, e))))
        return false;
    const double loaded = account_clock_s();
    progress_stage(progress, "analysing", STAGE_READ, STAGE_ANALYSED, profile_analyse_steps(p));
    if (!profile_analyse(p, n_threads, e))
        return false;
    note_unknown(out);
    out->account.load_s = loaded - start;
    out->account.analyse_s = account_clock_s() - loaded;
    return true;
}

bool prof_export(const char *prof_path, const struct output_options *options, struct progress *progress,
                 struct result *out, struct error *e)
{
    const unsigned want = options->want ? options->want : WANT_ALL;
    const uint64_t bytes = raw_bytes(prof_path);
    struct output_options sized = *options;
    sized.n_threads = stage_threads(bytes, options->n_threads);
    if (!prof_load(prof_path, 0, sized.n_threads, progress, out, e))
        return false;
    const double analysed = account_clock_s();
    progress_stage(progress, "writing", STAGE_ANALYSED, 1,
                   stage_output_bytes(bytes, want & WANT_TIMELINE, want & WANT_SUMMARY, want & WANT_DB));
    const bool done = prof_write_write_all(&sized, want, out, e);
    if (done && options->clears)
        result_clear(out);
    out->account.write_s = account_clock_s() - analysed;
    return done;
}

void result_free(struct result *r)
{
    profile_free(&r->profile);
    arena_free(r->account.mem);
    *r = (struct result){ 0 };
}
