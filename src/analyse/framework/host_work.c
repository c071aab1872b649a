/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <string.h>

#include "raw/framework_values.h"

bool name_is_collective(const char *name)
{
    static const char *const backend[] = { "gloo:", "nccl:", "mpi:", "ucc:", "hccl:" };
    for (size_t i = 0; i < sizeof backend / sizeof *backend; i++) {
        const size_t bytes = strlen(backend[i]);
        if (strncmp(name, backend[i], bytes) == 0 && name[bytes] != ':') /* "mpi::" is a name of C++ */
            return true;
    }
    return false;
}

static bool intervals_take(struct intervals *v, size_t most, struct arena *mem)
{
    *v = (struct intervals){ .begin_ns = arena_take(mem, most, sizeof *v->begin_ns),
                             .end_ns = arena_take(mem, most, sizeof *v->end_ns) };
    return v->begin_ns && v->end_ns;
}

/* Begins ascend; what touches the last one continues it. */
static void intervals_add(struct intervals *v, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    if (v->n > 0 && begin_ns <= v->end_ns[v->n - 1]) {
        if (end_ns > v->end_ns[v->n - 1])
            v->end_ns[v->n - 1] = end_ns;
        return;
    }
    v->begin_ns[v->n] = begin_ns;
    v->end_ns[v->n++] = end_ns;
}

static void intervals_meet(struct intervals *out, const struct intervals *a, const struct intervals *b)
{
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const int64_t begin_ns = a->begin_ns[i] > b->begin_ns[k] ? a->begin_ns[i] : b->begin_ns[k],
                      end_ns = a->end_ns[i] < b->end_ns[k] ? a->end_ns[i] : b->end_ns[k];
        intervals_add(out, begin_ns, end_ns);
        a->end_ns[i] < b->end_ns[k] ? i++ : k++;
    }
}

bool range_spans_steps(const struct framework_ops *o, size_t row, const struct step_series *s)
{
    if (!o->scope || o->scope[row] != OP_SCOPE_USER)
        return false;
    const uint32_t step = step_series_at(s->begin_ns, s->end_ns, s->n, o->begin_ns[row]);
    return step == NO_ROW || o->end_ns[row] > s->end_ns[step];
}

/* By row: what the sweeps below ask of an operator. */
enum host_work_row_kind {
    ROW_OTHER,
    ROW_COLLECTIVE,
    ROW_WORK, /* this and the next: of the thread of the steps */
    ROW_RANGE
};

static enum host_work_row_kind host_work_kind_of(const struct collection *c, size_t row, const struct step_series *s)
{
    const struct framework_ops *o = &c->framework.ops;
    if (name_is_collective(names_text(c->profile.names, o->name[row])))
        return ROW_COLLECTIVE;
    const uint32_t step = step_series_at(s->begin_ns, s->end_ns, s->n, o->begin_ns[row]);
    if (step == NO_ROW || (o->thread && o->thread[row] != s->thread[step]) || collection_op_is_step(c, row) ||
        range_spans_steps(o, row, s))
        return ROW_OTHER;
    return o->scope && o->scope[row] == OP_SCOPE_USER ? ROW_RANGE : ROW_WORK;
}

static void find_exposed(struct host_work *out, const struct framework_ops *o, const uint32_t *by_begin,
                         const uint8_t *kind)
{
    size_t k = 0;
    for (size_t i = 0; i < out->collectives.n; i++) {
        const int64_t end_ns = out->collectives.end_ns[i];
        int64_t from_ns = out->collectives.begin_ns[i];
        while (k < o->n && o->begin_ns[by_begin[k]] < from_ns)
            k++;
        for (; k < o->n && o->begin_ns[by_begin[k]] < end_ns; k++) {
            const uint32_t row = by_begin[k];
            if (kind[row] != ROW_WORK)
                continue;
            intervals_add(&out->exposed, from_ns, o->begin_ns[row]);
            from_ns = o->end_ns[row] > from_ns ? o->end_ns[row] : from_ns;
        }
        intervals_add(&out->exposed, from_ns, end_ns);
    }
}

