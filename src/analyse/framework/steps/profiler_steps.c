/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/profiler_steps.h"

#include <string.h>

#include "base/memory/sort.h"

static const char step_word[] = "ProfilerStep#";

bool name_is_step(const struct names *names, name_id name)
{
    return strstr(names_text(names, name), step_word) != NULL;
}

bool profiler_steps_take(struct profiler_steps *s, size_t n, struct arena *mem)
{
    *s = (struct profiler_steps){
        .op = arena_take(mem, n, sizeof *s->op),
        .thread = arena_take(mem, n, sizeof *s->thread),
        .id = arena_take(mem, n, sizeof *s->id),
        .host_begin_ns = arena_take(mem, n, sizeof *s->host_begin_ns),
        .host_end_ns = arena_take(mem, n, sizeof *s->host_end_ns),
        .begin_ns = arena_take(mem, n, sizeof *s->begin_ns),
        .end_ns = arena_take(mem, n, sizeof *s->end_ns),
        .has_work = arena_take(mem, n, sizeof *s->has_work),
    };
    return !arena_failed(mem);
}

/* The range of the keys of a step's work: ids of the queue, or times of launches. Both ascend with time. */
struct extent {
    bool has_any;
    uint64_t first, last;
};

struct profiler_steps_finding {
    struct profiler_steps *s;
    const struct kernels *k;
    struct extent *extent;
};

static void step_add(const struct profiler_steps_finding *f, size_t step, uint32_t kernel, uint64_t key)
{
    struct extent *e = &f->extent[step];
    const int64_t begin_ns = f->k->begin_ns[kernel], end_ns = f->k->end_ns[kernel];
    /* The kernels with the smallest key determine the begin of a step, those with the largest key its end. */
    if (!e->has_any || key < e->first || (key == e->first && begin_ns < f->s->begin_ns[step])) {
        f->s->begin_ns[step] = begin_ns;
        e->first = key;
    }
    if (!e->has_any || key > e->last || (key == e->last && end_ns > f->s->end_ns[step])) {
        f->s->end_ns[step] = end_ns;
        e->last = key;
    }
    e->has_any = true;
}

/* The last step that has begun at a time, searched from `step` on; s->n: that one is over, or there is none. */
static size_t step_open_at(const struct profiler_steps *s, size_t *step, int64_t ns)
{
    while (*step + 1 < s->n && s->host_begin_ns[*step + 1] <= ns)
        ++*step;
    return *step < s->n && s->host_begin_ns[*step] <= ns && s->host_end_ns[*step] >= ns ? *step : s->n;
}

/* With the queue, the work of a step is what was put into the queue from its begin to its end. */
static bool add_queued(const struct profiler_steps_finding *f, const struct queue_spans *in, const struct op_tree *t,
                       struct arena *spare)
{
    uint32_t *step_of = arena_take(spare, in->n, sizeof *step_of), *order = arena_take(spare, in->n, sizeof *order);
    uint64_t *key = arena_take(spare, in->n, sizeof *key);
    if (arena_failed(spare))
        return false;
    for (size_t i = 0; i < in->n; i++)
        key[i] = (uint64_t)in->begin_ns[i] ^ UINT64_C(1) << 63;
    order_fill(order, in->n);
    if (!order_by_u64(order, in->n, key))
        return false;
    for (size_t i = 0, at = 0; i < in->n; i++) {
        const size_t step = step_open_at(f->s, &at, in->begin_ns[order[i]]);
        step_of[order[i]] = (uint32_t)step;
        if (step < f->s->n)
            f->s->has_work[step] = f->k->n > 0;
    }
    for (uint32_t i = 0; i < f->k->n; i++)
        if (t->task[i] != NO_ROW && step_of[t->task[i]] < f->s->n)
            step_add(f, step_of[t->task[i]], i, in->id[t->task[i]]);
    return true;
}

/* Without the queue, the work of a step is what was launched from its begin to its end. */
static void add_launched(const struct profiler_steps_finding *f)
{
    size_t at = 0;
    for (uint32_t i = 0; i < f->k->n; i++) {
        const size_t step = step_open_at(f->s, &at, f->k->launch_ns[i]);
        if (step == f->s->n)
            continue;
        f->s->has_work[step] = true;
        step_add(f, step, i, (uint64_t)f->k->launch_ns[i] ^ UINT64_C(1) << 63);
    }
}

