/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "cluster/modes/mode_parts.h"

#include <stdlib.h>
#include <strings.h>

#include "base/files/out.h"
#include "base/memory/sort.h"
#include "base/memory/tuples.h"
#include "base/text/stamp.h"
#include "profile/calls.h"

enum { EVENT_RANGE = 2, DEEPEST = 20 };

/* A module or an operator, ordered by begin, those that contain others first. */
struct module_tree_event {
    int64_t begin_ns, end_ns;
    name_id name;
    bool is_op, is_backward;
    uint32_t row;   /* of what it was made of: an operator's kernels; else order of adding */
    name_id path;   /* of a module: the names of those around it */
    uint32_t depth; /* of a module: 0 at the top */
};

struct module_tree_events {
    LIST(struct module_tree_event) list;
};

/* An operator with the module that it is in. */
struct placed {
    struct module_tree_event module, op;
};

struct placements {
    LIST(struct placed) list;
};

/* Kernels of an operator, one behind the other. */
struct launched {
    uint32_t op; /* row of ops */
    bool is_collective;
    name_id name;
    int64_t begin_ns, ns;
    double value;
};

struct module_tree_launches {
    LIST(struct launched) list; /* by operator, kernels first, then by begin */
};

static bool add_event(struct module_tree_events *e, struct module_tree_event new, struct arena *mem)
{
    struct module_tree_event *const to = list_add(&e->list, mem);
    if (to)
        *to = new;
    return to != NULL;
}

static int module_tree_by_begin(const void *a, const void *b)
{
    const struct module_tree_event *const x = a, *const y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->is_op != y->is_op ? x->is_op - y->is_op : (x->row > y->row) - (x->row < y->row);
}

static name_id joined(struct names *names, name_id a, name_id b, struct arena *mem)
{
    if (names_len(names, a) == 0)
        return b;
    const char *const text = arena_printf(mem, "%s/%s", names_text(names, a), names_text(names, b));
    return text ? names_addz(names, text) : NAME_EMPTY;
}

/* Which module each operator is in; those in none are left out. The events are sorted. */
static bool module_tree_place(struct placements *out, struct module_tree_events *e, struct names *names,
                              struct arena *mem)
{
    LIST(uint32_t) stack = { 0 };
    if (e->list.n > 0)
        qsort(e->list.at, e->list.n, sizeof *e->list.at, module_tree_by_begin);
    for (size_t i = 0; i < e->list.n; i++) {
        struct module_tree_event *const x = &e->list.at[i];
        while (stack.n > 0 && e->list.at[stack.at[stack.n - 1]].end_ns < x->end_ns)
            stack.n--;
        const struct module_tree_event *const around = stack.n > 0 ? &e->list.at[stack.at[stack.n - 1]] : NULL;
        if (x->is_op) {
            if (!around || around->depth >= DEEPEST)
                continue;
            struct placed *const p = list_add(&out->list, mem);
            if (!p)
                return false;
            *p = (struct placed){ *around, *x };
            continue;
        }
        uint32_t *const top = list_add(&stack, mem);
        if (!top)
            return false;
        *top = (uint32_t)i;
        x->depth = around ? around->depth + 1 : 0;
        x->path = around ? joined(names, around->path, around->name, mem) : NAME_EMPTY;
        x->is_backward |= around && around->is_backward;
    }
    return true;
}

static bool add_modules(struct module_tree_events *e, const struct rank *r, struct arena *mem)
{
    const name_id domain = names_addz(r->names, "Module");
    for (size_t i = 0; i < r->marks.n; i++)
        if (r->marks.event_type[i] == EVENT_RANGE && r->marks.domain[i] == domain &&
            !add_event(e,
                       (struct module_tree_event){ r->marks.begin_ns[i], r->marks.end_ns[i], r->marks.message[i],
                                                   .row = (uint32_t)i },
                       mem))
            return false;
    return true;
}

/* The operator of a forward pass, and the one of the backward pass that belongs to it. */
struct module_tree_flow {
    uint32_t forward, backward;
};

struct flows {
    LIST(struct module_tree_flow) list;
};

