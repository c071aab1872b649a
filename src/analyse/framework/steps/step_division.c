/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_division.h"

#include "analyse/device/device_analysis.h"
#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "raw/framework_values.h"
#include "raw/sampler.h"

struct division {
    const struct profile *p;
    const struct device *d;
    const struct collection *collection;
    const struct step_series *series;
    struct known_waits waits;
    struct step_layers *layers;
    struct arena *mem; /* of the layers */
    LIST(uint32_t)
    ranges; /* rows of operators: ranges of the user, which enclose Python functions as these enclose them */
};

/* ---- the device ------------------------------------------------------------------------------------------------ */

static const char *step_division_text_of(const struct division *v, name_id name)
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
        if (task_does(v->p, t, i) != (are_copies ? TASK_COPIES : TASK_COMPUTES))
            continue;
        const name_id event = t->op[i] == NO_ROW ? t->type[i] : ops->name[t->op[i]];
        const struct spent_span x = {
            .kind = are_copies ? SPENT_COPY : SPENT_OPERATOR,
            .name = are_copies || t->op[i] == NO_ROW ? event : label_of(ops->op_type[t->op[i]], event),
            .begin_ns = t->begin_ns[i],
            .end_ns = t->begin_ns[i] + (int64_t)t->dur_ns[i],
            .mhz = are_copies ? 0 : mhz_at(v->d, t->begin_ns[i]),
            .place = { SHOWN_STREAM, task_stream_id(v->d, i), NULL, step_division_text_of(v, event), t->begin_ns[i],
                       (int64_t)t->dur_ns[i] }
        };
        layers_take(v->layers, &x);
    }
    layers_next(v->layers);
}

static struct spent_span collective_span(const struct division *v, size_t op, enum spent_kind kind)
{
    const struct comm_ops *o = &v->d->comm.ops;
    return (struct spent_span){ .kind = kind,
                                .name = label_of(o->op_type[op], o->name[op]),
                                .begin_ns = o->begin_ns[op],
                                .end_ns = o->begin_ns[op] + (int64_t)o->dur_ns[op],
                                .place = { SHOWN_COMMUNICATION, 0, step_division_text_of(v, o->group[op]),
                                           step_division_text_of(v, o->name[op]), o->begin_ns[op],
                                           (int64_t)o->dur_ns[op] } };
}

/* A collective until its last member joined. */
static struct spent_span wait_span(const struct division *v, const struct known_wait *w, struct spent_span x)
{
    x.kind = SPENT_WAIT;
    x.name = names_addz(v->p->names, w->for_whom);
    x.begin_ns = w->begin_ns;
    x.end_ns = w->joined_ns;
    return x;
}

/* Where members were not read, waits on the master stream are for other ranks. The rest of a collective is its
 * transfer. */
static bool take_collectives(struct division *v)
{
    const struct comm_ops *o = &v->d->comm.ops;
    const struct comm_tasks *t = &v->d->comm.tasks;
    const name_id wait = names_addz(v->p->names, "Notify_Wait");
    const uint32_t *order = layers_order(v->layers, o->begin_ns, o->n);
    bool *is_known = arena_take(v->mem, o->n, sizeof *is_known);
    if (!is_known)
        return false;
    for (size_t i = 0; i < v->waits.n; i++) {
        const struct known_wait *w = &v->waits.at[i];
        if (w->row >= o->n)
            continue;
        const struct spent_span x = wait_span(v, w, collective_span(v, w->row, SPENT_WAIT));
        is_known[w->row] = true;
        layers_spend(v->layers, &x);
    }
    layers_next(v->layers);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->is_master[i] || t->name[i] != wait || t->op[i] >= o->n || !o->is_shown[t->op[i]] || is_known[t->op[i]])
            continue;
        struct spent_span x = collective_span(v, t->op[i], SPENT_WAIT);
        x.begin_ns = t->begin_ns[i];
        x.end_ns = t->begin_ns[i] + (int64_t)t->dur_ns[i];
        layers_spend(v->layers, &x);
    }
    layers_next(v->layers);
    for (size_t i = 0; order && i < o->n; i++)
        if (o->is_shown[order[i]]) {
            const struct spent_span x = collective_span(v, order[i], SPENT_TRANSFER);
            layers_take(v->layers, &x);
        }
    layers_next(v->layers);
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
    const uint32_t *order = begin_ns ? layers_order(v->layers, begin_ns, g->n) : NULL;
    for (size_t i = 0; order && i < g->n; i++) {
        const int64_t begin = begin_ns[order[i]], end = source_device_ns(source, g->end[order[i]]);
        const struct spent_span x = {
            .kind = SPENT_DATA,
            .name = name,
            .begin_ns = begin,
            .end_ns = end,
            .place = { SHOWN_STEPS, 0, NULL, "GetNext", begin, span_ns(begin, end) },
        };
        layers_take(v->layers, &x);
    }
    layers_next(v->layers);
    return order != NULL;
}

/* ---- the host -------------------------------------------------------------------------------------------------- */

