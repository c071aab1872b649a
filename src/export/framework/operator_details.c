/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

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
    } * self, *total; /* by row of framework_ops */
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

CELL_GETTER(name, struct operators, cell_name(r->s->framework.ops.name[op_at(r, i)]))
CELL_GETTER(shapes, struct operators, recorded(r->s->framework.ops.shapes[op_at(r, i)]))
CELL_GETTER(stack, struct operators, recorded(r->s->framework.ops.stack[op_at(r, i)]))
CELL_GETTER(host_self, struct operators, cell_us_short(r->s->tree.self_ns[op_at(r, i)]))
CELL_GETTER(host_total, struct operators, cell_us_short(host_ns(&r->s->framework.ops, op_at(r, i))))
CELL_GETTER(device_self, struct operators, sum_cell(r->self[op_at(r, i)]))
CELL_GETTER(device_total, struct operators, sum_cell(r->total[op_at(r, i)]))
CELL_GETTER(aicore_self, struct operators, sum_aicore_cell(r->self[op_at(r, i)]))
CELL_GETTER(aicore_total, struct operators, sum_aicore_cell(r->total[op_at(r, i)]))

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
    }
    if (arena_failed(x->mem))
        return error_no_memory(e, "operator_details");
    add_up(o, deepest(&s->tree, ops->n, depth) == DEEP);
    size_t n = 0;
    for (uint32_t i = 0; i < ops->n; i++)
        if (!name_is_step(s->profile.names, ops->name[s->tree.by_begin[i]]) &&
            collection_shows(x, ops->begin_ns[s->tree.by_begin[i]]))
            o->at[n++] = i;
    *out = (struct table){
        .name = "operator_details", TABLE_COLUMNS(columns), .n_rows = n, .rows = o, .names = s->profile.names
    };
    if (s->profile.chip->task_log == TASK_LOG_CUDA)
        out->n_columns -= AICORE_COLUMNS;
    return !arena_failed(x->mem) || error_no_memory(e, "operator_details");
}
