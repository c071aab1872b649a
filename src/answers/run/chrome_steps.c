/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/chrome_steps.h"

#include "analyse/host/host_analysis.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/run_chrome.h"
#include "base/memory/sort.h"

bool step_series_of_chrome(struct step_series *s, const struct chrome_trace *t, struct names *names, struct arena *mem)
{
    struct measured_rank run;
    *s = (struct step_series){ 0 };
    if (!run_steps_of_chrome(&run, t, names, mem) || !step_series_take(s, run.n_steps, mem))
        return false;
    s->is_host = !run.has_device;
    s->by = t->steps.by;
    s->n = run.n_steps;
    for (size_t i = 0; i < s->n; i++) {
        const struct run_step *step = &run.step[i];
        s->name[i] = step->name;
        s->begin_ns[i] = step->begin_ns;
        s->end_ns[i] = step->end_ns;
        s->host_begin_ns[i] = step->host_begin_ns;
        s->host_end_ns[i] = step->host_end_ns;
        s->device_end_ns[i] = step->device_end_ns;
        s->time_ns[i] = step->part_ns[RUN_STEP];
        s->requests_ns[i] = step->requests_ns;
        s->part_ns[STEP_COMPUTING][i] = step->part_ns[RUN_COMPUTING] - step->overlapped_ns;
        s->part_ns[STEP_OVERLAPPED][i] = step->overlapped_ns;
        s->part_ns[STEP_COMMUNICATION][i] = step->part_ns[RUN_COMMUNICATION];
        s->part_ns[STEP_FREE][i] = step->part_ns[RUN_FREE];
        s->is_chosen[i] = true;
    }
    return (s->n == 0 || step_series_classify(s, t->steps.annotation, t->names, mem)) && step_series_compare(s, mem);
}

/* ---- what the time was spent on -------------------------------------------------------------------------------- */

struct trace_division {
    const struct chrome_trace *t;
    struct chrome_kinds kinds;
    struct known_waits waits;
    struct step_layers *layers;
    struct arena *mem; /* of the layers */
};

/* The slices of one layer of the host, and the kind of their time unless their names say more. */
struct slice_layer {
    const struct trace_division *v;
    LIST(uint32_t) slices;
    enum spent_kind kind;
};

static struct spent_span slice_span(const struct chrome_trace *t, uint32_t slice, enum spent_kind kind)
{
    const int64_t begin_ns = t->slices.begin_ns[slice], dur_ns = t->slices.dur_ns[slice];
    const name_id name = t->slices.name[slice];
    return (struct spent_span){ .kind = kind,
                                .name = name,
                                .begin_ns = begin_ns,
                                .end_ns = begin_ns + dur_ns,
                                .place = { SHOWN_TRACE, t->slices.track[slice], NULL, names_text(t->names, name),
                                           begin_ns, dur_ns } };
}

/* The kind of time that a slice of the device or a call counts as; SPENT_KINDS: none. */
static enum spent_kind flat_kind(const struct trace_division *v, size_t slice)
{
    switch (chrome_kind(&v->kinds, slice)) {
    case SLICE_KERNEL:
    case SLICE_TASK: return SPENT_OPERATOR;
    case SLICE_COLLECTIVE:
    case SLICE_COMMUNICATING: return SPENT_TRANSFER;
    case SLICE_COPY: return SPENT_COPY;
    case SLICE_GC: return SPENT_GC;
    case SLICE_CALL:
        return layers_host_kind(v->layers, v->t->slices.name[slice]) == SPENT_ALLOCATION ? SPENT_ALLOCATION
                                                                                         : SPENT_KINDS;
    default: return SPENT_KINDS;
    }
}

/* A collective until its last member joined. */
static struct spent_span wait_span(const struct trace_division *v, const struct known_wait *w)
{
    struct spent_span x = slice_span(v->t, w->row, SPENT_WAIT);
    x.name = names_addz(v->t->names, w->for_whom);
    x.begin_ns = w->begin_ns;
    x.end_ns = w->joined_ns;
    return x;
}

static void take_waits(const struct trace_division *v)
{
    for (size_t i = 0; i < v->waits.n; i++)
        if (v->waits.at[i].row < v->t->slices.n) {
            const struct spent_span x = wait_span(v, &v->waits.at[i]);
            layers_spend(v->layers, &x);
        }
    layers_next(v->layers);
}