bool profiler_steps_find(struct profiler_steps *s, const struct framework *f, const struct op_tree *t,
                         const struct kernels *k, struct names *names, struct arena *mem)
{
    const struct framework_ops *o = &f->ops;
    struct arena *spare = arena_new();
    LIST(uint32_t) at = { 0 };  /* rows */
    int64_t end_ns = INT64_MIN; /* of the last step */
    for (uint32_t i = 0; spare && i < o->n; i++) {
        const uint32_t row = t->by_begin[i];
        uint32_t *new = o->end_ns[row] > end_ns &&name_is_step(names, o->name[row]) ? list_add(&at, spare) : NULL;
        if (!new)
            continue;
        *new = row;
        end_ns = o->end_ns[row];
    }
    struct profiler_steps_finding find = { s, k, spare ? arena_take(spare, at.n, sizeof *find.extent) : NULL };
    bool ok = spare && !arena_failed(spare) && profiler_steps_take(s, at.n, mem);
    for (; ok && s->n < at.n; s->n++) {
        const uint32_t row = at.at[s->n];
        s->op[s->n] = row;
        s->thread[s->n] = o->thread ? o->thread[row] : 0;
        s->id[s->n] = names_addz(names, strrchr(names_text(names, o->name[row]), '#') + 1);
        s->host_begin_ns[s->n] = o->begin_ns[row];
        s->host_end_ns[s->n] = o->end_ns[row];
    }
    if (ok && t->task)
        ok = add_queued(&find, &f->enqueue, t, spare);
    else if (ok)
        add_launched(&find);
    for (size_t step = 0; ok && step < s->n; step++) { /* the step is over when the host is, too */
        if (!find.extent[step].has_any)
            s->begin_ns[step] = s->host_begin_ns[step];
        if (!find.extent[step].has_any || s->end_ns[step] < s->host_end_ns[step])
            s->end_ns[step] = s->host_end_ns[step];
    }
    arena_free(spare);
    return ok;
}

/* The first piece from `at` on that is not assigned to a step yet. */
static size_t next_free(size_t *next, size_t at)
{
    while (next[at] != at) {
        next[at] = next[next[at]]; /* shortens the path for later searches */
        at = next[at];
    }
    return at;
}

/* The begins and ends of all steps divide time into pieces. A piece belongs to the first step that contains it. */
bool step_index_build(struct step_index *x, const struct profiler_steps *s, struct arena *mem)
{
    struct arena *spare = arena_new();
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->has_work[i];
    *x = (struct step_index){ .from_ns = arena_take(mem, 2 * n, sizeof *x->from_ns),
                              .step = arena_take(mem, 2 * n, sizeof *x->step) };
    uint64_t *edge = spare ? arena_take(spare, 2 * n, sizeof *edge) : NULL;
    uint32_t *order = spare ? arena_take(spare, 2 * n, sizeof *order) : NULL;
    size_t *piece = spare ? arena_take(spare, 2 * n, sizeof *piece) : NULL; /* that begins at an edge */
    size_t *next = spare ? arena_take(spare, 2 * n + 1, sizeof *next) : NULL;
    bool ok = edge && order && piece && next && !arena_failed(mem);
    size_t at = 0;
    for (size_t i = 0; ok && i < s->n; i++)
        if (s->has_work[i]) {
            edge[at++] = (uint64_t)s->begin_ns[i] ^ UINT64_C(1) << 63;
            edge[at++] = (uint64_t)s->end_ns[i] ^ UINT64_C(1) << 63;
        }
    if (ok)
        order_fill(order, 2 * n);
    ok = ok && order_by_u64(order, 2 * n, edge);
    for (size_t i = 0; ok && i < 2 * n; i++) {
        x->n += i == 0 || edge[order[i]] != edge[order[i - 1]];
        piece[order[i]] = x->n - 1;
        x->from_ns[x->n - 1] = (int64_t)(edge[order[i]] ^ UINT64_C(1) << 63);
        x->step[x->n - 1] = NO_ROW;
    }
    for (size_t i = 0; ok && i <= x->n; i++)
        next[i] = i;
    at = 0;
    for (size_t i = 0; ok && i < s->n; i++) {
        if (!s->has_work[i])
            continue;
        for (size_t k = next_free(next, piece[at]); k < piece[at + 1]; k = next_free(next, k)) {
            x->step[k] = (uint32_t)i;
            next[k] = k + 1;
        }
        at += 2;
    }
    arena_free(spare);
    return ok;
}

uint32_t step_index_at(const struct step_index *x, int64_t ns)
{
    const size_t later = SEARCH_FIRST_NOT(i, 0, x->n, x->from_ns[i] <= ns);
    return later > 0 ? x->step[later - 1] : NO_ROW;
}
