/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/rank_spans.h"

#include <ctype.h>
#include <string.h>

#include "analyse/device/device_analysis.h"
#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/step_bounds.h"
#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "profile/collection.h"
#include "raw/enums.h"
#include "raw/framework_values.h"

/* ---- busy times ------------------------------------------------------------------------------------------------ */

bool busy_join(struct busy_times *out, const int64_t *begin_ns, const int64_t *end_ns, size_t n, struct arena *mem)
{
    uint32_t *order = arena_take(mem, n, sizeof *order);
    uint64_t *key = arena_take(mem, n, sizeof *key);
    *out = (struct busy_times){ .begin_ns = arena_take(mem, n, sizeof *out->begin_ns),
                                .end_ns = arena_take(mem, n, sizeof *out->end_ns),
                                .before_ns = arena_take(mem, n, sizeof *out->before_ns) };
    if (!order || !key || !out->begin_ns || !out->end_ns || !out->before_ns)
        return false;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ UINT64_C(1) << 63; /* signed times in unsigned order */
    if (!order_by_u64(order, n, key))
        return false;
    int64_t sum_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t begin = begin_ns[order[i]], end = end_ns[order[i]];
        if (end <= begin)
            continue;
        const size_t last = out->n - 1;
        if (out->n > 0 && begin <= out->end_ns[last]) {
            sum_ns += end > out->end_ns[last] ? span_ns(out->end_ns[last], end) : 0;
            out->end_ns[last] = end > out->end_ns[last] ? end : out->end_ns[last];
            continue;
        }
        out->begin_ns[out->n] = begin;
        out->end_ns[out->n] = end;
        out->before_ns[out->n++] = sum_ns;
        sum_ns += span_ns(begin, end);
    }
    arena_drop(mem, order);
    arena_drop(mem, key);
    out->begin_ns = arena_trim(mem, out->begin_ns, out->n, sizeof *out->begin_ns);
    out->end_ns = arena_trim(mem, out->end_ns, out->n, sizeof *out->end_ns);
    out->before_ns = arena_trim(mem, out->before_ns, out->n, sizeof *out->before_ns);
    return true;
}

void times_add(struct found_times *t, int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    int64_t *begin = begin_ns < end_ns ? list_add(&t->begin_ns, mem) : NULL,
            *end = begin ? list_add(&t->end_ns, mem) : NULL;
    if (!end)
        return;
    *begin = begin_ns;
    *end = end_ns;
}

/* How much of the times lies before a moment. */
static int64_t busy_until(const struct busy_times *b, int64_t ns)
{
    const size_t later = SEARCH_FIRST_NOT(i, 0, b->n, b->begin_ns[i] < ns);
    if (later == 0)
        return 0;
    const int64_t end = b->end_ns[later - 1] < ns ? b->end_ns[later - 1] : ns;
    return b->before_ns[later - 1] + span_ns(b->begin_ns[later - 1], end);
}

int64_t busy_within(const struct busy_times *b, int64_t begin_ns, int64_t end_ns)
{
    return begin_ns < end_ns ? busy_until(b, end_ns) - busy_until(b, begin_ns) : 0;
}

int64_t busy_end_before(const struct busy_times *b, int64_t ns)
{
    const size_t later = SEARCH_FIRST_NOT(i, 0, b->n, b->begin_ns[i] < ns);
    return later > 0 ? b->end_ns[later - 1] : INT64_MIN;
}

/* ---- which rows are of which kind ------------------------------------------------------------------------------ */

/* The rows of all kinds, and room for their times while these are sorted. */
struct rank_spans_gathering {
    struct rank_spans *v;
    LIST(uint32_t) row[SPAN_KINDS];
    struct arena *mem;
    bool failed;
};

static void rank_spans_gather(struct rank_spans_gathering *g, enum span_kind kind, size_t row)
{
    uint32_t *new = list_add(&g->row[kind], g->mem);
    g->failed |= !new;
    if (new)
        *new = (uint32_t)row;
}