static bool take_garbage(struct division *v)
{
    const struct collected_garbage *g = &v->collection->framework.gc;
    const uint32_t *order = layers_order(v->layers, g->begin_ns, g->n);
    for (size_t i = 0; order && i < g->n; i++) {
        const int64_t begin = g->begin_ns[order[i]], end = g->end_ns[order[i]];
        const struct spent_span x = {
            .kind = SPENT_GC,
            .name = NAME_EMPTY,
            .begin_ns = begin,
            .end_ns = end,
            .place = { SHOWN_GC, g->process[order[i]], NULL, "GC", begin, span_ns(begin, end) },
        };
        layers_take(v->layers, &x);
    }
    layers_next(v->layers);
    return order != NULL;
}

/* The host waits for data or for requests. */
static bool is_wait(const struct division *v, name_id name)
{
    const enum spent_kind kind = layers_host_kind(v->layers, name);
    return kind == SPENT_DATA || kind == SPENT_REQUESTS;
}

static struct spent_span call_span(const struct division *v, size_t call, enum spent_kind kind)
{
    const struct calls *c = &v->p->host.calls;
    const name_id name = dictionary_type(&v->p->dictionary, c->level[call], c->type[call]);
    const int64_t begin = source_host_ns(&v->p->host.source, c->begin[call]),
                  end = source_host_ns(&v->p->host.source, c->end[call]);
    return (struct spent_span){ .kind = kind,
                                .name = name,
                                .begin_ns = begin,
                                .end_ns = end,
                                .place = { SHOWN_CALLS, c->thread[call], NULL, step_division_text_of(v, name), begin,
                                           span_ns(begin, end) } };
}

static bool take_allocations(struct division *v)
{
    const struct calls *c = &v->p->host.calls;
    LIST(struct spent_span) found = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        const name_id name = dictionary_type(&v->p->dictionary, c->level[i], c->type[i]);
        struct spent_span *x = layers_host_kind(v->layers, name) == SPENT_ALLOCATION ? list_add(&found, v->mem) : NULL;
        if (x)
            *x = call_span(v, i, SPENT_ALLOCATION);
    }
    int64_t *begin_ns = arena_take(v->mem, found.n, sizeof *begin_ns);
    for (size_t i = 0; begin_ns && i < found.n; i++)
        begin_ns[i] = found.at[i].begin_ns;
    const uint32_t *order = begin_ns ? layers_order(v->layers, begin_ns, found.n) : NULL;
    for (size_t i = 0; order && i < found.n; i++)
        layers_take(v->layers, &found.at[order[i]]);
    layers_next(v->layers);
    return order != NULL;
}

/* Ranges of steps enclose everything; on the host alone, ranges around several steps are no part of one. */
static bool op_span(const void *context, size_t row, struct spent_span *out)
{
    const struct division *v = context;
    const struct framework_ops *o = &v->collection->framework.ops;
    if (row >= o->n) {
        const struct known_wait *w = &v->waits.at[row - o->n];
        const bool is_shown = w->row < o->n && op_span(context, w->row, out);
        *out = wait_span(v, w, *out);
        return is_shown;
    }
    const name_id label = framework_op_label(o, row);
    *out = (struct spent_span){ .kind = is_wait(v, label) ? layers_host_kind(v->layers, label)
                                        : v->d            ? SPENT_HOST
                                        : name_is_collective(step_division_text_of(v, o->name[row])) ? SPENT_TRANSFER
                                                                                                     : SPENT_OPERATOR,
                                .name = label,
                                .begin_ns = o->begin_ns[row],
                                .end_ns = o->end_ns[row],
                                .place = { SHOWN_FRAMEWORK, o->thread ? o->thread[row] : 0, NULL,
                                           step_division_text_of(v, o->name[row]), o->begin_ns[row],
                                           span_ns(o->begin_ns[row], o->end_ns[row]) } };
    return !collection_op_is_step(v->collection, row) && (v->d || !range_spans_steps(o, row, v->series));
}

/* What a range contains beside operators is found among the Python functions, if these were recorded. A range that
 * loads data has all that is in it. */
static bool is_range_among_functions(const struct division *v, size_t row)
{
    const struct framework_ops *o = &v->collection->framework.ops;
    return v->collection->framework.python.n > 0 && o->scope && o->scope[row] == OP_SCOPE_USER &&
           !is_wait(v, framework_op_label(o, row)) && !name_is_collective(step_division_text_of(v, o->name[row]));
}

/* Operators of the dataset pipeline's own threads are not what the device waits for: the one that takes its results
 * is. */