/* Operators that share a number; those of a queue share one, too. */
static bool find_flows(struct flows *out, const struct rank *r, struct arena *mem)
{
    const struct rank_op_links *const l = &r->op_links;
    for (size_t from = 0, end; from < l->n; from = end) {
        struct module_tree_flow f = { l->op[from], l->op[from] };
        for (end = from; end < l->n && l->connection[end] == l->connection[from]; end++) {
            f.forward = l->op[end] < f.forward ? l->op[end] : f.forward;
            f.backward = l->op[end] > f.backward ? l->op[end] : f.backward;
        }
        const char *const name = names_text(r->names, r->ops.name[f.forward]);
        if (f.forward == f.backward || strncasecmp(name, "Enqueue", 7) == 0 || strncasecmp(name, "Dequeue", 7) == 0)
            continue;
        struct module_tree_flow *const to = list_add(&out->list, mem);
        if (!to)
            return false;
        *to = f;
    }
    return true;
}

struct backward_order {
    const struct placements *p;
    const struct flows *f;
    const struct rank *r;
};

static int by_backward(const void *a, const void *b, void *order)
{
    const struct backward_order *const o = order;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t p = o->f->list.at[o->p->list.at[x].op.row].backward,
                   q = o->f->list.at[o->p->list.at[y].op.row].backward;
    const int64_t begin = o->r->ops.begin_ns[p], other = o->r->ops.begin_ns[q];
    return begin != other ? (begin > other) - (begin < other) : (x > y) - (x < y);
}

static bool is_same_module(const struct module_tree_event *a, const struct module_tree_event *b)
{
    return a->path == b->path && a->name == b->name && a->begin_ns == b->begin_ns && a->end_ns == b->end_ns;
}

/* Modules of the backward pass: backward operators of one module that follow each other, and a module around them for
 * its parents. */
static bool add_backward(struct module_tree_events *e, const struct rank *r, struct arena *mem)
{
    struct flows flows = { 0 };
    struct module_tree_events forward = { 0 };
    struct placements p = { 0 };
    if (!find_flows(&flows, r, mem) || !add_modules(&forward, r, mem))
        return false;
    for (size_t i = 0; i < flows.list.n; i++) {
        const uint32_t op = flows.list.at[i].forward;
        if (!add_event(&forward,
                       (struct module_tree_event){ r->ops.begin_ns[op], r->ops.end_ns[op], r->ops.name[op],
                                                   .is_op = true, .row = (uint32_t)i },
                       mem))
            return false;
    }
    if (!module_tree_place(&p, &forward, r->names, mem))
        return false;
    uint32_t *const order = arena_take(mem, p.list.n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, p.list.n);
    qsort_r(order, p.list.n, sizeof *order, by_backward, &(struct backward_order){ &p, &flows, r });
    for (size_t from = 0, end; from < p.list.n; from = end) {
        const struct module_tree_event *const module = &p.list.at[order[from]].module;
        int64_t begin = INT64_MAX, last = INT64_MIN;
        for (end = from; end < p.list.n && is_same_module(&p.list.at[order[end]].module, module); end++) {
            const uint32_t op = flows.list.at[p.list.at[order[end]].op.row].backward;
            begin = r->ops.begin_ns[op] < begin ? r->ops.begin_ns[op] : begin;
            last = r->ops.end_ns[op] > last ? r->ops.end_ns[op] : last;
        }
        const struct module_tree_event own = { begin, last, module->name, .is_backward = true,
                                               .row = (uint32_t)(r->marks.n + 2 * from + 1) };
        const struct module_tree_event parents = { begin - 1, last + 1, module->path, .is_backward = true,
                                                   .row = (uint32_t)(r->marks.n + 2 * from) };
        if ((module->path != NAME_EMPTY && !add_event(e, parents, mem)) || !add_event(e, own, mem))
            return false;
    }
    return true;
}

static int by_op(const void *a, const void *b)
{
    const struct launched *const x = a, *const y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->is_collective != y->is_collective)
        return x->is_collective - y->is_collective;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static bool add_launch(struct module_tree_launches *out, const struct rank *r, uint64_t connection, struct launched new,
                       struct arena *mem)
{
    const struct rank_op_links *const l = &r->op_links;
    for (size_t i = SEARCH_FIRST_NOT(at, 0, l->n, l->connection[at] < connection);
         i < l->n && l->connection[i] == connection; i++) {
        struct launched *const to = list_add(&out->list, mem);
        if (!to)
            return false;
        *to = new;
        to->op = l->op[i];
    }
    return true;
}