static enum span_kind kind_of_slice(const struct rank_spans *v, size_t i)
{
    const struct chrome_trace *t = v->of.trace;
    switch (chrome_kind(&v->kinds, i)) {
    case SLICE_KERNEL:
    case SLICE_TASK: return SPAN_KERNEL;
    case SLICE_COLLECTIVE:
    case SLICE_COMMUNICATING: return SPAN_COLLECTIVE;
    case SLICE_GC: return SPAN_GC;
    case SLICE_COPY: return SPAN_COPY;
    case SLICE_CALL: return SPAN_CALL;
    case SLICE_OPERATOR: return chrome_is_step(t, i) ? SPAN_KINDS : SPAN_OPERATOR;
    case SLICE_ANNOTATION: return chrome_is_step(t, i) ? SPAN_KINDS : SPAN_RANGE;
    case SLICE_PYTHON: return SPAN_PYTHON;
    default: return SPAN_KINDS;
    }
}

static void gather_slices(struct rank_spans_gathering *g)
{
    struct rank_spans *v = g->v;
    const struct chrome_trace *t = v->of.trace;
    for (size_t i = 0; i < t->slices.n; i++) {
        const enum span_kind kind = kind_of_slice(v, i);
        if (kind != SPAN_KINDS)
            rank_spans_gather(g, kind, i);
    }
    v->is_npu = v->kinds.is_npu;
}

static void gather_device(struct rank_spans_gathering *g)
{
    const struct run_rank *q = &g->v->of;
    const struct tasks *t = &q->device->tasks;
    for (size_t i = 0; i < t->n; i++) {
        const enum task_does does = task_does(q->profile, t, i);
        if (does >= TASK_COMPUTES)
            rank_spans_gather(g, does == TASK_COMPUTES ? SPAN_KERNEL : SPAN_COPY, i);
    }
    for (size_t i = 0; i < q->device->comm.ops.n; i++)
        if (q->device->comm.ops.is_shown[i])
            rank_spans_gather(g, SPAN_COLLECTIVE, i);
    g->v->is_npu = q->device->source.platform != PLATFORM_CUDA;
}

static void gather_host(struct rank_spans_gathering *g)
{
    const struct run_rank *q = &g->v->of;
    const struct calls *c = &q->profile->host.calls;
    for (size_t i = 0; profile_has_host(q->profile) && i < c->n; i++)
        if (!c->is_shown || c->is_shown[i])
            rank_spans_gather(g, SPAN_CALL, i);
    if (!q->collection)
        return;
    const struct framework *f = &q->collection->framework;
    for (size_t i = 0; i < f->ops.n; i++)
        if (!collection_op_is_step(q->collection, i))
            rank_spans_gather(g, f->ops.scope && f->ops.scope[i] == OP_SCOPE_USER ? SPAN_RANGE : SPAN_OPERATOR, i);
    for (size_t i = 0; i < f->python.n; i++)
        rank_spans_gather(g, SPAN_PYTHON, i);
    for (size_t i = 0; i < f->gc.n; i++)
        rank_spans_gather(g, SPAN_GC, i);
}

/* Sorts the rows of a kind: on the device by begin, on the host by thread and nesting. */
static bool sort_kind(struct rank_spans_gathering *g, enum span_kind kind)
{
    struct rank_spans *v = g->v;
    const size_t n = v->n[kind];
    uint32_t *order = arena_take(g->mem, n, sizeof *order), *track = arena_take(g->mem, n, sizeof *track),
             *sorted = arena_take(g->mem, n, sizeof *sorted);
    int64_t *begin = arena_take(g->mem, n, sizeof *begin), *end = arena_take(g->mem, n, sizeof *end);
    if (!order || !track || !sorted || !begin || !end)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct rank_span x = rank_span(v, kind, i);
        begin[i] = x.begin_ns;
        end[i] = x.end_ns;
        track[i] = x.track;
    }
    order_fill(order, n);
    if (!nesting_order(order, n, begin, end) || (kind >= SPAN_CALL && !order_by_u32(order, n, track)))
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = v->row[kind][order[i]];
    memcpy(v->row[kind], sorted, n * sizeof *sorted);
    return true;
}

/* Slices of a trace are already by track, an enclosing one first; calls of a profile are by thread and begin. */
static bool is_sorted(const struct rank_spans *v, enum span_kind kind)
{
    return kind >= SPAN_CALL && (v->of.trace || kind == SPAN_CALL);
}