static bool take_flat(const struct trace_division *v, enum spent_kind kind)
{
    LIST(uint32_t) found = { 0 };
    for (uint32_t i = 0; i < v->t->slices.n; i++) {
        uint32_t *new = flat_kind(v, i) == kind ? list_add(&found, v->mem) : NULL;
        if (new)
            *new = i;
    }
    int64_t *begin_ns = arena_take(v->mem, found.n, sizeof *begin_ns);
    for (size_t i = 0; begin_ns && i < found.n; i++)
        begin_ns[i] = v->t->slices.begin_ns[found.at[i]];
    const uint32_t *order = begin_ns ? layers_order(v->layers, begin_ns, found.n) : NULL;
    for (size_t i = 0; order && i < found.n; i++) {
        const struct spent_span x = slice_span(v->t, found.at[order[i]], kind);
        layers_take(v->layers, &x);
    }
    layers_next(v->layers);
    return order != NULL;
}

static bool host_span(const void *context, size_t row, struct spent_span *out)
{
    const struct slice_layer *layer = context;
    const struct trace_division *v = layer->v;
    if (row >= layer->slices.n) {
        *out = wait_span(v, &v->waits.at[row - layer->slices.n]);
        return true;
    }
    const uint32_t slice = layer->slices.at[row];
    const enum spent_kind named = layers_host_kind(v->layers, v->t->slices.name[slice]);
    *out = slice_span(v->t, slice,
                      named == SPENT_DATA || named == SPENT_REQUESTS                                 ? named
                      : layer->kind == SPENT_OPERATOR && chrome_is_host_collective(&v->kinds, slice) ? SPENT_TRANSFER
                                                                                                     : layer->kind);
    return true;
}

/* Adds slices of the host that enclose each other: Python functions, or operators and ranges. Steps are left out,
 * because they enclose everything. */
static bool take_nest(const struct trace_division *v, bool is_python, enum spent_kind kind)
{
    const struct chrome_slices *s = &v->t->slices;
    struct slice_layer layer = { .v = v, .kind = kind };
    for (uint32_t i = 0; i < s->n; i++) {
        const enum slice_kind is = chrome_kind(&v->kinds, i);
        const bool is_of = is_python ? is == SLICE_PYTHON : is == SLICE_OPERATOR || is == SLICE_ANNOTATION;
        uint32_t *new = is_of && !chrome_is_step(v->t, i) ? list_add(&layer.slices, v->mem) : NULL;
        if (new)
            *new = i;
    }
    const size_t n_slices = layer.slices.n, n_waits = kind == SPENT_OPERATOR ? v->waits.n : 0, n = n_slices + n_waits;
    uint32_t *order = arena_take(v->mem, n, sizeof *order);
    int64_t *begin_ns = arena_take(v->mem, n, sizeof *begin_ns), *end_ns = arena_take(v->mem, n, sizeof *end_ns);
    if (!order || !begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < n; i++) { /* without a device, waits are among operators */
        const struct known_wait *w = i < n_slices ? NULL : &v->waits.at[i - n_slices];
        if (w && w->row >= s->n)
            return false;
        begin_ns[i] = w ? w->begin_ns : s->begin_ns[layer.slices.at[i]];
        end_ns[i] = w ? w->joined_ns : begin_ns[i] + s->dur_ns[layer.slices.at[i]];
    }
    order_fill(order, n);
    return nesting_order(order, n, begin_ns, end_ns) &&
           layers_nest(v->layers, &(struct layer_nest){ host_span, &layer, order, n, is_python });
}

static bool take_all(const struct trace_division *v, bool is_host)
{
    static const enum spent_kind flat[] = { SPENT_OPERATOR, SPENT_TRANSFER, SPENT_COPY, SPENT_GC, SPENT_ALLOCATION };
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        if (flat[i] == SPENT_TRANSFER && !is_host)
            take_waits(v);
        if ((!is_host || flat[i] == SPENT_GC) && !take_flat(v, flat[i]))
            return false;
    }
    return take_nest(v, false, is_host ? SPENT_OPERATOR : SPENT_HOST) && take_nest(v, true, SPENT_PYTHON);
}

bool step_division_of_chrome(struct step_division *out, const struct step_series *s, const struct chrome_trace *t,
                             const struct known_waits *waits, const uint32_t *wanted, size_t n_wanted,
                             struct arena *mem)
{
    for (size_t i = 0; waits && i < waits->n; i++) /* before the layers count names */
        names_addz(t->names, waits->at[i].for_whom);
    struct step_layers *layers = layers_begin(s, t->names, wanted, n_wanted);
    struct trace_division v = { .t = t,
                                .waits = waits ? *waits : (struct known_waits){ 0 },
                                .layers = layers,
                                .mem = layers ? layers_mem(layers) : NULL };
    const bool done = layers && chrome_kinds_init(&v.kinds, t, v.mem) && take_all(&v, s->is_host);
    return layers_finish(layers, out, mem) && done;
}
