/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <string.h>

#include "analyse/framework/steps/profiler_steps.h"
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
