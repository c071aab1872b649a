/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/step_division.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/overlap.h"
#include "analyse/framework/profiler_steps.h"
#include "analyse/host/nesting.h"
#include "base/sort.h"
#include "raw/sampler.h"

/* Time of the steps that nothing was found for yet: disjoint, ascending. */
struct left {
    int64_t begin_ns, end_ns;
    uint32_t step;
};

/* A kind and a name: what the usual steps spent on it together, and where a wanted step has its own sum. */
struct slot {
    enum spent_kind kind;
    name_id name;
    double ns, runs, mhz_ns, clocked_ns;
    struct spent_place place;
    int64_t longest_ns;
    uint32_t cell, cell_step; /* the last one; steps come in order, mostly */
};
struct cell {
    uint32_t slot, wanted;
    double ns, runs, mhz_ns, clocked_ns;
    struct spent_place place;
    int64_t longest_ns;
};

struct division {
    const struct step_series *s;
    const struct profile *p;
    const struct device *d;
    const struct collection *collection;
    uint32_t *wanted_of;            /* by step: its number among the wanted; NO_ROW */
    uint32_t *slot_of[SPENT_KINDS]; /* by name: slot + 1 */
    uint8_t *data_names;            /* by name, whether it loads data: 1 no, 2 yes; 0: not known yet */
    size_t n_names, n_usual;
    LIST(struct slot) slots;
    LIST(struct cell) cells;
    LIST(struct left) now, next; /* of this layer, and for the one behind it */
    size_t at;                   /* in `now` */
    int64_t reach_ns;            /* this layer was here until then */
    size_t step;                 /* of the last begin */
    struct arena *mem;
};

/* Something that took time. What is spent may be less than the event lasts: what is inside of it has its own. */
struct span {
    enum spent_kind kind;
    name_id name;
    int64_t begin_ns, end_ns;
    struct spent_place place;
    double mhz;
};

static struct slot *slot_get(struct division *v, enum spent_kind kind, name_id name)
{
    if (name >= v->n_names)
        return NULL;
    if (!v->slot_of[kind] && !(v->slot_of[kind] = arena_take(v->mem, v->n_names, sizeof **v->slot_of)))
        return NULL;
    uint32_t *at = &v->slot_of[kind][name];
    if (*at == 0) {
        struct slot *fresh = list_add(&v->slots, v->mem);
        if (!fresh)
            return NULL;
        *fresh = (struct slot){ .kind = kind, .name = name, .cell_step = NO_ROW };
        *at = (uint32_t)v->slots.n;
    }
    return &v->slots.at[*at - 1];
}

static struct cell *cell_get(struct division *v, struct slot *slot, uint32_t step)
{
    if (slot->cell_step != step) {
        struct cell *fresh = list_add(&v->cells, v->mem);
        if (!fresh)
            return NULL;
        *fresh = (struct cell){ .slot = (uint32_t)(slot - v->slots.at), .wanted = v->wanted_of[step] };
        slot->cell = (uint32_t)(v->cells.n - 1);
        slot->cell_step = step;
    }
    return &v->cells.at[slot->cell];
}

static void add(struct division *v, uint32_t step, const struct span *x, double ns, bool is_run)
{
    const bool is_wanted = v->wanted_of[step] != NO_ROW;
    if (!is_wanted && v->s->is_slow[step])
        return;
    struct slot *slot = slot_get(v, x->kind, x->name);
    struct cell *cell = slot && is_wanted ? cell_get(v, slot, step) : NULL;
    if (!slot || (is_wanted && !cell))
        return; /* no memory: the arena knows */
    *(is_wanted ? &cell->ns : &slot->ns) += ns;
    *(is_wanted ? &cell->runs : &slot->runs) += is_run;
    if (x->mhz > 0) {
        *(is_wanted ? &cell->mhz_ns : &slot->mhz_ns) += x->mhz * ns;
        *(is_wanted ? &cell->clocked_ns : &slot->clocked_ns) += ns;
    }
    int64_t *longest_ns = is_wanted ? &cell->longest_ns : &slot->longest_ns;
    if ((int64_t)ns > *longest_ns) {
        *longest_ns = (int64_t)ns;
        *(is_wanted ? &cell->place : &slot->place) = x->place;
    }
}

