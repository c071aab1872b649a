/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "raw/nccl_names.h"

static bool intervals_take(struct intervals *v, struct arena *mem, size_t most)
{
    *v = (struct intervals){ 0, arena_take(mem, most, sizeof *v->begin_ns), arena_take(mem, most, sizeof *v->end_ns) };
    return v->begin_ns && v->end_ns;
}

static void intervals_add(struct intervals *v, int64_t begin, int64_t end)
{
    v->begin_ns[v->n] = begin;
    v->end_ns[v->n++] = end;
}

static void intervals_drop(struct intervals *v, struct arena *mem)
{
    arena_drop(mem, v->begin_ns);
    arena_drop(mem, v->end_ns);
    *v = (struct intervals){ 0 };
}

/* Sorts by begin and joins what overlaps or touches. */
static bool intervals_unite(struct intervals *v, struct arena *mem)
{
    uint32_t *order = arena_take(mem, v->n, sizeof *order);
    uint64_t *begin = arena_take(mem, v->n, sizeof *begin);
    struct intervals sorted;
    if (!order || !begin || !intervals_take(&sorted, mem, v->n))
        return false;
    for (size_t i = 0; i < v->n; i++)
        begin[i] = (uint64_t)v->begin_ns[i] ^ (uint64_t)1 << 63; /* signed times in unsigned order */
    order_fill(order, v->n);
    if (!order_by_u64(order, v->n, begin))
        return false;
    for (size_t i = 0; i < v->n; i++) {
        const int64_t from = v->begin_ns[order[i]], to = v->end_ns[order[i]];
        if (sorted.n > 0 && from <= sorted.end_ns[sorted.n - 1]) {
            if (to > sorted.end_ns[sorted.n - 1])
                sorted.end_ns[sorted.n - 1] = to;
        } else {
            intervals_add(&sorted, from, to);
        }
    }
    intervals_drop(v, mem);
    arena_drop(mem, order);
    arena_drop(mem, begin);
    *v = sorted;
    return true;
}

/* The parts of a that are not in b. Both are united; `out` has room for a.n + b.n. */
static void intervals_subtract(const struct intervals *a, const struct intervals *b, struct intervals *out)
{
    size_t k = 0;
    for (size_t i = 0; i < a->n; i++) {
        int64_t from = a->begin_ns[i];
        while (k < b->n && b->end_ns[k] <= from)
            k++;
        for (size_t m = k; m < b->n && b->begin_ns[m] < a->end_ns[i]; m++) {
            if (b->begin_ns[m] > from)
                intervals_add(out, from, b->begin_ns[m]);
            from = b->end_ns[m] > from ? b->end_ns[m] : from;
            k = m;
        }
        if (from < a->end_ns[i])
            intervals_add(out, from, a->end_ns[i]);
    }
}

static void drop_empty(struct intervals *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (v->end_ns[i] <= v->begin_ns[i])
            continue;
        v->begin_ns[n] = v->begin_ns[i];
        v->end_ns[n++] = v->end_ns[i];
    }
    v->n = n;
}

bool task_is_computing(const struct profile *p, const struct tasks *t, size_t row)
{
    static const char aiv[] = "AivKernel"; /* a collective that runs on vector cores */
    const name_id name = p->host.ops.name[t->op[row]];
    const size_t len = names_len(p->names, name);
    if (p->chip->task_log == TASK_LOG_CUDA)
        return !nccl_is_kernel(names_text(p->names, name));
    const bool is_aiv = len >= sizeof aiv - 1 && strcmp(names_text(p->names, name) + len - (sizeof aiv - 1), aiv) == 0;
    return !is_aiv && !op_is_schedule(p, t->stream[row], t->op[row]);
}

enum task_does task_does(const struct profile *p, const struct tasks *t, size_t row)
{
    if (t->is_hidden[row])
        return TASK_CONTROLS;
    if (t->op[row] != NO_ROW && task_is_computing(p, t, row))
        return TASK_COMPUTES;
    return t->copy_kind[row] != COPY_NONE ? TASK_COPIES
           : profile_has_host(p)
               ? TASK_CONTROLS
               : task_type_does(names_text(p->names, t->type[row]), names_len(p->names, t->type[row]));
}