static bool take_ops(struct division *v)
{
    const struct framework_ops *o = &v->collection->framework.ops;
    const struct ms_dataset *data = &v->collection->framework.ms.dataset;
    const size_t n_waits = v->d ? 0 : v->waits.n,
                 n_all = o->n + n_waits; /* without a device, waits are among operators */
    uint32_t *order = arena_take(v->mem, n_all, sizeof *order);
    bool *is_pipeline = arena_take(v->mem, o->n, sizeof *is_pipeline);
    int64_t *begin_ns = arena_take(v->mem, n_all, sizeof *begin_ns),
            *end_ns = arena_take(v->mem, n_all, sizeof *end_ns);
    if (!order || !is_pipeline || !begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < n_all; i++) {
        begin_ns[i] = i < o->n ? o->begin_ns[i] : v->waits.at[i - o->n].begin_ns;
        end_ns[i] = i < o->n ? o->end_ns[i] : v->waits.at[i - o->n].joined_ns;
    }
    for (size_t i = 0; i < data->n; i++)
        if (data->op[i] < o->n && !is_wait(v, o->name[data->op[i]]))
            is_pipeline[data->op[i]] = true;
    size_t n = 0;
    if (!nesting_order(order, n_all, begin_ns, end_ns))
        return false;
    arena_drop(v->mem, begin_ns);
    arena_drop(v->mem, end_ns);
    for (size_t i = 0; i < n_all; i++) {
        const bool is_op = order[i] < o->n;
        uint32_t *range = is_op && is_range_among_functions(v, order[i]) ? list_add(&v->ranges, v->mem) : NULL;
        if (range)
            *range = order[i];
        else if (!is_op || !is_pipeline[order[i]])
            order[n++] = order[i];
    }
    return layers_nest(v->layers, &(struct layer_nest){ op_span, v, order, n, false });
}

static bool python_span(const void *context, size_t row, struct spent_span *out)
{
    const struct division *v = context;
    const struct python_calls *c = &v->collection->framework.python;
    *out =
        (struct spent_span){ .kind =
                                 is_wait(v, c->name[row]) ? layers_host_kind(v->layers, c->name[row]) : SPENT_PYTHON,
                             .name = c->name[row],
                             .begin_ns = c->begin_ns[row],
                             .end_ns = c->end_ns[row],
                             .place = { SHOWN_FRAMEWORK, c->thread[row], NULL, step_division_text_of(v, c->name[row]),
                                        c->begin_ns[row], span_ns(c->begin_ns[row], c->end_ns[row]) } };
    return true;
}

/* Python functions, and behind them the ranges of the user. */
static bool function_span(const void *context, size_t row, struct spent_span *out)
{
    const struct division *v = context;
    const size_t n = v->collection->framework.python.n;
    return row < n ? python_span(v, row, out) : op_span(v, v->ranges.at[row - n], out);
}

static bool host_call_span(const void *context, size_t row, struct spent_span *out)
{
    *out = call_span(context, row, SPENT_HOST);
    return true;
}

static bool range_span(const void *context, size_t row, struct spent_span *out)
{
    const struct division *v = context;
    const struct marks *k = &v->p->host.records.marks;
    const int64_t begin = source_host_ns(&v->p->host.source, k->begin[row]),
                  end = source_host_ns(&v->p->host.source, k->end[row]);
    *out = (struct spent_span){ .kind = SPENT_RANGE,
                                .name = k->message[row],
                                .begin_ns = begin,
                                .end_ns = end,
                                .place = { SHOWN_MARKS, k->thread ? k->thread[row] : 0, NULL,
                                           step_division_text_of(v, k->message[row]), begin, span_ns(begin, end) } };
    return !name_is_step(v->p->names, k->message[row]);
}

static bool take_times(struct division *v, size_t n, bool (*span)(const void *, size_t, struct spent_span *),
                       bool skips_idle_threads)
{
    uint32_t *order = arena_take(v->mem, n, sizeof *order);
    int64_t *begin_ns = arena_take(v->mem, n, sizeof *begin_ns), *end_ns = arena_take(v->mem, n, sizeof *end_ns);
    if (!order || !begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct spent_span x;
        span(v, i, &x);
        begin_ns[i] = x.begin_ns;
        end_ns[i] = x.end_ns;
    }
    const bool done = nesting_order(order, n, begin_ns, end_ns);
    arena_drop(v->mem, begin_ns);
    arena_drop(v->mem, end_ns);
    return done && layers_nest(v->layers, &(struct layer_nest){ span, v, order, n, skips_idle_threads });
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
    if (v->collection &&
        !(take_ops(v) && take_times(v, v->collection->framework.python.n + v->ranges.n, function_span, true)))
        return false;
    if (!v->collection && has_host && !take_times(v, v->p->host.calls.n, host_call_span, false))
        return false;
    return !has_host || take_times(v, v->p->host.records.marks.n, range_span, false);
}

bool step_division_find(struct step_division *out, const struct step_series *s, const struct profile *p,
                        const struct device *d, const struct collection *collection, const struct known_waits *waits,
                        const uint32_t *wanted, size_t n_wanted, struct arena *mem)
{
    names_addz(p->names, "Notify_Wait"); /* before the layers count names */
    names_addz(p->names, "GetNext");
    for (size_t i = 0; waits && i < waits->n; i++)
        names_addz(p->names, waits->at[i].for_whom);
    struct step_layers *layers = layers_begin(s, p->names, wanted, n_wanted);
    struct division v = { .p = p,
                          .d = d,
                          .collection = collection,
                          .series = s,
                          .waits = waits ? *waits : (struct known_waits){ 0 },
                          .layers = layers,
                          .mem = layers ? layers_mem(layers) : NULL };
    const bool done = layers && take_all(&v);
    return layers_finish(layers, out, mem) && done;
}
