/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"

/* No program nests operators that deeply. Where a damaged file does, each operator adds its total to that of its
 * parent: to add each kernel to all operators around it would be quadratic. */
enum { DEEP = UINT8_MAX };

struct operators {
    const struct collection *s;
    uint32_t *at; /* positions in by_begin of the operators that are shown: all but the steps */
    struct device_time {
        double us, aicore_us;
        bool has_any, has_aicore;
    } * self, *total;             /* by row of framework_ops */
    uint32_t *captured;           /* operators of captures that ran in replays: the rows behind the others */
    struct device_time *replayed; /* by operator of a capture */
    size_t n_plain;
};

static void operator_details_add(struct device_time *t, const struct device_time *more)
{
    t->us += more->us;
    t->aicore_us += more->aicore_us;
    t->has_any |= more->has_any;
    t->has_aicore |= more->has_aicore;
}

/* The number of operators around the deepest one, at most DEEP. */
static unsigned deepest(const struct op_tree *t, size_t n, uint8_t *depth)
{
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = t->by_begin[i], parent = t->parent[row];
        depth[row] = parent == NO_ROW ? 0 : (uint8_t)(depth[parent] + (depth[parent] < DEEP));
        most = depth[row] > most ? depth[row] : most;
    }
    return most;
}

/* Added up one by one in the order in which they were started, so that the last digit is that of the reference. */
static void add_up(struct operators *o, bool is_deep)
{
    const struct op_tree *t = &o->s->tree;
    const struct kernels *k = &o->s->kernels;
    for (size_t i = 0; i < t->n_started; i++) {
        const uint32_t kernel = t->in_order[i], row = t->owner[kernel];
        const bool is_aicore = k->is_aicore[kernel];
        const struct device_time one = { k->dur_us[kernel], is_aicore ? k->dur_us[kernel] : 0, true, is_aicore };
        if (kernel_replays(o->s, kernel) == NO_ROW) /* a replay is of what launched it, but not its own work */
            operator_details_add(&o->self[row], &one);
        for (uint32_t around = row; around != NO_ROW && !is_deep; around = t->parent[around])
            operator_details_add(&o->total[around], &one);
    }
    for (size_t i = o->s->framework.ops.n; is_deep && i-- > 0;) { /* parents precede what is inside them */
        const uint32_t row = t->by_begin[i];
        operator_details_add(&o->total[row], &o->self[row]);
        if (t->parent[row] != NO_ROW)
            operator_details_add(&o->total[t->parent[row]], &o->total[row]);
    }
}

/* As in Python an empty sum is "0", and any other has a point. */
static struct cell sum_or_0(bool has_any, double us)
{
    return has_any ? cell_real(us) : cell_uint(0);
}

static struct cell recorded(name_id name)
{
    return cell_name(name == NO_NAME ? NAME_EMPTY : name);
}

/* The row of framework_ops that a row shows. */
static uint32_t op_at(const struct operators *o, size_t i)
{
    return o->s->tree.by_begin[o->at[i]];
}

static int64_t host_ns(const struct framework_ops *ops, uint32_t row)
{
    return wrap_sub(ops->end_ns[row], ops->begin_ns[row]);
}

static struct cell sum_cell(struct device_time t)
{
    return sum_or_0(t.has_any, t.us);
}

static struct cell sum_aicore_cell(struct device_time t)
{
    return sum_or_0(t.has_aicore, t.aicore_us);
}

/* The operator of a capture that a row shows; NO_ROW: it shows one of framework_ops. */
static uint32_t captured_row(const struct operators *o, size_t i)
{
    return i < o->n_plain ? NO_ROW : o->captured[i - o->n_plain];
}

#define OPERATOR_GETTER(function, of_op, of_captured)                                                                  \
    static struct cell function(const void *rows, size_t i)                                                            \
    {                                                                                                                  \
        const struct operators *const r = rows;                                                                        \
        const struct graph_capture *const c = &r->s->profile.captured;                                                 \
        const uint32_t at = captured_row(r, i), op = at == NO_ROW ? op_at(r, i) : NO_ROW;                              \
        (void)c;                                                                                                       \
        return at == NO_ROW ? (of_op) : (of_captured);                                                                 \
    }
