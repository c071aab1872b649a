/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/rank_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/framework/collection_analyse.h"
#include "base/file.h"
#include "base/leftover.h"
#include "base/outdir.h"
#include "cluster/rank_db.h"
#include "cluster/rank_summarise.h"
#include "cluster/summary_file.h"
#include "export/framework/analysis_db.h"
#include "export/framework/kernel_details.h"
#include "load/prof.h"
#include "pipeline/analyze.h"
#include "pipeline/collection_write.h"
#include "pipeline/framework_outputs.h"
#include "pipeline/prof_write.h"

enum { CODE_OF_LOSSES = 3 };

/* Makes a directory for temporary databases: beside the results, or in that for temporary files. */
static bool scratch_make(struct leftover *l, const char *beside, struct error *e)
{
    char place[4096];
    const char *temporary = getenv("TMPDIR");
    const char *const dir[] = { beside, temporary && *temporary ? temporary : "/tmp" };
    for (size_t i = 0; i < sizeof dir / sizeof *dir; i++) {
        const int n = snprintf(place, sizeof place, "%s/ascope_rank", dir[i]);
        if (n <= 0 || (size_t)n >= sizeof place)
            continue;
        leftovers_sweep_of(place);
        if (leftover_dir(l, place) == 0)
            return true;
    }
    return error_set(e, FAULT_IO, "%s: cannot create temporary databases: %s", beside, write_trouble(errno));
}

static bool write_database(const struct collection *s, const struct output_options *options, const char *path,
                           bool (*write)(const struct collection_export *x, const char *path, uint64_t *n_rows,
                                         struct error *e),
                           const char **written, struct error *e)
{
    struct arena *scratch = path ? arena_new() : NULL;
    uint64_t n_rows = 0;
    if (!scratch)
        return error_no_memory(e, s->path);
    const struct collection_export x = collection_export_of(s, options, scratch);
    bool done = write(&x, path, &n_rows, e);
    if (done && (arena_failed(scratch) || names_failed(s->profile.names)))
        done = error_no_memory(e, s->path);
    arena_free(scratch);
    if (done && n_rows > 0)
        *written = path;
    return done;
}

/* Writes the databases of a collection to a directory. For MindSpore, too, steps and communication are written as
 * for PyTorch: its own database has no steps. */
static bool write_databases(const struct framework_kind *kind, const struct collection *s,
                            const struct output_options *options, const char *dir, struct job_rank *r,
                            struct arena *mem, struct error *e)
{
    const struct output_rows rows = framework_outputs(kind->id);
    for (size_t i = 0; i < rows.n; i++) {
        const struct framework_output *o = &rows.at[i];
        if (o->is_db && strstr(o->file, "%s") && (!o->is_wanted || o->is_wanted(s)) &&
            !write_database(s, options, arena_printf(mem, "%s/rank.db", dir), o->write, &r->db, e))
            return false;
    }
    return !collection_has_kernels(s) ||
           write_database(s, options, arena_printf(mem, "%s/comm.db", dir), analysis_db_write, &r->comm, e);
}

/* MindSpore's tables give every operator the type of a collective. Without types, sends and receives are recognised
 * by name. */
static void forget_types(struct rank *r)
{
    const struct {
        name_id *type;
        size_t n;
    } table[] = { { r->comm_time.type, r->comm_time.n },
                  { r->comm_bandwidth.type, r->comm_bandwidth.n },
                  { r->comm_matrix.type, r->comm_matrix.n } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t k = 0; k < table[i].n; k++)
            table[i].type[k] = NAME_EMPTY;
}

/* The rank of a collection that has been analysed. */
static bool rank_of_collection(const struct framework_kind *kind, const struct collection *s,
                               const struct output_options *options, unsigned parts, struct rank *out, struct error *e)
{
    struct leftover scratch = { 0 };
    struct job_rank r = { .path = s->path,
                          .framework = kind->id,
                          .rank = s->settings.has_rank ? s->settings.rank : -1 };
    if (!scratch_make(&scratch, options->out_dir ? options->out_dir : s->path, e))
        return false;
    const bool done =
        write_databases(kind, s, options, scratch.path, &r, out->mem, e) && rank_db_load(&r, parts, out, e);
    leftover_settle(&scratch, NULL);
    if (kind->id == FRAMEWORK_MINDSPORE)
        forget_types(out);
    out->identity.has_rank = s->settings.has_rank;
    out->identity.rank = s->settings.rank;
    out->identity.path = arena_text(out->mem, s->path, strlen(s->path));
    out->identity.is_simulated = s->settings.is_simulated;
    for (size_t i = 0; i < LOSS_KINDS; i++)
        out->identity.lost.by[i].n += s->lost.by[i].n;
    return done && (out->identity.path || error_no_memory(e, s->path));
}

/* Writes the communication database of `ascope communication`. */
static bool write_comm(const struct profile *p, const char *dir, struct job_rank *to, struct arena *mem,
                       struct error *e)
{
    const struct analyze_request request = { .is_db_only = true, .out_dir = dir };
    struct analyze_result r;
    if (!analyze_write(p, &request, mem, &r, e))
        return false;
    to->comm = r.n_files > 0 ? r.file[0].path : NULL;
    return true;
}

