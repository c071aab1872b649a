/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/operator_details.h"

#include "analyse/framework/profiler_steps.h"

/* No program nests operators that deeply. The totals of deeper ones, which a damaged file may have, are differences of
 * running sums: adding up everything below each would be quadratic. */
enum { DEEP = UINT8_MAX };

struct operators {
    const struct collection *s;
    uint32_t *at;   /* positions in by_begin of the operators that are shown: all but the steps */
    uint8_t *depth; /* by row of framework_ops */
    struct device_time {
        double us, aicore_us;
        bool has_any, has_aicore;
    } * before; /* running sums over in_order, n_started + 1 of them; NULL: nothing is deeper than DEEP */
};

static void add(struct device_time *t, const struct kernels *k, uint32_t kernel)
{
    t->us += k->dur_us[kernel];
    t->has_any = true;
    if (!k->is_aicore[kernel])
        return;
    t->aicore_us += k->dur_us[kernel];
    t->has_aicore = true;
}

/* Added up one by one in the order in which they were started, so that the last digit is that of the reference. */
static struct device_time sum(const struct kernels *k, const uint32_t *kernel, uint32_t first, uint32_t end)
{
    struct device_time t = { 0 };
    for (uint32_t i = first; i < end; i++)
        add(&t, k, kernel[i]);
    return t;
}

static struct device_time self_time(const struct operators *o, uint32_t at)
{
    const struct op_tree *t = &o->s->tree;
    return sum(&o->s->kernels, t->started, t->first_started[at], t->first_started[at + 1]);
}

static struct device_time total_time(const struct operators *o, uint32_t at)
{
    const struct op_tree *t = &o->s->tree;
    if (!o->before || o->depth[t->by_begin[at]] < DEEP)
        return sum(&o->s->kernels, t->in_order, t->below[at], t->below_end[at]);
    const struct device_time *from = &o->before[t->below[at]], *to = &o->before[t->below_end[at]];
    return (struct device_time){ to->us - from->us, to->aicore_us - from->aicore_us, to > from,
                                 to->aicore_us > from->aicore_us };
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
CELL_GETTER(device_self, struct operators, sum_cell(self_time(r, r->at[i])))
CELL_GETTER(device_total, struct operators, sum_cell(total_time(r, r->at[i])))
CELL_GETTER(aicore_self, struct operators, sum_aicore_cell(self_time(r, r->at[i])))
CELL_GETTER(aicore_total, struct operators, sum_aicore_cell(total_time(r, r->at[i])))

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

/* Fills depth. True: some operator is as deep as DEEP. */
static bool measure(struct operators *o)
{
    const struct op_tree *t = &o->s->tree;
    bool is_deep = false;
    for (size_t i = 0; i < o->s->framework.ops.n; i++) {
        const uint32_t row = t->by_begin[i];
        const uint8_t around = t->parent[row] == NO_ROW ? 0 : o->depth[t->parent[row]];
        o->depth[row] = around < DEEP ? (uint8_t)(around + 1) : DEEP;
        is_deep |= o->depth[row] == DEEP;
    }
    return is_deep;
}

static void add_up(struct operators *o)
{
    const struct op_tree *t = &o->s->tree;
    for (size_t i = 0; o->before && i < t->n_started; i++) {
        o->before[i + 1] = o->before[i];
        add(&o->before[i + 1], &o->s->kernels, t->in_order[i]);
    }
}

bool collection_has_framework(const struct collection *s)
{
    return s->settings.has_cpu;
}

bool operator_details_table(const struct collection_export *x, struct table *out, struct error *e)
{
    const struct collection *s = x->collection;
    const struct framework_ops *ops = &s->framework.ops;
    struct operators *o = arena_take(x->mem, 1, sizeof *o);
    if (o) {
        o->s = s;
        o->at = arena_take(x->mem, ops->n, sizeof *o->at);
        o->depth = arena_take(x->mem, ops->n, sizeof *o->depth);
    }
    if (arena_failed(x->mem))
        return error_no_memory(e, "operator_details");
    if (measure(o)) {
        o->before = arena_take(x->mem, s->tree.n_started + 1, sizeof *o->before);
        add_up(o);
    }
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
