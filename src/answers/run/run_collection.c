/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_collection.h"

#include <stdio.h>
#include <string.h>

#include "analyse/device/device_analysis.h"
#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/step_bounds.h"
#include "analyse/framework/steps/step_series.h"
#include "answers/run/kernel_class.h"

struct source_run {
    struct measuring m;
    const struct profile *p;
    const struct device *d;
    const struct collection *collection;
    struct step_series steps;
    name_id *name_of; /* by name in the profile: the name in m.names + 1; 0: not looked up yet */
    size_t n_names;
    struct work_launches launches; /* NULL: of a PROF directory */
    uint32_t *op_of_task;          /* row of framework_ops that launched a task of the device; NO_ROW; NULL: unknown */
};

static name_id name_of(struct source_run *r, name_id name)
{
    if (name >= r->n_names) /* it was added after name_of was made */
        return names_add(r->m.names, names_text(r->p->names, name), names_len(r->p->names, name));
    if (r->name_of[name] == 0)
        r->name_of[name] = 1 + names_add(r->m.names, names_text(r->p->names, name), names_len(r->p->names, name));
    return r->name_of[name] - 1;
}

/* Work of a framework's steps belongs to the one that launched it; that of a PROF directory to the iteration in which
 * it began. */
static uint32_t step_at(const struct source_run *r, int64_t begin_ns, const int64_t *launch_ns, size_t row)
{
    const struct step_series *s = &r->steps;
    return launch_ns && !s->is_whole ? step_launching(s->host_begin_ns, s->host_end_ns, s->n, launch_ns[row])
                                     : step_series_at(s->begin_ns, s->end_ns, s->n, begin_ns);
}

static uint32_t host_step_at(const struct source_run *r, int64_t ns)
{
    return r->steps.is_whole ? 0 : step_series_at(r->steps.host_begin_ns, r->steps.host_end_ns, r->steps.n, ns);
}

static bool steps_fill(struct source_run *r, struct measured_rank *out, struct arena *mem)
{
    const struct step_series *s = &r->steps;
    out->has_steps = !s->is_whole;
    out->steps_by = s->by ? arena_text(mem, s->by, strlen(s->by)) : NULL;
    out->n_steps = s->n;
    out->step = arena_take(mem, s->n, sizeof *out->step);
    for (size_t i = 0; out->step && i < s->n; i++) {
        const int64_t computing = s->part_ns[STEP_COMPUTING][i] + s->part_ns[STEP_OVERLAPPED][i];
        out->step[i] = (struct run_step){ .name = name_of(r, s->name[i]),
                                          .part_ns = { s->time_ns[i], computing, s->part_ns[STEP_COMMUNICATION][i],
                                                       s->part_ns[STEP_FREE][i] },
                                          .iteration = s->iteration ? s->iteration[i] : (struct iteration){ 0 } };
    }
    return out->step != NULL;
}

/* Which operator launched which task, from the tree of operators. */
static bool operators_find(struct source_run *r, struct arena *work)
{
    const struct collection *c = r->collection;
    if (!c || !r->d || !c->tree.first_started)
        return true;
    r->op_of_task = arena_take(work, r->d->tasks.n, sizeof *r->op_of_task);
    if (!r->op_of_task)
        return false;
    memset(r->op_of_task, 0xFF, r->d->tasks.n * sizeof *r->op_of_task); /* NO_ROW */
    const uint32_t device = (uint32_t)(r->d - r->p->device);
    for (size_t at = 0; at < c->framework.ops.n; at++)
        for (uint32_t i = c->tree.first_started[at]; i < c->tree.first_started[at + 1]; i++) {
            const uint32_t k = c->tree.started[i];
            if (!c->kernels.is_collective[k] && c->kernels.device[k] == device && c->kernels.row[k] < r->d->tasks.n)
                r->op_of_task[c->kernels.row[k]] = c->tree.by_begin[at];
        }
    return true;
}

static bool is_known(name_id name)
{
    return name != NAME_NA && name != NAME_EMPTY;
}

static void add_kernel(struct source_run *r, size_t i, uint32_t step)
{
    const struct tasks *t = &r->d->tasks;
    const struct ops *ops = &r->p->host.ops;
    const uint32_t op = t->op[i], launcher = r->op_of_task ? r->op_of_task[i] : NO_ROW;
    const bool is_npu_op = op != NO_ROW && !r->m.out->is_gpu, has_type = is_npu_op && is_known(ops->op_type[op]);
    const name_id name = name_of(r, op == NO_ROW ? t->type[i] : has_type ? ops->op_type[op] : ops->name[op]);
    const name_id shapes = is_npu_op && is_known(ops->shapes[0][op]) ? ops->shapes[0][op] : NAME_EMPTY;
    measuring_add(&r->m, MEASURE_KERNEL, name, NAME_EMPTY, step, t->dur_ns[i]);
    if (shapes != NAME_EMPTY)
        measuring_add(&r->m, MEASURE_SHAPE, name, name_of(r, shapes), step, t->dur_ns[i]);
    const uint32_t captured = task_replays(r->d, i);
    const name_id by = captured != NO_ROW   ? name_of(r, r->p->captured.name[captured])
                       : launcher == NO_ROW ? NAME_EMPTY
                                            : name_of(r, framework_op_label(&r->collection->framework.ops, launcher));
    if (r->op_of_task)
        measuring_add(&r->m, MEASURE_OPERATOR, by == NAME_EMPTY ? names_addz(r->m.names, "(no operator)") : by,
                      NAME_EMPTY, step, t->dur_ns[i]);
    const char *class = kernel_class(names_text(r->m.names, by), names_text(r->m.names, name));
    measuring_add(&r->m, MEASURE_CLASS, names_addz(r->m.names, class), NAME_EMPTY, step, t->dur_ns[i]);
}