bool host_work_find(struct host_work *out, const struct collection *c, const struct step_series *s, struct arena *mem)
{
    const struct framework_ops *o = &c->framework.ops;
    *out = (struct host_work){ 0 };
    if (s->n == 0)
        return true;
    uint8_t *kind = arena_take(mem, o->n, sizeof *kind);
    size_t n = 0;
    for (size_t row = 0; kind && row < o->n; row++) {
        kind[row] = (uint8_t)host_work_kind_of(c, row, s);
        n += kind[row] == ROW_COLLECTIVE;
    }
    if (!kind || !intervals_take(&out->busy, o->n, mem) || !intervals_take(&out->collectives, n, mem) ||
        !intervals_take(&out->exposed, n > 0 ? n + o->n : 0, mem) ||
        !intervals_take(&out->enclosed, n > 0 ? n + 2 * o->n : 0, mem))
        return false;
    for (size_t k = 0; k < o->n; k++) {
        const uint32_t row = c->tree.by_begin[k];
        if (kind[row] != ROW_OTHER)
            intervals_add(kind[row] == ROW_COLLECTIVE ? &out->collectives : &out->busy, o->begin_ns[row],
                          o->end_ns[row]);
    }
    find_exposed(out, o, c->tree.by_begin, kind);
    intervals_meet(&out->enclosed, &out->exposed, &out->busy);
    return true;
}

/* The call of the runtime that launched a task or a collective; NO_ROW: none is known. */
static uint32_t call_of_task(const struct profile *p, const struct device *d, size_t row)
{
    const struct host_tasks *h = &p->host.tasks;
    const uint32_t host = d->tasks.host ? d->tasks.host[row] : NO_ROW;
    const uint32_t connection = h->connection && host < h->n ? h->connection[host] : 0;
    return connection > 0 && connection <= p->host.calls.n ? connection - 1 : NO_ROW;
}

static uint32_t call_of_collective(const struct profile *p, const struct device *d, size_t op)
{
    const uint64_t connection = d->comm.ops.connection ? d->comm.ops.connection[op] : 0;
    return connection > 0 && connection <= p->host.calls.n ? (uint32_t)(connection - 1) : NO_ROW;
}

/* By call: when it was put into the queue; INT64_MIN: it was not. */
static void queued_find(const struct collection *c, const struct device *d, int64_t *queued_ns)
{
    const struct profile *p = &c->profile;
    const uint32_t device = (uint32_t)(d - p->device);
    for (size_t i = 0; i < p->host.calls.n; i++)
        queued_ns[i] = INT64_MIN;
    for (size_t k = 0; c->tree.task && k < c->kernels.n; k++) {
        const uint32_t task = c->tree.task[k], row = c->kernels.row[k];
        if (task == NO_ROW || c->kernels.device[k] != device)
            continue;
        const uint32_t call = c->kernels.is_collective[k] ? call_of_collective(p, d, row) : call_of_task(p, d, row);
        if (call != NO_ROW)
            queued_ns[call] = c->framework.enqueue.begin_ns[task];
    }
}

static int64_t launch_of(const struct profile *p, const int64_t *queued_ns, uint32_t call, int64_t otherwise_ns)
{
    if (call == NO_ROW)
        return otherwise_ns;
    return queued_ns[call] != INT64_MIN ? queued_ns[call] : source_host_ns(&p->host.source, p->host.calls.begin[call]);
}

bool work_launches_find(struct work_launches *w, const struct collection *c, const struct device *d, struct arena *mem)
{
    const struct profile *p = &c->profile;
    int64_t *queued_ns = arena_take(mem, p->host.calls.n, sizeof *queued_ns);
    *w = (struct work_launches){ arena_take(mem, d->tasks.n, sizeof *w->task_ns),
                                 arena_take(mem, d->comm.ops.n, sizeof *w->collective_ns) };
    if (!queued_ns || !w->task_ns || !w->collective_ns)
        return false;
    queued_find(c, d, queued_ns);
    for (size_t i = 0; i < d->tasks.n; i++) {
        const uint32_t host = d->tasks.host ? d->tasks.host[i] : NO_ROW;
        w->task_ns[i] = launch_of(p, queued_ns, call_of_task(p, d, i),
                                  host < p->host.tasks.n ? source_host_ns(&p->host.source, p->host.tasks.time[host])
                                                         : d->tasks.begin_ns[i]);
    }
    for (size_t i = 0; i < d->comm.ops.n; i++)
        w->collective_ns[i] = launch_of(p, queued_ns, call_of_collective(p, d, i), d->comm.ops.begin_ns[i]);
    arena_drop(mem, queued_ns);
    return true;
}