static bool find_busy(struct rank_spans *v, struct arena *mem, struct arena *spare)
{
    struct busy_times *const out[] = { &v->computing, &v->working, &v->busy };
    const size_t most = v->n[SPAN_KERNEL] + v->n[SPAN_COLLECTIVE] + v->n[SPAN_COPY];
    int64_t *begin = arena_take(spare, most, sizeof *begin), *end = arena_take(spare, most, sizeof *end);
    size_t n = 0;
    for (int kind = SPAN_KERNEL; begin && end && kind <= SPAN_COPY; kind++) {
        for (size_t i = 0; i < v->n[kind]; i++, n++) {
            const struct rank_span x = rank_span(v, (enum span_kind)kind, i);
            begin[n] = x.begin_ns;
            end[n] = x.end_ns;
        }
        if (!busy_join(out[kind], begin, end, n, mem))
            return false;
    }
    return begin && end;
}

/* ---- what launched what ---------------------------------------------------------------------------------------- */

static bool arg_of(const struct chrome_trace *t, size_t slice, const char *key, uint64_t *out)
{
    const struct json_span value = json_find(chrome_slice_args(t, slice), key);
    return value.at && json_u64(value, out);
}

/* The last slice of a key counts: of operators that enclose each other that is the innermost. */
static bool link_add(struct span_links *l, uint64_t key, uint32_t row, struct arena *mem)
{
    const uint32_t at = keys_add(&l->key, key, mem);
    if (at == KEYS_NO_MEMORY || (at == l->row.n && !list_add(&l->row, mem)))
        return false;
    l->row.at[at] = row;
    return true;
}

static bool link_slices(struct rank_spans *v, struct arena *mem)
{
    const struct chrome_trace *t = v->of.trace;
    uint64_t key;
    if (v->n[SPAN_KERNEL] + v->n[SPAN_COLLECTIVE] + v->n[SPAN_COPY] == 0)
        return true;
    for (size_t i = 0; i < v->n[SPAN_CALL]; i++)
        if (chrome_correlation(t, v->row[SPAN_CALL][i], &key) && !link_add(&v->calls, key, v->row[SPAN_CALL][i], mem))
            return false;
    for (size_t i = 0; i < v->n[SPAN_OPERATOR]; i++)
        if (chrome_external_id(t, v->row[SPAN_OPERATOR][i], &key) &&
            !link_add(&v->operators, key, v->row[SPAN_OPERATOR][i], mem))
            return false;
    return true;
}

static bool link_tasks(struct rank_spans *v, struct arena *mem)
{
    const struct run_rank *q = &v->of;
    const struct collection *c = q->collection;
    const struct tasks *t = &q->device->tasks;
    const struct host_tasks *h = &q->profile->host.tasks;
    if (profile_has_host(q->profile) && h->connection && t->host) {
        v->task_call = arena_take(mem, t->n, sizeof *v->task_call);
        if (!v->task_call)
            return false;
        for (size_t i = 0; i < t->n; i++) {
            const uint32_t connection = t->host[i] < h->n ? h->connection[t->host[i]] : 0;
            v->task_call[i] = connection > 0 && connection <= q->profile->host.calls.n ? connection - 1 : NO_ROW;
        }
    }
    if (!c || !c->tree.first_started)
        return true;
    v->task_op = arena_take(mem, t->n, sizeof *v->task_op);
    if (!v->task_op)
        return false;
    memset(v->task_op, 0xFF, t->n * sizeof *v->task_op); /* NO_ROW */
    const uint32_t device = (uint32_t)(q->device - q->profile->device);
    for (size_t at = 0; at < c->framework.ops.n; at++)
        for (uint32_t i = c->tree.first_started[at]; i < c->tree.first_started[at + 1]; i++) {
            const uint32_t k = c->tree.started[i];
            if (!c->kernels.is_collective[k] && c->kernels.device[k] == device && c->kernels.row[k] < t->n)
                v->task_op[c->kernels.row[k]] = c->tree.by_begin[at];
        }
    return true;
}

