#include "export/analyze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sort.h"
#include "export/analyze_rows.h"

/* Devices as the reference goes through their folders: those with the same collective overrule each other, and the last one
 * stands. */
static int by_name_backwards(const void *a, const void *b)
{
    const struct device *const *x = a, *const *y = b;
    return strcmp((*y)->source.name, (*x)->source.name);
}

/* Tasks of a device as the reference lists them: by begin, and those of the AI CPUs behind the others, as they ended. */
static uint32_t *order_tasks(const struct device *d, struct arena *mem)
{
    const struct comm_tasks *t = &d->comm.tasks;
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    uint64_t *when = arena_take(mem, t->n, sizeof *when);
    if (!order || !when)
        return NULL;
    for (size_t i = 0; i < t->n; i++)
        when[i] = t->is_aicpu[i] ? d->tasks.end_tick[t->task_row[i]] : 0;
    order_fill(order, t->n);
    return order_by_u64(order, t->n, when) ? order : NULL;
}

/* The events of all devices, by collective; collectives in the order of their first events. */
static bool gather(const struct profile *p, struct arena *mem, struct collectives *out)
{
    const struct device **device = arena_take(mem, p->n_devices, sizeof *device);
    size_t n = 0;
    for (size_t k = 0; device && k < p->n_devices; k++) {
        device[k] = &p->device[k];
        n += p->device[k].comm.tasks.n;
    }
    struct comm_event *event = arena_take(mem, n, sizeof *event);
    uint32_t *of = arena_take(mem, n, sizeof *of), *order = arena_take(mem, n, sizeof *order);
    struct keys seen = { 0 };
    out->event = arena_take(mem, n, sizeof *out->event);
    if (!device || !event || !of || !order || !out->event)
        return false;
    qsort(device, p->n_devices, sizeof *device, by_name_backwards);
    n = 0;
    for (size_t k = 0; k < p->n_devices; k++) {
        const struct communication *c = &device[k]->comm;
        const uint32_t *row = order_tasks(device[k], mem);
        if (!row)
            return false;
        for (size_t i = 0; i < c->tasks.n; i++, n++) {
            const uint32_t op = c->tasks.op[row[i]];
            of[n] = keys_add(&seen, (uint64_t)c->ops.name[op] << 32 | c->ops.group_id[op], mem);
            event[n] = (struct comm_event){ device[k], row[i] };
            struct collective *new = of[n] == out->list.n ? list_add(&out->list, mem) : &out->list.at[of[n]];
            if (of[n] == KEYS_NO_MEMORY || !new)
                return false;
            if (new->device != device[k])
                *new = (struct collective){ c->ops.name[op], c->ops.group_id[op], device[k], 0, new->n_all, 0 };
            new->n_own++;
            new->n_all++;
        }
    }
    order_fill(order, n);
    if (!order_by_u32(order, n, of))
        return false;
    for (size_t i = 0; i < n; i++)
        out->event[i] = event[order[i]];
    for (size_t i = 0, first = 0; i < out->list.n; first += out->list.at[i++].n_all) {
        out->list.at[i].first = first;
        out->most_events = out->list.at[i].n_all > out->most_events ? out->list.at[i].n_all : out->most_events;
    }
    return true;
}

static bool note_file(struct analyze_result *out, const char *path, const char *about, uint64_t rows, struct error *e)
{
    struct stat st = { 0 };
    const bool found = stat(path, &st) == 0;
    if (!found)
        error_set(e, FAULT_IO, "%s: was written, but cannot be found: %s", path, write_trouble(errno));
    out->file[out->n_files++] = (struct written){ path, about, rows, (uint64_t)st.st_size, false };
    return found;
}

static bool write_json(const char *dir, struct collectives *c, bool is_matrix, struct arena *mem,
                       struct analyze_result *out, struct error *e)
{
    const char *path = arena_printf(mem, "%s/communication%s.json", dir, is_matrix ? "_matrix" : "");
    struct out o;
    if (!path)
        return error_set(e, FAULT_LIMIT, "%s: no memory", dir);
    if (!out_open(&o, path, e))
        return false;
    const bool done = is_matrix ? matrix_json(c, &o) : costs_json(c, &o, &out->n_untimed);
    if (!done) {
        out_discard(&o);
        return error_set(e, FAULT_LIMIT, "%s: no memory for the cost of communication", path);
    }
    if (!out_close(&o, e))
        return false;
    return note_file(out, path,
                     is_matrix ? "how much each collective moved between which ranks"
                               : "time of each collective, and how much it moved over which kind of link",
                     c->list.n, e);
}

static bool write_db(const char *dir, struct collectives *c, struct arena *mem, struct analyze_result *out,
                     struct error *e)
{
    const char *path = arena_printf(mem, "%s/communication_analyzer.db", dir);
    if (!path)
        return error_set(e, FAULT_LIMIT, "%s: no memory", dir);
    struct db *db = db_open(path, c->names, e);
    if (!db)
        return false;
    if (!costs_db(c, db, e) || !matrix_db(c, db, e)) {
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
        error_set(e, FAULT_LIMIT, "%s: no memory", p->path);
    else if ((r->out_dir && (!out_make_dir(r->out_dir, e) || !out_make_dir(prof, e))) || !out_make_dir(dir, e))
        dir = NULL;
    return dir;
}

bool analyze_write(const struct profile *p, const struct analyze_request *r, struct arena *mem,
                   struct analyze_result *out, struct error *e)
{
    struct arena *scratch = arena_new();
    struct collectives c = { .names = p->names, .mem = scratch };
    bool done = scratch && gather(p, scratch, &c) && collectives_ready(&c, p);
    *out = (struct analyze_result){ 0 };
    if (!done)
        error_set(e, FAULT_LIMIT, "%s: no memory for the cost of communication", p->path);
    else if (p->is_level0)
        out->why_nothing = "a level 0 collection says nothing about what communication moved";
    else if (c.list.n == 0)
        out->why_nothing = "no collective was recorded";
    const char *dir = done && !out->why_nothing ? make_dirs(p, r, mem, e) : NULL;
    if (dir) {
        leftovers_sweep(dir);
        for (int is_matrix = 0; is_matrix < 2 && done && !r->is_db_only; is_matrix++)
            if (r->rules & (is_matrix ? RULE_MATRIX : RULE_COMMUNICATION))
                done = write_json(dir, &c, is_matrix, mem, out, e);
        done = done && write_db(dir, &c, mem, out, e);
    }
    arena_free(scratch);
    return done && (dir || out->why_nothing);
}
