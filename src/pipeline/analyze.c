/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/analyze.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/outdir.h"
#include "export/comm/communication.h"

static bool note_file(struct analyze_result *out, const char *path, const char *about, uint64_t rows, struct error *e)
{
    struct stat st = { 0 };
    const bool found = inside_stat(path, &st) == 0;
    if (!found)
        error_set(e, FAULT_IO, "%s: missing after it was written: %s", path, write_trouble(errno));
    out->file[out->n_files++] = (struct written){ path, about, rows, (uint64_t)st.st_size, false };
    return found;
}

static bool write_json(const char *dir, struct collectives *c, bool is_matrix, struct arena *mem,
                       struct analyze_result *out, struct error *e)
{
    const char *path = arena_printf(mem, "%s/communication%s.json", dir, is_matrix ? "_matrix" : "");
    struct out o;
    if (!path)
        return error_no_memory(e, dir);
    if (!out_open(&o, path, e))
        return false;
    const bool done = is_matrix ? matrix_json(c, &o) : costs_json(c, &o, &out->n_untimed);
    if (!done) {
        out_discard(&o);
        return error_no_memory(e, path);
    }
    if (!out_close(&o, e))
        return false;
    return note_file(out, path,
                     is_matrix ? "bytes of each collective by pair of ranks"
                               : "time of each collective, and bytes by kind of link",
                     c->list.n, e);
}

static bool write_db(const char *dir, struct collectives *c, struct arena *mem, struct analyze_result *out,
                     struct error *e)
{
    const char *path = arena_printf(mem, "%s/communication_analyzer.db", dir);
    if (!path)
        return error_no_memory(e, dir);
    struct db *db = db_open(path, c->names, e);
    if (!db)
        return false;
    if (!costs_db(c, NULL, db, e) || !matrix_db(c, db, e)) {
        db_discard(db);
        return false;
    }
    const uint64_t rows = db_rows(db);
    if (!db_close(db, e))
        return false;
    return note_file(out, path, "the same as tables", rows, e);
}

static const char *make_dirs(const struct profile *p, const struct analyze_request *r, struct arena *mem,
                             struct error *e)
{
    const char *slash = strrchr(p->path, '/'), *name = slash ? slash + 1 : p->path;
    const char *prof = r->out_dir ? arena_printf(mem, "%s/%s", r->out_dir, name) : p->path;
    const char *dir = prof ? arena_printf(mem, "%s/analyze", prof) : NULL;
    if (!dir)
        error_no_memory(e, p->path);
    else if (r->out_dir && (!outdir_make(r->out_dir, e) || !outdir_make_inside(prof, e)))
        dir = NULL;
    return dir;
}

bool analyze_write(const struct profile *p, const struct analyze_request *r, struct arena *mem,
                   struct analyze_result *out, struct error *e)
{
    struct arena *scratch = arena_new();
    struct collectives c;
    bool done = scratch && collectives_find(&c, p, scratch);
    *out = (struct analyze_result){ 0 };
    if (!done)
        error_no_memory(e, p->path);
    else if (p->is_level0)
        out->why_nothing = "a level 0 collection has no communication data";
    else if (c.list.n == 0)
        out->why_nothing = "no collective was recorded";
    const char *dir = done && !out->why_nothing ? make_dirs(p, r, mem, e) : NULL;
    const int lock = dir ? outdir_lock(dir, OUTDIR_PATIENCE_MS, e) : -1;
    if (lock >= 0) {
        leftovers_sweep(dir);
        for (int is_matrix = 0; is_matrix < 2 && done && !r->is_db_only; is_matrix++)
            if (r->rules & (is_matrix ? RULE_MATRIX : RULE_COMMUNICATION))
                done = write_json(dir, &c, is_matrix, mem, out, e);
        done = done && write_db(dir, &c, mem, out, e) && outdir_settle(dir, e);
        close(lock);
    }
    arena_free(scratch);
    return done && (lock >= 0 || out->why_nothing);
}