/* When work of the device was launched; its begin, if nothing is known of its launch. */
static int64_t launched_at(const struct rank_spans *v, enum span_kind kind, size_t i, const struct work_launches *w)
{
    const uint32_t row = v->row[kind][i];
    uint64_t key;
    if (w->task_ns)
        return kind == SPAN_COLLECTIVE ? w->collective_ns[row] : w->task_ns[row];
    const uint32_t at =
        v->of.trace && chrome_correlation(v->of.trace, row, &key) ? keys_find(&v->calls.key, key) : KEYS_NONE;
    return at == KEYS_NONE ? rank_span(v, kind, i).begin_ns : v->of.trace->slices.begin_ns[v->calls.row.at[at]];
}

/* Which step launched which work. Steps of a PROF directory are stamped by the device: what began in them is theirs. */
static bool find_steps(struct rank_spans *v, struct arena *mem)
{
    const struct step_series *s = v->series;
    const struct run_rank *q = &v->of;
    const bool is_by_launch = !s->is_whole && (q->trace || q->collection);
    struct work_launches w = { 0 };
    if (is_by_launch && q->device && !work_launches_find(&w, q->collection, q->device, mem))
        return false;
    for (int kind = SPAN_KERNEL; kind < SPAN_CALL; kind++) {
        uint32_t *step = arena_take(mem, v->n[kind], sizeof *step);
        for (size_t i = 0; step && i < v->n[kind]; i++)
            step[i] = is_by_launch ? step_launching(s->host_begin_ns, s->host_end_ns, s->n,
                                                    launched_at(v, (enum span_kind)kind, i, &w))
                                   : step_series_at(s->begin_ns, s->end_ns, s->n,
                                                    rank_span(v, (enum span_kind)kind, i).begin_ns);
        v->step[kind] = step;
        if (!step)
            return false;
    }
    return true;
}

bool rank_spans_find(struct rank_spans *v, const struct run_rank *q, const struct step_series *s, struct arena *mem)
{
    struct rank_spans_gathering g = { .v = v, .mem = arena_new() };
    *v = (struct rank_spans){ .of = *q, .series = s, .names = q->trace ? q->trace->names : q->profile->names };
    bool done = g.mem && (!q->trace || chrome_kinds_init(&v->kinds, q->trace, mem));
    if (done && q->trace) {
        gather_slices(&g);
    } else if (done) {
        if (q->device)
            gather_device(&g);
        gather_host(&g);
    }
    for (int kind = 0; done && kind < SPAN_KINDS; kind++) {
        v->n[kind] = g.row[kind].n;
        v->row[kind] = arena_take(mem, v->n[kind], sizeof **v->row);
        done = v->row[kind] && !g.failed;
        if (done && v->n[kind] > 0)
            memcpy(v->row[kind], g.row[kind].at, v->n[kind] * sizeof **v->row);
        done = done && (is_sorted(v, (enum span_kind)kind) || sort_kind(&g, (enum span_kind)kind));
    }
    done = done && find_busy(v, mem, g.mem) &&
           (q->trace    ? link_slices(v, mem)
            : q->device ? link_tasks(v, mem)
                        : true) &&
           find_steps(v, mem);
    arena_free(g.mem);
    return done;
}

/* ---- reading a span -------------------------------------------------------------------------------------------- */

static struct rank_span slice_of(const struct rank_spans *v, uint32_t row)
{
    const struct chrome_slices *s = &v->of.trace->slices;
    return (struct rank_span){ .id = s->name[row],
                               .begin_ns = s->begin_ns[row],
                               .end_ns = s->begin_ns[row] + s->dur_ns[row],
                               .track = s->track[row] };
}

static struct rank_span task_of(const struct rank_spans *v, uint32_t row)
{
    const struct tasks *t = &v->of.device->tasks;
    return (struct rank_span){ .id = t->op[row] == NO_ROW ? t->type[row] : v->of.profile->host.ops.name[t->op[row]],
                               .begin_ns = t->begin_ns[row],
                               .end_ns = t->begin_ns[row] + (int64_t)t->dur_ns[row],
                               .track = task_stream_id(v->of.device, row) };
}

static name_id call_id(const struct rank_spans *v, uint32_t row)
{
    const struct calls *c = &v->of.profile->host.calls;
    return dictionary_type(&v->of.profile->dictionary, c->level[row], c->type[row]);
}

static struct rank_span call_of(const struct rank_spans *v, uint32_t row)
{
    const struct calls *c = &v->of.profile->host.calls;
    const struct source *source = &v->of.profile->host.source;
    return (struct rank_span){ .id = call_id(v, row),
                               .begin_ns = source_host_ns(source, c->begin[row]),
                               .end_ns = source_host_ns(source, c->end[row]),
                               .track = c->thread[row] };
}