static bool find_launches(struct module_tree_launches *out, const struct rank *r, const double *value,
                          struct arena *mem)
{
    for (size_t i = 0; i < r->tasks.n; i++) {
        const uint32_t k = r->tasks.kernel[i];
        const int64_t begin = r->tasks.begin_ns[i];
        if (k != NO_ROW && !add_launch(out, r, r->tasks.connection[i],
                                       (struct launched){ 0, false, r->kernels.name[k], begin,
                                                          r->tasks.end_ns[i] - begin, value ? value[i] : 0 },
                                       mem))
            return false;
    }
    const struct rank_collectives *const c = &r->collectives;
    for (size_t i = 0; i < c->n; i++)
        if (!add_launch(out, r, c->connection[i],
                        (struct launched){ 0, true, c->type[i], c->begin_ns[i], c->end_ns[i] - c->begin_ns[i], 0 },
                        mem))
            return false;
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof *out->list.at, by_op);
    return true;
}

/* "MatMul, Add", and how long they took; `from` is the first launch of an operator. */
static name_id kernels_text(const struct module_tree_launches *l, size_t from, struct names *names, int64_t *ns)
{
    struct error e = { 0 };
    struct out o;
    *ns = 0;
    if (!out_open_memory(&o, &e))
        return NAME_NA;
    for (size_t i = from; i < l->list.n && l->list.at[i].op == l->list.at[from].op; i++) {
        out_bytes(&o, ", ", i > from ? 2 : 0);
        out_bytes(&o, names_text(names, l->list.at[i].name), names_len(names, l->list.at[i].name));
        *ns = wrap_add(*ns, l->list.at[i].ns);
    }
    const name_id text = names_add(names, o.buf, o.n);
    out_discard(&o);
    return text;
}

static int by_module_and_op(const void *a, const void *b)
{
    const struct placed *const x = a, *const y = b;
    if (x->module.begin_ns != y->module.begin_ns)
        return x->module.begin_ns < y->module.begin_ns ? -1 : 1;
    if (x->op.begin_ns != y->op.begin_ns)
        return x->op.begin_ns < y->op.begin_ns ? -1 : 1;
    return (x->op.row > y->op.row) - (x->op.row < y->op.row);
}

/* Runs of modules: how many operators each has, and which sequence of them. */
struct module_tree_runs {
    struct tuples keys;
    LIST(uint32_t) n_ops;
    LIST(uint32_t) sequence;
};

static uint32_t run_of(struct module_tree_runs *runs, const struct module_tree_event *m, struct arena *mem)
{
    const uint64_t begin = (uint64_t)m->begin_ns, end = (uint64_t)m->end_ns;
    const uint32_t part[] = { m->path * 2 + m->is_backward, m->name,       (uint32_t)begin,
                              (uint32_t)(begin >> 32),      (uint32_t)end, (uint32_t)(end >> 32) };
    const uint32_t at = tuple_add(&runs->keys, part, 6, mem);
    if (at == KEYS_NO_MEMORY ||
        (at == runs->n_ops.n && (!list_add(&runs->n_ops, mem) || !list_add(&runs->sequence, mem))))
        return KEYS_NO_MEMORY;
    return at;
}

/* A sequence is the one before with one more operator: equal sequences have equal numbers. */
static bool find_runs(struct module_tree_runs *runs, const struct placements *p, uint32_t *run, uint32_t *at,
                      struct arena *mem)
{
    struct keys steps = { 0 }; /* (sequence so far, operator) */
    for (size_t i = 0; i < p->list.n; i++) {
        run[i] = run_of(runs, &p->list.at[i].module, mem);
        if (run[i] == KEYS_NO_MEMORY)
            return false;
        at[i] = runs->n_ops.at[run[i]]++;
        const uint32_t next = keys_add(&steps, (uint64_t)runs->sequence.at[run[i]] << 32 | p->list.at[i].op.name, mem);
        if (next == KEYS_NO_MEMORY)
            return false;
        runs->sequence.at[run[i]] = next + 1;
    }
    return true;
}

