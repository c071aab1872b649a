/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include "analyse/device/device_analysis.h"
#include "export/samplers/counter_tracks.h"
#include "export/scope.h"

/* The analysis has the overlap of the whole collection; that of a part is computed here. NULL: no memory. */
static const struct overlap *overlap_of(const struct export *x, const struct device *d)
{
    if (x->scope == SCOPE_ALL)
        return &d->overlap;
    bool *task = arena_take(x->mem, d->tasks.n, sizeof *task), *op = arena_take(x->mem, d->tasks.n, sizeof *op);
    bool *comm = arena_take(x->mem, d->comm.ops.n, sizeof *comm);
    struct overlap *part = arena_take(x->mem, 1, sizeof *part);
    if (!task || !op || !comm || !part)
        return NULL;
    for (size_t i = 0; i < d->tasks.n; i++) {
        task[i] = scope_has_task(x, &d->tasks, i);
        op[i] = task[i] && scope_task_host(x, &d->tasks, i) != NO_ROW;
    }
    for (size_t i = 0; i < d->comm.ops.n; i++)
        comm[i] = scope_has_collective(x, d, i);
    return overlap_build(x->profile, d, &(struct overlap_part){ task, op, comm, false }, x->mem, part) ? part : NULL;
}

bool overlap_track(const struct export *x, struct trace *t, struct error *e)
{
    enum { OVERLAP_SORT = 31 };
    static const char *const name[] = { "Computing", "Communication", "Communication(Not Overlapped)", "Free" };
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        const struct overlap *o = overlap_of(x, d);
        if (!o)
            return error_no_memory(e, "the overlap of the timeline");
        const unsigned sort = x->is_generic ? counter_sort(x, d, "Overlap Analysis") : OVERLAP_SORT;
        const uint32_t pid = trace_pid(d->source.pid, sort, d->source.device);
        if (d->tasks.n == 0)
            continue;
        trace_process_npu(t, pid, "Overlap Analysis", d->source.device, sort);
        for (int kind = 0; kind < OVERLAP_KINDS; kind++) {
            trace_thread(t, pid, kind, name[kind], kind);
            for (size_t i = 0; i < o->kind[kind].n; i++) {
                const int64_t begin = o->kind[kind].begin_ns[i], end = o->kind[kind].end_ns[i];
                trace_slice(t, name[kind], strlen(name[kind]), pid, kind, begin, (double)(end - begin));
                trace_end_without_args(t, x->is_generic);
            }
        }
    }
    return true;
}

struct overlap_rows {
    const struct intervals *v;
    uint64_t first;
    unsigned device;
    int kind;
};

CELL_GETTER(overlap_id, struct overlap_rows, cell_uint(r->first + i))
CELL_GETTER(overlap_device, struct overlap_rows, cell_uint(r->device))
CELL_GETTER(overlap_begin, struct overlap_rows, cell_int(r->v->begin_ns[i]))
CELL_GETTER(overlap_end, struct overlap_rows, cell_int(r->v->end_ns[i]))
CELL_GETTER(overlap_type, struct overlap_rows, cell_int(r->kind))

bool overlap_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "id", "INTEGER PRIMARY KEY", overlap_id }, { "deviceId", "INTEGER", overlap_device },
        { "startNs", "NUMERIC", overlap_begin },     { "endNs", "NUMERIC", overlap_end },
        { "type", "INTEGER", overlap_type },
    };
    uint64_t first = 0;
    for (size_t k = 0; k < x->profile->n_devices; k++)
        for (int kind = 0; kind < OVERLAP_KINDS; kind++) {
            const struct device *d = &x->profile->device[k];
            const struct overlap_rows rows = { &d->overlap.kind[kind], first, d->source.device, kind };
            const struct db_table t = {
                .name = "OVERLAP_ANALYSIS", TABLE_COLUMNS(column), .n_rows = rows.v->n, .rows = &rows
            };
            if (!db_table(db, &t, e))
                return false;
            first += rows.v->n;
        }
    return true;
}