static void keep(struct division *v, int64_t begin_ns, int64_t end_ns, uint32_t step)
{
    struct left *left = begin_ns < end_ns ? list_add(&v->next, v->mem) : NULL;
    if (left)
        *left = (struct left){ begin_ns, end_ns, step };
}

/* Counts a run in the step in which it begins; in a layer they come by ascending begin. */
static void count(struct division *v, const struct span *x)
{
    while (v->step < v->s->n && v->s->end_ns[v->step] <= x->begin_ns)
        v->step++;
    if (v->step < v->s->n && v->s->begin_ns[v->step] <= x->begin_ns)
        add(v, (uint32_t)v->step, x, 0, true);
}

/* Takes the time of a span out of what is left; in a layer they come by ascending begin. */
static void spend(struct division *v, const struct span *x)
{
    const int64_t from_ns = x->begin_ns > v->reach_ns ? x->begin_ns : v->reach_ns;
    if (x->end_ns <= from_ns)
        return;
    for (; v->at < v->now.n && v->now.at[v->at].end_ns <= from_ns; v->at++)
        keep(v, v->now.at[v->at].begin_ns, v->now.at[v->at].end_ns, v->now.at[v->at].step);
    for (; v->at < v->now.n && v->now.at[v->at].begin_ns < x->end_ns; v->at++) {
        struct left *left = &v->now.at[v->at];
        const int64_t begin_ns = left->begin_ns > from_ns ? left->begin_ns : from_ns,
                      end_ns = left->end_ns < x->end_ns ? left->end_ns : x->end_ns;
        keep(v, left->begin_ns, begin_ns, left->step);
        add(v, left->step, x, (double)span_ns(begin_ns, end_ns), false);
        left->begin_ns = end_ns;
        if (left->end_ns > x->end_ns)
            break;
    }
    v->reach_ns = x->end_ns;
}

/* What this layer left is for the next one. */
static void layer_end(struct division *v)
{
    for (; v->at < v->now.n; v->at++)
        keep(v, v->now.at[v->at].begin_ns, v->now.at[v->at].end_ns, v->now.at[v->at].step);
    const __typeof__(v->now) spare = v->now;
    v->now.at = v->next.at, v->now.n = v->next.n, v->now.cap = v->next.cap;
    v->next.at = spare.at, v->next.n = 0, v->next.cap = spare.cap;
    v->at = v->step = 0;
    v->reach_ns = INT64_MIN;
}

/* ---- the device ------------------------------------------------------------------------------------------------ */

static const char *text_of(const struct division *v, name_id name)
{
    return names_text(v->p->names, name);
}

/* The clock of the device's cores at a moment: of its last change before; 0: not recorded. */
static double mhz_at(const struct device *d, int64_t ns)
{
    const struct samples *f = &d->counters.rate[SAMPLER_FREQ];
    const size_t later = d->counters.raw[SAMPLER_FREQ].n > 0 ? SEARCH_FIRST_NOT(i, 0, f->n, f->at_ns[i] <= ns) : 0;
    return later > 0 ? samples_real(f, LPM_ENTRY_VALUE, later - 1) : 0;
}

static name_id label_of(name_id type, name_id name)
{
    return type == NAME_NA || type == NAME_EMPTY ? name : type;
}

