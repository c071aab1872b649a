/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <string.h>

#include "analyse/framework/steps/step_times.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "export/msprof/prof_outputs.h"
#include "raw/host_records.h"
#include "raw/nccl_names.h"

/* The time of each step on the devices, as the reference computes it for this database: from the begin of the first to
 * the end of the last task that a node call inside the step has launched, and at least to the end of the step on the
 * host. (Text tables use another rule: see analyse/framework/collection_analyse.c.) */
struct step_ranges {
    size_t n;
    int64_t *begin_ns, *end_ns;
};

/* step[i] is the step that contains the whole of call i, or NO_ROW. Steps do not overlap on the host. NULL: no
 * memory. */
static uint32_t *steps_of_calls(const struct collection *s, struct arena *mem)
{
    const struct calls *c = &s->profile.host.calls;
    const struct profiler_steps *t = &s->steps;
    uint32_t *step = arena_take(mem, c->n, sizeof *step);
    for (size_t i = 0; step && i < c->n; i++) {
        step[i] = NO_ROW;
        if (c->level[i] != LEVEL_NODE || !c->is_shown[i])
            continue;
        const int64_t begin_ns = source_host_ns(&s->profile.host.source, c->begin[i]);
        const size_t later = SEARCH_FIRST_NOT(k, 0, t->n, t->host_begin_ns[k] <= begin_ns);
        if (later > 0 && source_host_ns(&s->profile.host.source, c->end[i]) <= t->host_end_ns[later - 1])
            step[i] = (uint32_t)later - 1;
    }
    return step;
}

struct widening {
    struct step_ranges *ranges;
    const struct collection *s;
    const uint32_t *step; /* of calls */
    bool *has_task;       /* by step */
};

static void widen(struct widening *w, uint32_t host_task, int64_t begin_ns, int64_t end_ns)
{
    const struct profile *p = &w->s->profile;
    const uint32_t connection = host_task == NO_ROW ? 0 : p->host.tasks.connection[host_task];
    const uint32_t step = connection == 0 || connection > p->host.calls.n ? NO_ROW : w->step[connection - 1];
    if (step == NO_ROW)
        return;
    if (!w->has_task[step] || begin_ns < w->ranges->begin_ns[step])
        w->ranges->begin_ns[step] = begin_ns;
    if (end_ns > w->ranges->end_ns[step])
        w->ranges->end_ns[step] = end_ns;
    w->has_task[step] = true;
}

static bool find_ranges(struct step_ranges *out, const struct collection *s, struct arena *mem)
{
    const struct profiler_steps *t = &s->steps;
    *out = (struct step_ranges){ .n = t->n,
                                 .begin_ns = arena_take(mem, t->n, sizeof *out->begin_ns),
                                 .end_ns = arena_take(mem, t->n, sizeof *out->end_ns) };
    struct widening w = { out, s, steps_of_calls(s, mem), arena_take(mem, t->n, sizeof *w.has_task) };
    if (!out->begin_ns || !out->end_ns || !w.step || !w.has_task)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        out->begin_ns[i] = t->host_begin_ns[i];
        out->end_ns[i] = t->host_end_ns[i];
    }
    for (size_t d = 0; d < s->profile.n_devices; d++) {
        const struct device *device = &s->profile.device[d];
        const struct tasks *tasks = &device->tasks;
        for (size_t i = 0; i < tasks->n; i++)
            widen(&w, tasks->host[i], tasks->begin_ns[i], tasks->end_ns[i]);
        for (size_t i = 0; i < device->log.copies.n; i++)
            widen(&w, device->log.copies.host[i], source_device_ns(&device->source, device->log.copies.begin[i]),
                  source_device_ns(&device->source, device->log.copies.end[i]));
    }
    return true;
}

static bool is_nccl(const struct collection *s, uint32_t host_task)
{
    const uint32_t op = s->profile.host.tasks.op[host_task];
    return s->profile.chip->task_log == TASK_LOG_CUDA && op != NO_ROW &&
           nccl_is_kernel(names_text(s->profile.names, s->profile.host.ops.name[op]));
}

/* The tasks that are in COMPUTE_TASK_INFO, without collectives of GPUs. */
static bool find_compute(struct device_work *w, const struct collection *s, const struct device *d,
                         const bool *is_compute, struct arena *mem)
{
    const struct tasks *t = &d->tasks;
    int64_t *begin_ns = arena_take(mem, t->n, sizeof *begin_ns), *end_ns = arena_take(mem, t->n, sizeof *end_ns);
    if (!begin_ns || !end_ns)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->global_id[i] < s->profile.n_global_ids && is_compute[t->global_id[i]]) {
            begin_ns[n] = t->begin_ns[i];
            end_ns[n++] = t->end_ns[i];
        }
    w->compute.n = n;
    w->compute.begin_ns = begin_ns;
    w->compute.end_ns = end_ns;
    return true;
}