static struct rank_span column_of(const struct rank_spans *v, enum span_kind kind, uint32_t row)
{
    if (kind == SPAN_CALL)
        return call_of(v, row);
    if (kind == SPAN_COLLECTIVE) {
        const struct comm_ops *o = &v->of.device->comm.ops;
        return (struct rank_span){ .id = o->name[row],
                                   .begin_ns = o->begin_ns[row],
                                   .end_ns = o->begin_ns[row] + (int64_t)o->dur_ns[row] };
    }
    if (kind <= SPAN_COPY)
        return task_of(v, row);
    const struct framework *f = &v->of.collection->framework;
    if (kind == SPAN_PYTHON)
        return (struct rank_span){ .id = f->python.name[row],
                                   .begin_ns = f->python.begin_ns[row],
                                   .end_ns = f->python.end_ns[row],
                                   .track = f->python.thread[row] };
    if (kind == SPAN_GC)
        return (struct rank_span){
            .id = NAME_EMPTY, .begin_ns = f->gc.begin_ns[row], .end_ns = f->gc.end_ns[row], .track = f->gc.process[row]
        };
    return (struct rank_span){ .id = framework_op_label(&f->ops, row),
                               .begin_ns = f->ops.begin_ns[row],
                               .end_ns = f->ops.end_ns[row],
                               .track = f->ops.thread ? f->ops.thread[row] : 0 };
}

name_id rank_span_id(const struct rank_spans *v, enum span_kind kind, size_t i)
{
    const uint32_t row = v->row[kind][i];
    return v->of.trace         ? v->of.trace->slices.name[row]
           : kind == SPAN_CALL ? call_id(v, row)
                               : column_of(v, kind, row).id;
}

struct rank_span rank_span(const struct rank_spans *v, enum span_kind kind, size_t i)
{
    const uint32_t row = v->row[kind][i];
    struct rank_span x = v->of.trace ? slice_of(v, row) : column_of(v, kind, row);
    const struct step_series *s = v->series;
    x.name = names_text(v->names, x.id);
    x.step = kind < SPAN_CALL && v->step[kind] ? v->step[kind][i]
             : s->is_whole                     ? step_series_at(s->begin_ns, s->end_ns, s->n, x.begin_ns)
                                               : step_series_at(s->host_begin_ns, s->host_end_ns, s->n, x.begin_ns);
    return x;
}

struct spent_place rank_span_place(const struct rank_spans *v, enum span_kind kind, size_t i)
{
    static const enum spent_track shown[SPAN_KINDS] = { SHOWN_STREAM,    SHOWN_COMMUNICATION,
                                                        SHOWN_STREAM,    SHOWN_CALLS,
                                                        SHOWN_FRAMEWORK, SHOWN_FRAMEWORK,
                                                        SHOWN_FRAMEWORK, SHOWN_GC };
    const struct rank_span x = rank_span(v, kind, i);
    struct spent_place place = { .track = v->of.trace ? SHOWN_TRACE : shown[kind],
                                 .number = x.track,
                                 .event = kind == SPAN_GC ? "GC" : x.name,
                                 .begin_ns = x.begin_ns,
                                 .dur_ns = span_ns(x.begin_ns, x.end_ns) };
    if (place.track == SHOWN_COMMUNICATION)
        place.group = names_text(v->names, v->of.device->comm.ops.group[v->row[kind][i]]);
    return place;
}

bool rank_span_launch(const struct rank_spans *v, enum span_kind kind, size_t i, struct rank_span *call)
{
    const uint32_t row = v->row[kind][i];
    uint64_t key;
    if (v->of.trace) {
        const uint32_t at = chrome_correlation(v->of.trace, row, &key) ? keys_find(&v->calls.key, key) : KEYS_NONE;
        if (at == KEYS_NONE)
            return false;
        *call = slice_of(v, v->calls.row.at[at]);
    } else {
        if (kind == SPAN_COLLECTIVE || !v->task_call || v->task_call[row] == NO_ROW)
            return false;
        *call = call_of(v, v->task_call[row]);
    }
    call->name = names_text(v->names, call->id);
    call->step = step_launching(v->series->host_begin_ns, v->series->host_end_ns, v->series->n, call->begin_ns);
    return true;
}