/* The span in which an idle device counts as free: from the first to the last task. Kernels are not counted here,
 * because computing widens the span anyway; tasks that switch profiling on or off are not counted at all. */
static void find_span(const struct profile *p, const struct tasks *t, const bool *wanted, int64_t *begin, int64_t *end)
{
    static const char *const not_counted[] = { "KERNEL_AICORE",    "KERNEL_AIVEC",   "FFTS_PLUS",
                                               "KERNEL_MIX_AIC",   "KERNEL_MIX_AIV", "PROFILING_ENABLE",
                                               "PROFILING_DISABLE" };
    enum { NOT_COUNTED = sizeof not_counted / sizeof *not_counted };
    name_id type[NOT_COUNTED];
    for (size_t i = 0; i < NOT_COUNTED; i++)
        type[i] = names_addz(p->names, not_counted[i]);
    for (size_t i = 0; i < t->n; i++) {
        bool counts = !wanted || wanted[i];
        for (size_t k = 0; k < NOT_COUNTED && counts && t->host[i] != NO_ROW; k++)
            counts = p->host.tasks.type[t->host[i]] != type[k];
        if (!counts)
            continue;
        const int64_t to = t->begin_ns[i] + (int64_t)t->dur_ns[i];
        *begin = t->begin_ns[i] < *begin ? t->begin_ns[i] : *begin;
        *end = to > *end ? to : *end;
    }
}

bool overlap_build(const struct profile *p, const struct device *d, const struct overlap_part *part, struct arena *mem,
                   struct overlap *out)
{
    const struct tasks *t = &d->tasks;
    const struct comm_ops *o = &d->comm.ops;
    struct intervals *computing = &out->kind[OVERLAP_COMPUTING], *comm = &out->kind[OVERLAP_COMMUNICATION];
    struct intervals *exposed = &out->kind[OVERLAP_EXPOSED], *idle = &out->kind[OVERLAP_FREE], both, span;
    if (!intervals_take(computing, mem, t->n) || !intervals_take(comm, mem, o->n))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (part->is_by_type ? task_does(p, t, i) == TASK_COMPUTES
                             : t->op[i] != NO_ROW && (!part->op || part->op[i]) && task_is_computing(p, t, i))
            intervals_add(computing, t->begin_ns[i], t->begin_ns[i] + (int64_t)t->dur_ns[i]);
    for (size_t i = 0; i < o->n; i++)
        if (o->is_shown[i] && (!part->comm || part->comm[i]))
            intervals_add(comm, o->begin_ns[i], o->end_ns[i]);
    if (!intervals_unite(computing, mem) || !intervals_unite(comm, mem) ||
        !intervals_take(exposed, mem, comm->n + computing->n) || !intervals_take(&both, mem, comm->n + computing->n) ||
        !intervals_take(&span, mem, 1) || !intervals_take(idle, mem, comm->n + computing->n + 1))
        return false;
    intervals_subtract(comm, computing, exposed);

    int64_t begin = INT64_MAX, end = 0;
    find_span(p, t, part->task, &begin, &end);
    for (int k = OVERLAP_COMPUTING; k <= OVERLAP_COMMUNICATION; k++)
        for (size_t i = 0; i < out->kind[k].n; i++) {
            begin = out->kind[k].begin_ns[i] < begin ? out->kind[k].begin_ns[i] : begin;
            end = out->kind[k].end_ns[i] > end ? out->kind[k].end_ns[i] : end;
            intervals_add(&both, out->kind[k].begin_ns[i], out->kind[k].end_ns[i]);
        }
    if (!intervals_unite(&both, mem))
        return false;
    if (end > begin) {
        intervals_add(&span, begin, end);
        intervals_subtract(&span, &both, idle);
    }
    intervals_drop(&both, mem);
    for (int k = 0; k < OVERLAP_KINDS; k++)
        drop_empty(&out->kind[k]);
    return true;
}

bool overlap_analyse(struct profile *p, struct device *d, struct error *e)
{
    return overlap_build(p, d, &(struct overlap_part){ 0 }, d->source.mem, &d->overlap) ||
           error_no_memory(e, d->source.path);
}
