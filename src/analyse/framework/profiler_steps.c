/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/profiler_steps.h"

#include <string.h>

#include "base/sort.h"

static const char step_word[] = "ProfilerStep#";

bool name_is_step(const struct names *names, name_id name)
{
    return strstr(names_text(names, name), step_word) != NULL;
}

bool profiler_steps_take(struct profiler_steps *s, size_t n, struct arena *mem)
{
    *s = (struct profiler_steps){
        .op = arena_take(mem, n, sizeof *s->op),
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

struct finding {
    struct profiler_steps *s;
    const struct kernels *k;
    struct extent *extent;
};

static void step_add(const struct finding *f, size_t step, uint32_t kernel, uint64_t key)
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

/* With the queue, the work of a step is what the operators inside it enqueued. */
static bool add_queued(const struct finding *f, const struct op_tree *t, const uint32_t *at, const struct queued *q,
                       struct arena *spare)
{
    uint32_t *place = arena_take(spare, f->k->n, sizeof *place); /* of a kernel's id */
    if (!place)
        return false;
    for (uint32_t id = 0; id < q->ids.key.n; id++)
        for (uint32_t i = q->first[id]; i < q->first[id + 1]; i++)
            place[q->kernel[i]] = id;
    for (size_t step = 0; step < f->s->n; step++) {
        f->s->has_work[step] = q->ids.key.n > 0 && t->has_queued[at[step]];
        for (uint32_t i = t->below[at[step]]; i < t->below_end[at[step]]; i++)
            step_add(f, step, t->in_order[i], q->ids.key.at[place[t->in_order[i]]]);
    }
    return true;
}

/* Without the queue, the work of a step is what was launched from its begin to its end. */
static void add_launched(const struct finding *f)
{
    size_t step = 0;
    for (uint32_t i = 0; i < f->k->n; i++) {
        const int64_t launch_ns = f->k->launch_ns[i];
        while (step < f->s->n && f->s->host_end_ns[step] < launch_ns && f->s->host_begin_ns[step] <= launch_ns)
            step++;
        if (step == f->s->n)
            return;
        if (f->s->host_begin_ns[step] > launch_ns)
            continue;
        f->s->has_work[step] = true;
        step_add(f, step, i, (uint64_t)launch_ns ^ UINT64_C(1) << 63);
    }
}

bool profiler_steps_find(struct profiler_steps *s, const struct framework *f, const struct op_tree *t,
                         const struct kernels *k, const struct queued *q, struct names *names, struct arena *mem)
{
    const struct framework_ops *o = &f->ops;
    struct arena *spare = arena_new();
    LIST(uint32_t) at = { 0 };  /* positions in by_begin */
    int64_t end_ns = INT64_MIN; /* of the last step */
    /* The reference takes only those at the top, and loses all that begin in a range of the user ("epoch"). */
    const bool is_by_thread = tree_is_by_thread(k, q);
    for (uint32_t i = 0; spare && i < o->n; i++) {
        const uint32_t row = t->by_begin[i];
        if (is_by_thread ? o->end_ns[row] <= end_ns : t->parent[row] != NO_ROW)
            continue;
        uint32_t *new = name_is_step(names, o->name[row]) ? list_add(&at, spare) : NULL;
        if (!new)
            continue;
        *new = i;
        end_ns = o->end_ns[row];
    }
    struct finding find = { s, k, spare ? arena_take(spare, at.n, sizeof *find.extent) : NULL };
    bool ok = spare && !arena_failed(spare) && profiler_steps_take(s, at.n, mem);
    for (; ok && s->n < at.n; s->n++) {
        const uint32_t row = t->by_begin[at.at[s->n]];
        s->op[s->n] = row;
        s->id[s->n] = names_addz(names, strrchr(names_text(names, o->name[row]), '#') + 1);
        s->host_begin_ns[s->n] = o->begin_ns[row];
        s->host_end_ns[s->n] = o->end_ns[row];
    }
    if (ok && q)
        ok = add_queued(&find, t, at.at, q, spare);
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
