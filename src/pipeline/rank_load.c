/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/rank_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "base/files/file.h"
#include "cluster/job/rank_readers.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"
#include "export/comm/communication.h"
#include "export/framework/framework_files.h"
#include "export/msprof/prof_outputs.h"
#include "pipeline/collection_write.h"
#include "pipeline/prof_write.h"

enum { CODE_OF_LOSSES = 3 };

/* What no table of a rank is made of. */
enum { NOT_OF_A_RANK = PROFILE_COUNTED | PROFILE_SAMPLED | PROFILE_MEMORY };

/* The requests for the tables of what was analysed: of a collection of a framework, or of a PROF directory. Each call
 * has memory of its own. */
struct analysed {
    const struct framework_kind *kind; /* NULL: a PROF directory */
    const struct collection *collection;
    const struct profile *profile;
    const struct output_options *options;
};

/* Without a framework communication has no steps. */
static bool comm_tables(const struct export *x, struct db *db, struct error *e)
{
    struct collectives c;
    if (x->profile->is_level0 || !db_wants(db, "CommAnalyzerTime CommAnalyzerBandwidth CommAnalyzerMatrix"))
        return true;
    if (!collectives_find(&c, x->profile, x->mem))
        return error_no_memory(e, x->profile->path);
    return c.list.n == 0 || (costs_db(&c, NULL, db, e) && matrix_db(&c, db, e));
}

static bool write_prof(const struct analysed *a, struct arena *mem, struct db *db, struct error *e)
{
    const struct export x = prof_export_of(a->profile, a->options, mem);
    return device_db(&x, db, e) && about_db(&x, db, -1, e) && comm_tables(&x, db, e);
}

/* MindSpore's steps and communication are as PyTorch's: its own databases have communication without steps. */
static bool write_collection(const struct analysed *a, struct arena *mem, struct db *db, struct error *e)
{
    const struct collection_export x = collection_export_of(a->collection, a->options, mem);
    const bool has_kernels = collection_has_kernels(a->collection);
    if (a->kind->id == FRAMEWORK_MINDSPORE)
        return ms_tables(&x, db, e) && (!has_kernels || communication_tables(&x, db, e));
    return pytorch_tables(&x, db, e) && (!has_kernels || analysis_tables(&x, db, e));
}

static bool write_tables(void *context, struct db *db, struct error *e)
{
    const struct analysed *const a = context;
    struct arena *const mem = arena_new();
    bool done = mem && (a->kind ? write_collection : write_prof)(a, mem, db, e) && !arena_failed(mem);
    arena_free(mem);
    return done || error_no_memory(e, a->profile->path);
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
    struct analysed a = { kind, s, &s->profile, options };
    const struct table_source source = { write_tables, &a, s->profile.names };
    out->identity.framework = kind->id;
    const bool done = rank_tables_load(s->path, &source, parts, out, e);
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

static bool load_prof(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e)
{
    const struct output_options options = { .n_threads = 1 };
    struct result r = { 0 };
    struct analysed a = { NULL, NULL, &r.profile, &options };
    bool done = prof_load(path, NOT_OF_A_RANK, 1, NULL, &r, e);
    const struct table_source source = { write_tables, &a, r.profile.names };
    done = done && rank_tables_load(path, &source, parts, out, e);
    out->identity.path = arena_text(out->mem, path, strlen(path));
    done = done && (out->identity.path || error_no_memory(e, path));
    if (done)
        *exit_code = account_is_lossy(&r.account, &r.profile.lost) ? CODE_OF_LOSSES : 0;
    for (size_t i = 0; i < LOSS_KINDS; i++)
        out->identity.lost.by[i].n += r.profile.lost.by[i].n;
    result_free(&r);
    return done;
}

static bool load_collection(const struct framework_kind *kind, const char *path, const struct output_options *options,
                            struct collection *s, struct error *e)
{
    const struct collection_request request = { .without = NOT_OF_A_RANK, .n_threads = options->n_threads };
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

static bool rank_load_look(void *context, const struct summary_header *h, uint64_t offset)
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
    if (!summary_walk(path, rank_load_look, &w, &unused) || !w.is_current)
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