OPERATOR_GETTER(name, cell_name(r->s->framework.ops.name[op]), cell_name(c->name[at]))
OPERATOR_GETTER(shapes, recorded(r->s->framework.ops.shapes[op]), cell_name(c->shapes[at]))
OPERATOR_GETTER(stack, recorded(r->s->framework.ops.stack[op]), cell_name(c->stack[at]))
OPERATOR_GETTER(host_self, cell_us_short(r->s->tree.self_ns[op]), cell_uint(0))
OPERATOR_GETTER(host_total, cell_us_short(host_ns(&r->s->framework.ops, op)), cell_uint(0))
OPERATOR_GETTER(device_self, sum_cell(r->self[op]), sum_cell(r->replayed[at]))
OPERATOR_GETTER(device_total, sum_cell(r->total[op]), sum_cell(r->replayed[at]))
OPERATOR_GETTER(aicore_self, sum_aicore_cell(r->self[op]), sum_aicore_cell(r->replayed[at]))
OPERATOR_GETTER(aicore_total, sum_aicore_cell(r->total[op]), sum_aicore_cell(r->replayed[at]))

static const struct column columns[] = {
    { "Name", name },
    { "Input Shapes", shapes },
    { "Call Stack", stack },
    { "Host Self Duration(us)", host_self },
    { "Host Total Duration(us)", host_total },
    { "Device Self Duration(us)", device_self },
    { "Device Total Duration(us)", device_total },
    { "Device Self Duration With AICore(us)", aicore_self },
    { "Device Total Duration With AICore(us)", aicore_total },
};
enum { AICORE_COLUMNS = 2 }; /* the last ones */

bool collection_has_framework(const struct collection *s)
{
    return s->settings.has_cpu;
}

/* Operators of captures with what ran of them in all replays. Returns how many there are. */
static size_t captured_add_up(struct operators *o, const struct collection_export *x)
{
    const struct kernels *k = &o->s->kernels;
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const uint32_t op = kernel_replays(o->s, i);
        if (op == NO_ROW || !collection_shows(x, k->launch_ns[i]))
            continue;
        const struct device_time one = { .us = k->dur_us[i], .has_any = true };
        operator_details_add(&o->replayed[op], &one);
    }
    for (uint32_t op = 0; op < o->s->profile.captured.n_ops; op++)
        if (o->replayed[op].has_any)
            o->captured[n++] = op;
    return n;
}

bool operator_details_table(const struct collection_export *x, struct table *out, struct error *e)
{
    const struct collection *s = x->collection;
    const struct framework_ops *ops = &s->framework.ops;
    struct operators *o = arena_take(x->mem, 1, sizeof *o);
    uint8_t *depth = arena_take(x->mem, ops->n, sizeof *depth);
    if (o) {
        o->s = s;
        o->at = arena_take(x->mem, ops->n, sizeof *o->at);
        o->self = arena_take(x->mem, ops->n, sizeof *o->self);
        o->total = arena_take(x->mem, ops->n, sizeof *o->total);
        o->captured = arena_take(x->mem, s->profile.captured.n_ops, sizeof *o->captured);
        o->replayed = arena_take(x->mem, s->profile.captured.n_ops, sizeof *o->replayed);
    }
    if (arena_failed(x->mem))
        return error_no_memory(e, "operator_details");
    add_up(o, deepest(&s->tree, ops->n, depth) == DEEP);
    size_t n = 0;
    for (uint32_t i = 0; i < ops->n; i++)
        if (!name_is_step(s->profile.names, ops->name[s->tree.by_begin[i]]) &&
            collection_shows(x, ops->begin_ns[s->tree.by_begin[i]]))
            o->at[n++] = i;
    o->n_plain = n;
    n += captured_add_up(o, x);
    *out = (struct table){
        .name = "operator_details", TABLE_COLUMNS(columns), .n_rows = n, .rows = o, .names = s->profile.names
    };
    if (s->profile.chip->task_log == TASK_LOG_CUDA)
        out->n_columns -= AICORE_COLUMNS;
    return !arena_failed(x->mem) || error_no_memory(e, "operator_details");
}