static bool find_comm(struct device_work *w, const struct collection *s, const struct device *d, struct arena *mem)
{
    static const char receive[] = "hcom_receive";
    const struct comm_ops *o = &d->comm.ops;
    uint32_t *row = arena_take(mem, o->n, sizeof *row);
    uint64_t *key = arena_take(mem, o->n, sizeof *key);
    int64_t *begin_ns = arena_take(mem, o->n, sizeof *begin_ns), *end_ns = arena_take(mem, o->n, sizeof *end_ns);
    bool *is_receive = arena_take(mem, o->n, sizeof *is_receive);
    if (arena_failed(mem))
        return false;
    size_t n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        key[i] = (uint64_t)o->begin_ns[i] ^ UINT64_C(1) << 63;
        if (o->is_shown[i])
            row[n++] = i;
    }
    if (!order_by_u64(row, n, key))
        return false;
    for (size_t i = 0; i < n; i++) {
        begin_ns[i] = o->begin_ns[row[i]];
        end_ns[i] = o->end_ns[row[i]];
        is_receive[i] = strncmp(names_text(s->profile.names, o->name[row[i]]), receive, sizeof receive - 1) == 0;
    }
    w->comm.n = n;
    w->comm.begin_ns = begin_ns;
    w->comm.end_ns = end_ns;
    w->is_receive = is_receive;
    return true;
}

static void analysis_db_add_row(struct grid *g, const struct device *d, struct cell step, const struct step_time *t,
                                int64_t host_begin_ns)
{
    const int64_t ns[] = { t->computing_ns,
                           t->exposed_ns,
                           wrap_sub(t->communication_ns, t->exposed_ns),
                           t->communication_ns,
                           t->free_ns,
                           t->stage_ns,
                           t->bubble_ns,
                           t->exposed_ns > t->bubble_ns ? wrap_sub(t->exposed_ns, t->bubble_ns) : 0,
                           t->has_any ? wrap_sub(t->first_ns, host_begin_ns) : 0 };
    struct cell cells[2 + sizeof ns / sizeof *ns] = { cell_uint(d->source.device), step };
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        cells[2 + i] = cell_real((double)ns[i] / 1000);
    grid_row(g, cells);
}

/* Without steps the whole collection is one step; its preparation begins with the first operator of the host. */
static void add_whole(struct grid *g, const struct collection *s, const struct device *d, const struct device_work *w)
{
    const struct framework_ops *o = &s->framework.ops;
    const struct step_time t = step_time_of(w, INT64_MIN, INT64_MAX);
    int64_t first_ns = o->n > 0 ? o->begin_ns[0] : t.first_ns;
    for (size_t i = 1; i < o->n; i++)
        if (o->begin_ns[i] < first_ns)
            first_ns = o->begin_ns[i];
    analysis_db_add_row(g, d, cell_na(), &t, first_ns);
}

bool step_times_db(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "deviceId", "INTEGER", NULL },   { "step", "TEXT", NULL },
        { "computing", "NUMERIC", NULL },  { "communication_not_overlapped", "NUMERIC", NULL },
        { "overlapped", "NUMERIC", NULL }, { "communication", "NUMERIC", NULL },
        { "free", "NUMERIC", NULL },       { "stage", "NUMERIC", NULL },
        { "bubble", "NUMERIC", NULL },     { "communication_not_overlapped_and_exclude_receive", "NUMERIC", NULL },
        { "preparing", "NUMERIC", NULL },
    };
    const struct collection *s = x->collection;
    const struct host_tasks *h = &s->profile.host.tasks;
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    struct step_ranges ranges;
    size_t n;
    const uint32_t *compute = op_task_rows(&s->profile, false, x->mem, &n);
    bool *is_compute = arena_take(x->mem, s->profile.n_global_ids, sizeof *is_compute);
    bool done = compute && is_compute && find_ranges(&ranges, s, x->mem);
    for (size_t i = 0; done && i < n; i++)
        is_compute[h->global_id[compute[i]]] = !is_nccl(s, compute[i]);
    for (size_t k = 0; done && k < s->profile.n_devices; k++) {
        const struct device *d = &s->profile.device[k];
        struct device_work w;
        done = find_compute(&w, s, d, is_compute, x->mem) && find_comm(&w, s, d, x->mem);
        if (!done || w.compute.n + w.comm.n == 0)
            continue;
        for (size_t i = 0; i < ranges.n; i++) {
            if (!collection_shows_step(x, i))
                continue;
            const struct step_time t = step_time_of(&w, ranges.begin_ns[i], ranges.end_ns[i]);
            analysis_db_add_row(&g, d, cell_name(s->steps.id[i]), &t, s->steps.host_begin_ns[i]);
        }
        if (ranges.n == 0)
            add_whole(&g, s, d, &w);
    }
    if (!done)
        return error_no_memory(e, "StepTraceTime");
    return grid_db(db, "StepTraceTime", column, &g, e);
}

bool communication_tables(const struct collection_export *x, struct db *db, struct error *e)
{
    return !db_wants(db, "CommAnalyzerTime CommAnalyzerBandwidth CommAnalyzerMatrix") ||
           communication_json_db(x, db, e);
}

bool analysis_tables(const struct collection_export *x, struct db *db, struct error *e)
{
    return (!db_wants(db, "StepTraceTime") || step_times_db(x, db, e)) && communication_tables(x, db, e) &&
           (!arena_failed(x->mem) || error_no_memory(e, x->collection->path));
}

bool analysis_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    struct db *db = db_open(path, x->collection->profile.names, e);
    if (!db)
        return false;
    if (!analysis_tables(x, db, e)) {
        db_discard(db);
        return error_no_memory(e, path);
    }
    *n_rows = db_rows(db);
    if (*n_rows > 0)
        return db_close(db, e);
    db_discard(db);
    return true;
}