static void add_tasks(struct source_run *r)
{
    const struct tasks *t = &r->d->tasks;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t step = step_at(r, t->begin_ns[i], r->launches.task_ns, i);
        const enum task_does does = task_does(r->p, t, i);
        if (does == TASK_COMPUTES)
            add_kernel(r, i, step);
        else if (does == TASK_COPIES)
            measuring_add(&r->m, MEASURE_COPY,
                          name_of(r, t->op[i] == NO_ROW ? t->type[i] : r->p->host.ops.name[t->op[i]]), NAME_EMPTY, step,
                          t->dur_ns[i]);
    }
}

/* A collective is named by its kind, its number of elements and of ranks, so that it has the same name in both runs. */
static void add_collectives(struct source_run *r)
{
    const struct comm_ops *o = &r->d->comm.ops;
    for (size_t i = 0; i < o->n; i++) {
        if (!o->is_shown[i])
            continue;
        char detail[64];
        const int n = o->rank_size[i] > 0 && o->rank_size[i] != NO_ROW
                          ? snprintf(detail, sizeof detail, "%llu elements, %u ranks", (unsigned long long)o->count[i],
                                     o->rank_size[i])
                          : snprintf(detail, sizeof detail, "%llu elements", (unsigned long long)o->count[i]);
        measuring_add(&r->m, MEASURE_COLLECTIVE, name_of(r, is_known(o->op_type[i]) ? o->op_type[i] : o->name[i]),
                      o->count[i] > 0 && n > 0 ? names_addz(r->m.names, detail) : NAME_EMPTY,
                      step_at(r, o->begin_ns[i], r->launches.collective_ns, i), o->dur_ns[i]);
    }
}

static void add_host(struct source_run *r)
{
    const struct framework_ops *o = &r->collection->framework.ops;
    for (size_t i = 0; r->collection->tree.self_ns && i < o->n; i++) {
        const int64_t self_ns = r->collection->tree.self_ns[i];
        const name_id label = framework_op_label(o, i);
        if (!collection_op_is_step(r->collection, i))
            measuring_add(&r->m, MEASURE_HOST, name_of(r, label), NAME_EMPTY, host_step_at(r, o->begin_ns[i]),
                          self_ns > 0 ? (double)self_ns : 0);
    }
}

/* Own times of calls. They are sorted by thread and begin; a call precedes those that it encloses. */
static bool add_calls(struct source_run *r, struct arena *work)
{
    const struct calls *c = &r->p->host.calls;
    const struct source *source = &r->p->host.source;
    double *self_ns = arena_take(work, c->n, sizeof *self_ns);
    LIST(uint32_t) open = { 0 };
    if (!self_ns)
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        const double ns = (double)span_ns(source_host_ns(source, c->begin[i]), source_host_ns(source, c->end[i]));
        while (open.n > 0 &&
               (c->thread[open.at[open.n - 1]] != c->thread[i] || c->end[open.at[open.n - 1]] < c->end[i]))
            open.n--;
        if (open.n > 0)
            self_ns[open.at[open.n - 1]] -= ns;
        self_ns[i] += ns;
        uint32_t *new = list_add(&open, work);
        if (!new)
            return false;
        *new = i;
    }
    for (size_t i = 0; i < c->n; i++) {
        const name_id name = dictionary_type(&r->p->dictionary, c->level[i], c->type[i]);
        if (c->is_shown[i])
            measuring_add(&r->m, MEASURE_CALL, name_of(r, name), NAME_EMPTY,
                          host_step_at(r, source_host_ns(source, c->begin[i])), self_ns[i] > 0 ? self_ns[i] : 0);
    }
    return true;
}

bool run_of_collection(struct measured_rank *out, const struct profile *p, const struct device *d,
                       const struct collection *collection, struct names *names, struct arena *mem, struct error *e)
{
    const int64_t number = collection ? collection->settings.rank : profile_main_source(p)->settings.rank;
    *out = (struct measured_rank){ .has_rank = collection ? collection->settings.has_rank : number >= 0,
                                   .rank = number,
                                   .has_device = d != NULL,
                                   .is_gpu = d && d->gpu.n > 0 && p->chip->group == ON_CUDA,
                                   .device = d ? d->source.device : 0,
                                   .allocated_bytes = -1,
                                   .reserved_bytes = -1 };
    struct arena *work = arena_new();
    struct source_run r = { .p = p, .d = d, .collection = collection, .n_names = names_count(p->names) };
    r.m.names = names;
    r.name_of = work ? arena_take(work, r.n_names, sizeof *r.name_of) : NULL;
    bool done = r.name_of && (collection ? step_series_of_collection(&r.steps, collection, d, NULL, work)
                                         : step_series_of_profile(&r.steps, p, d, NULL, work));
    if (done && collection && d)
        done = work_launches_find(&r.launches, collection, d, work);
    done = done && steps_fill(&r, out, mem) && measuring_begin(&r.m, out, names, mem) && operators_find(&r, work);
    if (done && d) {
        add_tasks(&r);
        add_collectives(&r);
    }
    if (done && collection)
        add_host(&r);
    done = done && (!profile_has_host(p) || add_calls(&r, work));
    done = measuring_end(&r.m) && done;
    struct memory_peaks peaks;
    if (done && collection && memory_peaks_find(&peaks, collection, NULL, e)) {
        out->allocated_bytes = peaks.allocated.is_known ? peaks.allocated.bytes : -1;
        out->reserved_bytes = peaks.reserved.is_known ? peaks.reserved.bytes : -1;
    }
    arena_free(work);
    return done && e->fault == FAULT_NONE;
}