static void take_tasks(struct division *v, bool are_copies)
{
    const struct ops *ops = &v->p->host.ops;
    const struct tasks *t = &v->d->tasks;
    for (size_t i = 0; i < t->n; i++) {
        const bool is_op = t->op[i] != NO_ROW && task_is_computing(v->p, t, i);
        if (t->is_hidden[i] || (are_copies ? is_op || t->copy_kind[i] == COPY_NONE : !is_op))
            continue;
        const name_id event = t->op[i] == NO_ROW ? t->type[i] : ops->name[t->op[i]];
        const struct span x = { .kind = are_copies ? SPENT_COPY : SPENT_OPERATOR,
                                .name = are_copies ? event : label_of(ops->op_type[t->op[i]], event),
                                .begin_ns = t->begin_ns[i],
                                .end_ns = t->begin_ns[i] + (int64_t)t->dur_ns[i],
                                .mhz = are_copies ? 0 : mhz_at(v->d, t->begin_ns[i]),
                                .place = { SHOWN_STREAM, t->stream[i], NULL, text_of(v, event), t->begin_ns[i],
                                           (int64_t)t->dur_ns[i] } };
        count(v, &x);
        spend(v, &x);
    }
    layer_end(v);
}

static struct span collective_span(const struct division *v, size_t op, enum spent_kind kind)
{
    const struct comm_ops *o = &v->d->comm.ops;
    return (struct span){ .kind = kind,
                          .name = label_of(o->op_type[op], o->name[op]),
                          .begin_ns = o->begin_ns[op],
                          .end_ns = o->begin_ns[op] + (int64_t)o->dur_ns[op],
                          .place = { SHOWN_COMMUNICATION, 0, text_of(v, o->group[op]), text_of(v, o->name[op]),
                                     o->begin_ns[op], (int64_t)o->dur_ns[op] } };
}

/* Rows by ascending begin. NULL: no memory. */
static uint32_t *order_of(struct division *v, const int64_t *begin_ns, size_t n)
{
    uint32_t *order = arena_take(v->mem, n, sizeof *order);
    uint64_t *key = arena_take(v->mem, n, sizeof *key);
    if (!order || !key)
        return NULL;
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ (uint64_t)1 << 63; /* signed times in unsigned order */
    order_fill(order, n);
    return order_by_u64(order, n, key) ? order : NULL;
}

/* Waits on the master stream are for other ranks; the rest of a collective is its transfer. */
static bool take_collectives(struct division *v)
{
    const struct comm_ops *o = &v->d->comm.ops;
    const struct comm_tasks *t = &v->d->comm.tasks;
    const name_id wait = names_addz(v->p->names, "Notify_Wait");
    const uint32_t *order = order_of(v, o->begin_ns, o->n);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->is_master[i] || t->name[i] != wait || t->op[i] >= o->n || !o->is_shown[t->op[i]])
            continue;
        struct span x = collective_span(v, t->op[i], SPENT_WAIT);
        x.begin_ns = t->begin_ns[i];
        x.end_ns = t->begin_ns[i] + (int64_t)t->dur_ns[i];
        spend(v, &x);
    }
    layer_end(v);
    for (size_t i = 0; order && i < o->n; i++)
        if (o->is_shown[order[i]]) {
            const struct span x = collective_span(v, order[i], SPENT_TRANSFER);
            count(v, &x);
            spend(v, &x);
        }
    layer_end(v);
    return order != NULL;
}

/* The device waited for its input queue. */
static bool take_inputs(struct division *v)
{
    const struct spans *g = &v->d->steps.get_nexts;
    const struct source *source = &v->d->source;
    const name_id name = names_addz(v->p->names, "GetNext");
    int64_t *begin_ns = arena_take(v->mem, g->n, sizeof *begin_ns);
    for (size_t i = 0; begin_ns && i < g->n; i++)
        begin_ns[i] = source_device_ns(source, g->begin[i]);
    const uint32_t *order = begin_ns ? order_of(v, begin_ns, g->n) : NULL;
    for (size_t i = 0; order && i < g->n; i++) {
        const int64_t begin = begin_ns[order[i]], end = source_device_ns(source, g->end[order[i]]);
        const struct span x = {
            .kind = SPENT_DATA,
            .name = name,
            .begin_ns = begin,
            .end_ns = end,
            .place = { SHOWN_STEPS, 0, NULL, "GetNext", begin, span_ns(begin, end) },
        };
        count(v, &x);
        spend(v, &x);
    }
    layer_end(v);
    return order != NULL;
}