const char *rank_span_owner(const struct rank_spans *v, enum span_kind kind, size_t i)
{
    const uint32_t row = v->row[kind][i];
    uint64_t key;
    if (v->of.trace) {
        const uint32_t at = chrome_external_id(v->of.trace, row, &key) ? keys_find(&v->operators.key, key) : KEYS_NONE;
        return at == KEYS_NONE ? "" : names_text(v->names, v->of.trace->slices.name[v->operators.row.at[at]]);
    }
    const uint32_t captured = kind == SPAN_COLLECTIVE || !v->of.device ? NO_ROW : task_replays(v->of.device, row);
    if (captured != NO_ROW)
        return names_text(v->names, v->of.profile->captured.name[captured]);
    if (kind == SPAN_COLLECTIVE || !v->task_op || v->task_op[row] == NO_ROW)
        return "";
    return names_text(v->names, framework_op_label(&v->of.collection->framework.ops, v->task_op[row]));
}

/* A text among the arguments of a slice, as a name of the trace; "": there is none, or no slice has that name. */
static const char *text_arg(const struct rank_spans *v, uint32_t row, const char *key)
{
    const struct json_span value = json_find(chrome_slice_args(v->of.trace, row), key);
    struct json_span plain;
    if (!value.at || !json_plain(value, &plain))
        return "";
    static const char *const known[] = { "AI_CORE", "AI_CPU",  "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV",
                                         "AI_CUBE", "DSA_SQE", "KERNEL_AICPU",   "AICPU_H", "AICPU_D" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (plain.len == strlen(known[i]) && memcmp(plain.at, known[i], plain.len) == 0)
            return known[i];
    return "";
}

const char *rank_span_cores(const struct rank_spans *v, size_t i)
{
    const uint32_t row = v->row[SPAN_KERNEL][i];
    if (v->of.trace)
        return v->is_npu ? text_arg(v, row, "Task Type") : "";
    const uint32_t op = v->of.device->tasks.op[row];
    const name_id type = op == NO_ROW ? v->of.device->tasks.type[row] : v->of.profile->host.ops.task_type[op];
    return type == NAME_NA ? "" : names_text(v->names, type);
}

/* The product of the numbers of an array: "grid": [32, 4, 1]. 0: it is no such array, or the product is too large. */
static uint64_t product_of(struct json_span array)
{
    enum { MOST = 1 << 30 };
    struct json_scan s;
    struct json_span one;
    uint64_t product = 1, n;
    if (!array.at || !json_enter(&s, array.at, array.at + array.len, '['))
        return 0;
    while (json_next_element(&s) && json_pass(&s, &one))
        if (!json_u64(one, &n) || n > MOST || (product *= n) > MOST)
            return 0;
    return s.is_stuck ? 0 : product;
}

uint32_t rank_span_blocks(const struct rank_spans *v, size_t i)
{
    const uint32_t row = v->row[SPAN_KERNEL][i];
    uint64_t blocks;
    if (!v->of.trace) {
        const uint32_t op = v->of.device->tasks.op[row];
        return op == NO_ROW ? 0 : v->of.profile->host.ops.blocks[op];
    }
    if (!v->is_npu)
        return (uint32_t)product_of(json_find(chrome_slice_args(v->of.trace, row), "grid"));
    const bool is_known =
        arg_of(v->of.trace, row, "Block Num", &blocks) || arg_of(v->of.trace, row, "Block Dim", &blocks);
    return is_known && blocks <= UINT32_MAX ? (uint32_t)blocks : 0;
}

name_id rank_span_type(const struct rank_spans *v, size_t i)
{
    const uint32_t row = v->row[SPAN_KERNEL][i];
    if (v->of.trace)
        return v->of.trace->slices.name[row];
    const struct ops *o = &v->of.profile->host.ops;
    const uint32_t op = v->of.device->tasks.op[row];
    if (op == NO_ROW)
        return v->of.device->tasks.type[row];
    return o->op_type[op] == NAME_NA || o->op_type[op] == NAME_EMPTY ? o->name[op] : o->op_type[op];
}

/* One of "deviceProperties", by its id. */
static bool trace_gpu(const struct chrome_trace *t, uint64_t id, struct gpu_facts *out)
{
    static const char *const key[] = { "id",
                                       "numSms",
                                       "maxThreadsPerMultiprocessor",
                                       "regsPerMultiprocessor",
                                       "sharedMemPerMultiprocessor",
                                       "warpSize",
                                       "computeMajor",
                                       "computeMinor" };
    enum { ID, SMS, THREADS, REGISTERS, SHARED, WARP, MAJOR, MINOR, KEYS, RESERVED_SINCE = 8, RESERVED_BYTES = 1024 };
    const struct json_span all = chrome_fact(t, "deviceProperties");
    struct json_scan s;
    struct json_span one, value[KEYS];
    if (!all.at || !json_enter(&s, all.at, all.at + all.len, '['))
        return false;
    while (json_next_element(&s) && json_pass(&s, &one)) {
        uint64_t number[KEYS] = { 0 };
        json_find_each(one, key, value, KEYS);
        bool is_whole = true;
        for (int i = 0; i < KEYS; i++)
            is_whole = is_whole && value[i].at && json_u64(value[i], &number[i]) && number[i] < UINT32_MAX;
        if (!is_whole || number[ID] != id)
            continue;
        *out = (struct gpu_facts){ .n_sm = (uint32_t)number[SMS],
                                   .major = (uint32_t)number[MAJOR],
                                   .minor = (uint32_t)number[MINOR],
                                   .sm_threads = (uint32_t)number[THREADS],
                                   .sm_registers = (uint32_t)number[REGISTERS],
                                   .sm_shared_bytes = (uint32_t)number[SHARED],
                                   .warp_threads = (uint32_t)number[WARP],
                                   .block_reserved_bytes = number[MAJOR] >= RESERVED_SINCE ? RESERVED_BYTES : 0 };
        return true;
    }
    return false;
}

bool rank_span_grid(const struct rank_spans *v, size_t i, struct span_grid *out)
{
    const uint32_t row = v->row[SPAN_KERNEL][i];
    struct gpu_facts gpu = { 0 };
    struct gpu_needs needs = { 0 };
    *out = (struct span_grid){ 0 };
    if (v->of.trace) {
        static const char *const key[] = { "grid", "block", "registers per thread", "shared memory", "device" };
        struct json_span value[5];
        uint64_t device = 0;
        json_find_each(chrome_slice_args(v->of.trace, row), key, value, 5);
        out->blocks = product_of(value[0]);
        needs.block_threads = product_of(value[1]);
        if (!value[2].at || !json_u64(value[2], &needs.registers) || !value[3].at ||
            !json_u64(value[3], &needs.shared_bytes) || !value[4].at || !json_u64(value[4], &device) ||
            !trace_gpu(v->of.trace, device, &gpu))
            return false;
    } else {
        const struct gpu_tasks *g = &v->of.device->gpu;
        const uint64_t task = g->n > 0 ? v->of.device->tasks.task[row] : 0;
        if (task >= g->n)
            return false;
        gpu = v->of.device->source.gpu;
        out->blocks = (uint64_t)g->grid[0][task] * g->grid[1][task] * g->grid[2][task];
        needs =
            (struct gpu_needs){ .block_threads = (uint64_t)g->block[0][task] * g->block[1][task] * g->block[2][task],
                                .registers = g->registers[task],
                                .shared_bytes = (uint64_t)g->static_shared[task] + g->dynamic_shared[task] };
    }
    out->n_sm = gpu.n_sm;
    out->at_once = gpu_blocks_per_sm(&gpu, &needs);
    return out->blocks > 0 && out->n_sm > 0 && out->at_once > 0;
}

struct span_copy rank_span_copy(const struct rank_spans *v, size_t i)
{
    const uint32_t row = v->row[SPAN_COPY][i];
    const char *name = rank_span(v, SPAN_COPY, i).name;
    struct span_copy c = { 0 };
    if (v->of.trace)
        arg_of(v->of.trace, row, "bytes", &c.bytes);
    else
        c.bytes = v->of.device->tasks.copy_bytes[row];
    const char *kind = v->of.trace ? NULL : enum_text(&memcpy_kinds, v->of.device->tasks.copy_kind[row]);
    name = kind && !strstr(name, "toD") && !strstr(name, "toH") ? kind : name;
    c.is_to_host = strstr(name, "DtoH") || strcasestr(name, "device to host");
    c.is_to_device = strstr(name, "HtoD") || strcasestr(name, "host to device");
    c.is_pageable = strstr(name, "Pageable") && (c.is_to_host || c.is_to_device);
    c.knows_memory = c.is_pageable || strstr(name, "Pinned");
    return c;
}

/* Bytes of an element; 0: unknown. */
static uint64_t bytes_of_type(const char *type, size_t len)
{
    static const struct {
        const char *type;
        uint64_t bytes;
    } known[] = { { "Float", 4 },         { "float", 4 },       { "FP32", 4 },     { "Half", 2 },
                  { "c10::Half", 2 },     { "FP16", 2 },        { "BFloat16", 2 }, { "c10::BFloat16", 2 },
                  { "BFP16", 2 },         { "Double", 8 },      { "double", 8 },   { "FP64", 8 },
                  { "Int", 4 },           { "int", 4 },         { "INT32", 4 },    { "Long", 8 },
                  { "long int", 8 },      { "INT64", 8 },       { "Byte", 1 },     { "unsigned char", 1 },
                  { "Char", 1 },          { "signed char", 1 }, { "INT8", 1 },     { "UINT8", 1 },
                  { "Bool", 1 },          { "bool", 1 },        { "Short", 2 },    { "INT16", 2 },
                  { "Float8_e4m3fn", 1 }, { "Float8_e5m2", 1 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].type) == len && memcmp(known[i].type, type, len) == 0)
            return known[i].bytes;
    return 0;
}