static int by_first_begin(const void *a, const void *b)
{
    const struct module_stat *const x = a, *const y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Modules of the same name beside each other that run different operators are numbered. */
static bool number_modules(struct module_stats *out, struct names *names, struct arena *mem)
{
    const size_t n = out->list.n;
    uint32_t *const sequence = arena_take(mem, n, sizeof *sequence);
    for (size_t from = 0, end; sequence && from < n; from = end) {
        struct module_stat *const first = &out->list.at[from];
        const name_id parent = first->parent, module = first->module;
        for (end = from; end < n && out->list.at[end].parent == parent && out->list.at[end].module == module; end++)
            sequence[end - from] = out->list.at[end].sequence;
        size_t distinct = 0;
        qsort(sequence, end - from, sizeof *sequence, compare_u32s);
        for (size_t i = 0; i < end - from; i++)
            if (distinct == 0 || sequence[distinct - 1] != sequence[i])
                sequence[distinct++] = sequence[i];
        for (size_t i = from; distinct > 1 && i < end; i++) {
            const uint32_t wanted = out->list.at[i].sequence;
            const size_t number = SEARCH_FIRST_NOT(at, 0, distinct, sequence[at] < wanted);
            const char *const text = arena_printf(mem, "%s_%zu", names_text(names, module), number);
            if (!text)
                return false;
            out->list.at[i].module = names_addz(names, text);
        }
    }
    return sequence != NULL;
}

/* The values of the kernels of one run; `from` is the first launch of its operator. */
static bool add_values(struct module_stats *out, struct module_stat *to, const struct module_tree_launches *l,
                       size_t from, bool is_new, struct arena *mem)
{
    to->first_value = is_new ? out->values.n : to->first_value;
    for (size_t i = from, module_tree_place = 0; i < l->list.n && l->list.at[i].op == l->list.at[from].op;
         i++, module_tree_place++) {
        if (is_new && !list_add(&out->values, mem))
            return false;
        to->n_values += is_new;
        if (l->list.at[i].value > 0 && module_tree_place < to->n_values) {
            out->values.at[to->first_value + module_tree_place].sum += l->list.at[i].value;
            out->values.at[to->first_value + module_tree_place].n++;
        }
    }
    return true;
}

static bool add_up(struct module_stats *out, const struct placements *p, const struct module_tree_launches *l,
                   struct names *names, struct arena *mem)
{
    struct module_tree_runs runs = { 0 };
    struct tuples groups = { 0 };
    struct keys seen = { 0 };
    uint32_t *const run = arena_take(mem, p->list.n, sizeof *run), *const at = arena_take(mem, p->list.n, sizeof *at);
    if (!run || !at || !find_runs(&runs, p, run, at, mem))
        return false;
    for (size_t i = 0; i < p->list.n; i++) {
        const struct placed *const x = &p->list.at[i];
        int64_t ns;
        const name_id kernels = kernels_text(l, x->op.row, names, &ns);
        const char *const backward =
            x->module.is_backward ? arena_printf(mem, "[Backward]%s", names_text(names, x->module.name)) : "";
        const uint32_t sequence = keys_add(&seen, runs.sequence.at[run[i]], mem); /* as they appear */
        if (kernels == NAME_NA || !backward || sequence == KEYS_NO_MEMORY)
            return false;
        const name_id module = x->module.is_backward ? names_addz(names, backward) : x->module.name;
        const uint32_t part[] = { x->module.path, module, x->op.name, at[i], kernels, sequence };
        const uint32_t group = tuple_add(&groups, part, 6, mem);
        const bool is_new = group == out->list.n;
        if (group == KEYS_NO_MEMORY || (is_new && !list_add(&out->list, mem)))
            return false;
        struct module_stat *const s = &out->list.at[group];
        if (is_new)
            *s = (struct module_stat){ x->module.path, module, x->op.name, kernels, at[i], sequence, 0, 0,
                                       x->op.begin_ns, 0,      0 };
        if (!add_values(out, s, l, x->op.row, is_new, mem))
            return false;
        s->count++;
        s->total_ns = wrap_add(s->total_ns, ns);
        s->begin_ns = x->op.begin_ns < s->begin_ns ? x->op.begin_ns : s->begin_ns;
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof *out->list.at, by_first_begin);
    return number_modules(out, names, mem);
}

bool module_stats_find(struct module_stats *out, const struct rank *r, const double *value, struct arena *mem)
{
    struct module_tree_events e = { 0 };
    struct module_tree_launches l = { 0 };
    struct placements p = { 0 };
    if (!add_modules(&e, r, mem) || !add_backward(&e, r, mem) || !find_launches(&l, r, value, mem))
        return false;
    for (size_t i = 0; i < l.list.n; i++) {
        const uint32_t op = l.list.at[i].op;
        if ((i == 0 || l.list.at[i - 1].op != op) &&
            !add_event(&e,
                       (struct module_tree_event){ r->ops.begin_ns[op], r->ops.end_ns[op], r->ops.name[op],
                                                   .is_op = true, .row = (uint32_t)i },
                       mem))
            return false;
    }
    if (!module_tree_place(&p, &e, r->names, mem))
        return false;
    if (p.list.n > 0)
        qsort(p.list.at, p.list.n, sizeof *p.list.at, by_module_and_op);
    return add_up(out, &p, &l, r->names, mem);
}