/* ---- the host -------------------------------------------------------------------------------------------------- */

static bool take_garbage(struct division *v)
{
    const struct collected_garbage *g = &v->collection->framework.gc;
    const uint32_t *order = order_of(v, g->begin_ns, g->n);
    for (size_t i = 0; order && i < g->n; i++) {
        const int64_t begin = g->begin_ns[order[i]], end = g->end_ns[order[i]];
        const struct span x = {
            .kind = SPENT_GC,
            .name = NAME_EMPTY,
            .begin_ns = begin,
            .end_ns = end,
            .place = { SHOWN_GC, g->process[order[i]], NULL, "GC", begin, span_ns(begin, end) },
        };
        count(v, &x);
        spend(v, &x);
    }
    layer_end(v);
    return order != NULL;
}

static bool is_data(const struct division *v, name_id name)
{
    static const char *const word[] = { "dataloader", "data_loader", "GetNext", "DatasetIterator" };
    if (name >= v->n_names)
        return false;
    if (v->data_names[name] == 0) {
        v->data_names[name] = 1;
        for (size_t i = 0; i < sizeof word / sizeof *word; i++)
            if (strcasestr(text_of(v, name), word[i]))
                v->data_names[name] = 2;
    }
    return v->data_names[name] == 2;
}

static bool is_allocation(const char *name)
{
    static const char *const begin[] = { "aclrtMalloc", "aclrtFree",  "aclMallocMem", "aclrtMapMem", "aclrtUnmapMem",
                                         "rtMalloc",    "rtFree",     "DevMalloc",    "DevFree",     "halMemAlloc",
                                         "halMemFree",  "cudaMalloc", "cudaFree",     "cuMemAlloc",  "cuMemFree",
                                         "cuMemCreate", "cuMemMap",   "cuMemUnmap",   "cuMemRelease" };
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(name, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

static struct span call_span(const struct division *v, size_t call, enum spent_kind kind)
{
    const struct calls *c = &v->p->host.calls;
    const name_id name = dictionary_type(&v->p->dictionary, c->level[call], c->type[call]);
    const int64_t begin = source_host_ns(&v->p->host.source, c->begin[call]),
                  end = source_host_ns(&v->p->host.source, c->end[call]);
    return (
        struct span){ .kind = kind,
                      .name = name,
                      .begin_ns = begin,
                      .end_ns = end,
                      .place = { SHOWN_CALLS, c->thread[call], NULL, text_of(v, name), begin, span_ns(begin, end) } };
}

static bool take_allocations(struct division *v)
{
    const struct calls *c = &v->p->host.calls;
    uint8_t *known = arena_take(v->mem, v->n_names, 1); /* by name: 1 no, 2 yes; 0: not known yet */
    LIST(struct span) found = { 0 };
    for (size_t i = 0; known && i < c->n; i++) {
        const name_id name = dictionary_type(&v->p->dictionary, c->level[i], c->type[i]);
        if (name >= v->n_names)
            continue;
        known[name] = known[name] ? known[name] : 1 + is_allocation(text_of(v, name));
        struct span *x = known[name] == 2 ? list_add(&found, v->mem) : NULL;
        if (x)
            *x = call_span(v, i, SPENT_ALLOCATION);
    }
    int64_t *begin_ns = arena_take(v->mem, found.n, sizeof *begin_ns);
    for (size_t i = 0; begin_ns && i < found.n; i++)
        begin_ns[i] = found.at[i].begin_ns;
    const uint32_t *order = begin_ns ? order_of(v, begin_ns, found.n) : NULL;
    for (size_t i = 0; order && i < found.n; i++) {
        count(v, &found.at[order[i]]);
        spend(v, &found.at[order[i]]);
    }
    layer_end(v);
    return known && order;
}

/* Things that enclose each other, whose time is that of the innermost one, over all threads: the one that began last. */
struct nest {
    size_t n;
    const uint32_t *order; /* as nesting_order() leaves it */
    struct span (*span)(const struct division *v, size_t row);
    bool (*is_left_out)(const struct division *v, size_t row); /* NULL: none is */
};

static bool take_nest(struct division *v, const struct nest *nest)
{
    LIST(struct span) open = { 0 };
    int64_t now_ns = INT64_MIN;
    for (size_t i = 0; i <= nest->n; i++) {
        const bool is_end = i == nest->n;
        if (!is_end && nest->is_left_out && nest->is_left_out(v, nest->order[i]))
            continue;
        struct span x = is_end ? (struct span){ .begin_ns = INT64_MAX } : nest->span(v, nest->order[i]);
        for (bool is_done = false; open.n > 0 && !is_done;) {
            struct span top = open.at[open.n - 1];
            is_done = top.end_ns > x.begin_ns;
            top.begin_ns = now_ns;
            top.end_ns = is_done ? x.begin_ns : top.end_ns;
            spend(v, &top);
            now_ns = top.end_ns > now_ns ? top.end_ns : now_ns;
            open.n -= !is_done;
        }
        if (is_end || x.end_ns <= x.begin_ns)
            continue;
        now_ns = x.begin_ns > now_ns ? x.begin_ns : now_ns;
        if (open.n > 0 && open.at[open.n - 1].kind == SPENT_DATA) { /* what loading data calls is loading data */
            x.kind = SPENT_DATA;
            x.name = open.at[open.n - 1].name;
        } else {
            count(v, &x);
        }
        struct span *slot = list_add(&open, v->mem);
        if (!slot)
            return false;
        *slot = x;
    }
    layer_end(v);
    return true;
}

static struct span op_span(const struct division *v, size_t row)
{
    const struct framework_ops *o = &v->collection->framework.ops;
    const name_id label = framework_op_label(o, row);
    return (struct span){ .kind = is_data(v, label) ? SPENT_DATA
                                  : v->d            ? SPENT_HOST
                                                    : SPENT_OPERATOR,
                          .name = label,
                          .begin_ns = o->begin_ns[row],
                          .end_ns = o->end_ns[row],
                          .place = { SHOWN_FRAMEWORK, o->thread ? o->thread[row] : 0, NULL, text_of(v, o->name[row]),
                                     o->begin_ns[row], span_ns(o->begin_ns[row], o->end_ns[row]) } };
}

/* Ranges of steps enclose everything. Those of the dataset pipeline's own threads are not what the device waits for: the one that
 * takes its results is. */
static bool op_is_left_out(const struct division *v, size_t row)
{
    return name_is_step(v->p->names, v->collection->framework.ops.name[row]);
}

static bool take_ops(struct division *v)
{
    const struct framework_ops *o = &v->collection->framework.ops;
    const struct ms_dataset *data = &v->collection->framework.ms.dataset;
    uint32_t *order = arena_take(v->mem, o->n, sizeof *order);
    bool *is_pipeline = arena_take(v->mem, o->n, sizeof *is_pipeline);
    if (!order || !is_pipeline)
        return false;
    for (size_t i = 0; i < data->n; i++)
        if (data->op[i] < o->n && !is_data(v, o->name[data->op[i]]))
            is_pipeline[data->op[i]] = true;
    size_t n = 0;
    order_fill(order, o->n);
    if (!nesting_order(order, o->n, o->begin_ns, o->end_ns))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!is_pipeline[order[i]])
            order[n++] = order[i];
    return take_nest(v, &(struct nest){ n, order, op_span, op_is_left_out });
}

static struct span python_span(const struct division *v, size_t row)
{
    const struct python_calls *c = &v->collection->framework.python;
    const char *name = text_of(v, c->name[row]);
    return (struct span){ .kind = is_data(v, c->name[row]) ? SPENT_DATA : SPENT_PYTHON,
                          .name = c->name[row],
                          .begin_ns = c->begin_ns[row],
                          .end_ns = c->end_ns[row],
                          .place = { SHOWN_FRAMEWORK, c->thread[row], NULL, name, c->begin_ns[row],
                                     span_ns(c->begin_ns[row], c->end_ns[row]) } };
}

static struct span host_call_span(const struct division *v, size_t row)
{
    return call_span(v, row, SPENT_HOST);
}

static struct span range_span(const struct division *v, size_t row)
{
    const struct marks *k = &v->p->host.records.marks;
    const int64_t begin = source_host_ns(&v->p->host.source, k->begin[row]),
                  end = source_host_ns(&v->p->host.source, k->end[row]);
    return (struct span){ .kind = SPENT_RANGE,
                          .name = k->message[row],
                          .begin_ns = begin,
                          .end_ns = end,
                          .place = { SHOWN_MARKS, k->thread ? k->thread[row] : 0, NULL, text_of(v, k->message[row]),
                                     begin, span_ns(begin, end) } };
}

static bool range_is_left_out(const struct division *v, size_t row)
{
    return name_is_step(v->p->names, v->p->host.records.marks.message[row]);
}

static bool take_times(struct division *v, size_t n, struct span (*span)(const struct division *v, size_t row),
                       bool (*is_left_out)(const struct division *v, size_t row))
{
    uint32_t *order = arena_take(v->mem, n, sizeof *order);
    int64_t *begin_ns = arena_take(v->mem, n, sizeof *begin_ns), *end_ns = arena_take(v->mem, n, sizeof *end_ns);
    if (!order || !begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct span x = span(v, i);
        begin_ns[i] = x.begin_ns;
        end_ns[i] = x.end_ns;
    }
    order_fill(order, n);
    return nesting_order(order, n, begin_ns, end_ns) && take_nest(v, &(struct nest){ n, order, span, is_left_out });
}

static void take_nothing(struct division *v)
{
    for (size_t i = 0; i < v->now.n; i++) {
        const struct left *left = &v->now.at[i];
        const struct span x = { .kind = SPENT_NOTHING,
                                .begin_ns = left->begin_ns,
                                .end_ns = left->end_ns,
                                .place = { SHOWN_NONE, 0, NULL, NULL, left->begin_ns,
                                           span_ns(left->begin_ns, left->end_ns) } };
        spend(v, &x);
    }
    layer_end(v);
}

static bool take_all(struct division *v)
{
    if (v->d) {
        take_tasks(v, false);
        if (!take_collectives(v))
            return false;
        take_tasks(v, true);
        if (!take_inputs(v))
            return false;
    }
    if (v->collection && !take_garbage(v))
        return false;
    const bool has_host = profile_has_host(v->p);
    if (v->d && has_host && !take_allocations(v))
        return false;
    if (v->collection && !(take_ops(v) && take_times(v, v->collection->framework.python.n, python_span, NULL)))
        return false;
    if (!v->collection && has_host && !take_times(v, v->p->host.calls.n, host_call_span, NULL))
        return false;
    if (has_host && !take_times(v, v->p->host.records.marks.n, range_span, range_is_left_out))
        return false;
    take_nothing(v);
    return !arena_failed(v->mem);
}

/* ---- results --------------------------------------------------------------------------------------------------- */

int spent_compare(const struct spent *a, const struct spent *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

static int by_kind_and_name(const void *a, const void *b)
{
    return spent_compare(a, b);
}

static void profile_end(struct step_profile *f)
{
    if (f->n > 0)
        qsort(f->at, f->n, sizeof *f->at, by_kind_and_name);
    for (size_t i = 0; i < f->n; i++)
        f->time_ns += f->at[i].ns;
}

static bool make_usual(const struct division *v, struct step_profile *out, struct arena *mem)
{
    const double n = (double)(v->n_usual > 0 ? v->n_usual : 1);
    *out = (struct step_profile){ .at = arena_take(mem, v->slots.n, sizeof *out->at) };
    for (size_t i = 0; out->at && i < v->slots.n; i++) {
        const struct slot *slot = &v->slots.at[i];
        if (slot->ns > 0 || slot->runs > 0)
            out->at[out->n++] = (struct spent){ slot->kind,
                                                text_of(v, slot->name),
                                                slot->ns / n,
                                                slot->runs / n,
                                                slot->clocked_ns > 0 ? slot->mhz_ns / slot->clocked_ns : 0,
                                                slot->place };
    }
    profile_end(out);
    return out->at != NULL;
}

static int by_step_and_slot(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return x->wanted != y->wanted ? (x->wanted < y->wanted ? -1 : 1) : x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* The cells of one step from `first` on; a kind and name may have several of them, from several layers. */
static size_t make_one(const struct division *v, size_t first, struct step_profile *out, struct arena *mem)
{
    size_t end = first;
    while (end < v->cells.n && v->cells.at[end].wanted == v->cells.at[first].wanted)
        end++;
    *out = (struct step_profile){ .at = arena_take(mem, end - first, sizeof *out->at) };
    for (size_t i = first; out->at && i < end;) {
        struct cell sum = v->cells.at[i++];
        for (; i < end && v->cells.at[i].slot == sum.slot; i++) {
            const struct cell *more = &v->cells.at[i];
            sum.ns += more->ns;
            sum.runs += more->runs;
            sum.mhz_ns += more->mhz_ns;
            sum.clocked_ns += more->clocked_ns;
            sum.place = more->longest_ns > sum.longest_ns ? more->place : sum.place;
            sum.longest_ns = more->longest_ns > sum.longest_ns ? more->longest_ns : sum.longest_ns;
        }
        const struct slot *slot = &v->slots.at[sum.slot];
        out->at[out->n++] = (struct spent){
            slot->kind, text_of(v, slot->name), sum.ns, sum.runs, sum.clocked_ns > 0 ? sum.mhz_ns / sum.clocked_ns : 0,
            sum.place
        };
    }
    profile_end(out);
    return end;
}

static bool division_begin(struct division *v, const uint32_t *wanted, size_t n_wanted)
{
    const struct step_series *s = v->s;
    v->wanted_of = arena_take(v->mem, s->n, sizeof *v->wanted_of);
    if (!v->wanted_of)
        return false;
    for (size_t i = 0; i < s->n; i++)
        v->wanted_of[i] = NO_ROW;
    for (size_t i = 0; i < n_wanted; i++)
        v->wanted_of[wanted[i]] = (uint32_t)i;
    for (size_t i = 0; i < s->n; i++) {
        keep(v, s->begin_ns[i], s->end_ns[i], (uint32_t)i);
        v->n_usual += !s->is_slow[i] && v->wanted_of[i] == NO_ROW;
    }
    layer_end(v);
    names_addz(v->p->names, "Notify_Wait"); /* before names are counted */
    names_addz(v->p->names, "GetNext");
    v->n_names = names_count(v->p->names);
    v->data_names = arena_take(v->mem, v->n_names, sizeof *v->data_names);
    return !arena_failed(v->mem);
}

bool step_division_find(struct step_division *out, const struct step_series *s, const struct profile *p,
                        const struct device *d, const struct collection *collection, const uint32_t *wanted,
                        size_t n_wanted, struct arena *mem)
{
    struct division v = { .s = s, .p = p, .d = d, .collection = collection, .mem = arena_new() };
    *out = (struct step_division){ .of = arena_take(mem, n_wanted, sizeof *out->of) };
    bool done =
        v.mem && out->of && division_begin(&v, wanted, n_wanted) && take_all(&v) && make_usual(&v, &out->usual, mem);
    if (done && v.cells.n > 0)
        qsort(v.cells.at, v.cells.n, sizeof *v.cells.at, by_step_and_slot);
    for (size_t i = 0; done && i < v.cells.n;) {
        struct step_profile *one = &out->of[v.cells.at[i].wanted];
        i = make_one(&v, i, one, mem);
        done = one->at != NULL;
    }
    out->n_usual = v.n_usual;
    arena_free(v.mem);
    return done;
}