void collective_kind(char out[COLLECTIVE_KIND], const char *name)
{
    static const char *const kinds[] = { "allreduce", "allgather", "reducescatter", "alltoall", "broadcast",
                                         "sendrecv",  "send",      "recv",          "barrier",  "reduce" };
    char plain[200];
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < sizeof plain; c++)
        if (isalpha((unsigned char)*c))
            plain[n++] = (char)tolower((unsigned char)*c);
    plain[n] = '\0';
    out[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !out[0]; i++)
        if (strstr(plain, kinds[i]))
            strcpy(out, kinds[i]);
}

struct span_collective rank_span_collective(const struct rank_spans *v, size_t i)
{
    const uint32_t row = v->row[SPAN_COLLECTIVE][i];
    struct span_collective c = { 0 };
    struct json_span type;
    uint64_t size = 0;
    if (v->of.trace) {
        static const char *const key[] = { "In msg nelems", "Out msg nelems", "Group size", "dtype",
                                           "Collective name" };
        struct json_span value[5], name;
        uint64_t out = 0;
        json_find_each(chrome_slice_args(v->of.trace, row), key, value, 5);
        c.elements = value[0].at && json_u64(value[0], &c.elements) ? c.elements : 0;
        out = value[1].at && json_u64(value[1], &out) ? out : 0;
        c.elements = out > c.elements ? out : c.elements;
        c.ranks = value[2].at && json_u64(value[2], &c.ranks) ? c.ranks : 0;
        size = value[3].at && json_plain(value[3], &type) ? bytes_of_type(type.at, type.len) : 0;
        char text[100] = "";
        if (value[4].at && json_plain(value[4], &name))
            memcpy(text, name.at, name.len < sizeof text ? name.len : sizeof text - 1);
        collective_kind(c.kind, text);
    } else {
        const struct comm_ops *o = &v->of.device->comm.ops;
        const char *text = o->data_type ? enum_text(&hccl_data_types, o->data_type[row]) : NULL;
        c.elements = o->count ? o->count[row] : 0;
        c.ranks = o->rank_size && o->rank_size[row] != NO_ROW ? o->rank_size[row] : 0;
        size = text ? bytes_of_type(text, strlen(text)) : 0;
        if (o->op_type)
            collective_kind(c.kind, names_text(v->names, o->op_type[row]));
    }
    if (!c.kind[0])
        collective_kind(c.kind, rank_span(v, SPAN_COLLECTIVE, i).name);
    c.bytes = __builtin_mul_overflow(c.elements, size, &c.bytes) ? 0 : c.bytes;
    return c;
}