static bool load_prof(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e)
{
    struct leftover scratch = { 0 };
    struct result r = { 0 };
    struct job_rank from = { .path = path, .rank = -1 };
    if (!scratch_make(&scratch, path, e))
        return false;
    const struct output_options options = { .want = WANT_DB, .out_dir = scratch.path, .n_threads = 1 };
    bool done = prof_export(path, &options, NULL, &r, e);
    for (size_t i = 0; done && i < r.account.files.n; i++) /* the database is all that was asked for */
        from.db = arena_text(out->mem, r.account.files.at[i].path, strlen(r.account.files.at[i].path));
    if (parts & (RANK_COMM_TABLES | RANK_COMM_MATRIX))
        done = done && write_comm(&r.profile, scratch.path, &from, out->mem, e);
    done = done && rank_db_load(&from, parts, out, e);
    if (done)
        *exit_code = account_is_lossy(&r.account, &r.profile.lost) ? CODE_OF_LOSSES : 0;
    for (size_t i = 0; i < LOSS_KINDS; i++)
        out->identity.lost.by[i].n += r.profile.lost.by[i].n;
    result_free(&r);
    leftover_settle(&scratch, NULL);
    return done;
}

static bool load_collection(const struct framework_kind *kind, const char *path, const struct output_options *options,
                            struct collection *s, struct error *e)
{
    const struct collection_request request = { .n_threads = options->n_threads };
    if (!kind->load(s, path, &request, e) || !kind->analyse(s, options->n_threads, e))
        return false;
    collection_losses(s, &s->lost);
    return true;
}

static int code_of(const struct collection *s)
{
    return losses_damage(&s->lost) > 0 || s->device_error.fault != FAULT_NONE ? CODE_OF_LOSSES : 0;
}

bool rank_load(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e)
{
    const struct output_options options = { .n_threads = 1 };
    struct collection s = { 0 };
    int why;
    const struct framework_kind *kind = framework_kind_of(path, &why);
    if (!kind)
        return load_prof(path, parts, out, exit_code, e);
    const bool done =
        load_collection(kind, path, &options, &s, e) && rank_of_collection(kind, &s, &options, parts, out, e);
    *exit_code = code_of(&s);
    collection_free(&s);
    return done;
}

/* ---- summaries ---- */

const char *summary_path(const char *collection, const char *out_dir, int64_t rank, struct arena *mem)
{
    char name[SUMMARY_NAME];
    const char *slash = strrchr(collection, '/');
    summary_name(name, rank);
    return out_dir ? arena_printf(mem, "%s/%s/%s", out_dir, slash ? slash + 1 : collection, name)
                   : arena_printf(mem, "%s/%s", collection, name);
}

struct source_sum {
    uint64_t sum;
    size_t root_len;
};

/* FNV-1a. The hashes of all files are added, so that the order of a directory does not matter. */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    for (const unsigned char *p = data; n-- > 0; p++)
        h = (h ^ *p) * UINT64_C(0x100000001B3);
    return h;
}

static void add_source(void *context, const char *path, const struct stat *st)
{
    struct source_sum *s = context;
    const char *inside = path + s->root_len;
    if (!(strstr(inside, "/data/") || strstr(inside, "/FRAMEWORK/") || strstr(inside, "info") ||
          strstr(inside, "profiler_metadata") || strstr(inside, "sample.json") || strstr(inside, "start_log")) ||
        strstr(inside, "ASCEND_PROFILER_OUTPUT"))
        return;
    const int64_t fact[] = { st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec };
    s->sum += hash_bytes(hash_bytes(UINT64_C(0xCBF29CE484222325), inside, strlen(inside)), fact, sizeof fact);
}

uint64_t summary_source(const char *collection)
{
    struct source_sum s = { hash_bytes(UINT64_C(0xCBF29CE484222325), ASCOPE_VERSION, sizeof ASCOPE_VERSION),
                            strlen(collection) };
    dir_walk(collection, add_source, &s);
    return s.sum;
}

struct wanted {
    uint64_t source;
    bool is_current;
    int exit_code;
};

static bool look(void *context, const struct summary_header *h, uint64_t offset)
{
    struct wanted *w = context;
    w->is_current = offset == 0 && h->source == w->source;
    w->exit_code = (int)h->exit_code;
    return true;
}

bool summary_is_current(const char *path, uint64_t source, int *exit_code)
{
    struct wanted w = { .source = source };
    struct error unused = { 0 };
    if (!summary_walk(path, look, &w, &unused) || !w.is_current)
        return false;
    *exit_code = w.exit_code;
    return true;
}

static bool save(const struct rank *rank, int exit_code, uint64_t source, const char *collection, const char *path,
                 struct error *e)
{
    struct rank_summary s;
    return rank_summarise(rank, exit_code, &s, e) && summary_save(&s, job_stamp(collection), source, path, e);
}

bool summary_of_path(const char *collection, const struct output_options *options, uint64_t source, const char *path,
                     int *exit_code, struct error *e)
{
    struct rank rank = { .names = names_new(), .mem = arena_new() };
    struct collection s = { 0 };
    int why;
    const struct framework_kind *kind = framework_kind_of(collection, &why);
    bool done = (rank.names && rank.mem) || error_no_memory(e, collection);
    if (done && kind) {
        done = load_collection(kind, collection, options, &s, e) &&
               rank_of_collection(kind, &s, options, RANK_ALL, &rank, e);
        *exit_code = done ? code_of(&s) : 1;
    } else if (done) {
        done = load_prof(collection, RANK_ALL, &rank, exit_code, e);
    }
    done = done && save(&rank, *exit_code, source, collection, path, e);
    if (kind)
        collection_free(&s);
    names_free(rank.names);
    arena_free(rank.mem);
    return done;
}
