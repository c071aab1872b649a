#include "export/framework/operator_details.h"

#include "analyse/framework/profiler_steps.h"

/* Operators in each other so deep are nobody's program. Below that, a sum over all that lies inside is taken from running
 * sums, so that it costs the same for all of them. */
enum { DEEP = UINT8_MAX };

struct operators {
    const struct collection *s;
    uint32_t *at;   /* positions in by_begin: all but the steps */
    uint8_t *depth; /* by row of torch_ops */
    struct device_time {
        double us, aicore_us;
        bool has_any, has_aicore;
    } * before; /* running sums over in_order, one more than there are; NULL: nothing is deep */
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

/* Added up one by one in the order of starting: the last digit is that of the reference. */
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

/* A sum over nothing is 0, and one over something has a point. */
static struct cell sum_cell(bool has_any, double us)
{
    return has_any ? cell_real(us) : cell_uint(0);
}

static struct cell recorded(name_id name)
{
    return cell_name(name == NO_NAME ? NAME_EMPTY : name);
}

enum { NAME, SHAPES, STACK, HOST_SELF, HOST_TOTAL, SELF, TOTAL, SELF_AICORE, TOTAL_AICORE, COLUMNS };
static const struct column columns[COLUMNS] = {
    [NAME] = { .name = "Name" },
    [SHAPES] = { .name = "Input Shapes" },
    [STACK] = { .name = "Call Stack" },
    [HOST_SELF] = { .name = "Host Self Duration(us)" },
    [HOST_TOTAL] = { .name = "Host Total Duration(us)" },
    [SELF] = { .name = "Device Self Duration(us)" },
    [TOTAL] = { .name = "Device Total Duration(us)" },
    [SELF_AICORE] = { .name = "Device Self Duration With AICore(us)" },
    [TOTAL_AICORE] = { .name = "Device Total Duration With AICore(us)" },
};

static struct cell get(const void *rows, size_t i, size_t column)
{
    const struct operators *o = rows;
    const struct torch_ops *ops = &o->s->framework.ops;
    const uint32_t at = o->at[i], row = o->s->tree.by_begin[at];
    struct device_time t;
    switch (column) {
    case NAME: return cell_name(ops->name[row]);
    case SHAPES: return recorded(ops->shapes[row]);
    case STACK: return recorded(ops->stack[row]);
    case HOST_SELF: return cell_us_short(o->s->tree.self_ns[row]);
    case HOST_TOTAL: return cell_us_short((int64_t)((uint64_t)ops->end_ns[row] - (uint64_t)ops->begin_ns[row]));
    case SELF: t = self_time(o, at); return sum_cell(t.has_any, t.us);
    case TOTAL: t = total_time(o, at); return sum_cell(t.has_any, t.us);
    case SELF_AICORE: t = self_time(o, at); return sum_cell(t.has_aicore, t.aicore_us);
    default: t = total_time(o, at); return sum_cell(t.has_aicore, t.aicore_us);
    }
}

/* Fills depth, and says whether something is deep. */
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
    const struct torch_ops *ops = &s->framework.ops;
    struct operators *o = arena_take(x->mem, 1, sizeof *o);
    if (o) {
        o->s = s;
        o->at = arena_take(x->mem, ops->n, sizeof *o->at);
        o->depth = arena_take(x->mem, ops->n, sizeof *o->depth);
    }
    if (arena_failed(x->mem))
        return error_set(e, FAULT_LIMIT, "operator_details: no memory");
    if (measure(o)) {
        o->before = arena_take(x->mem, s->tree.n_started + 1, sizeof *o->before);
        add_up(o);
    }
    size_t n = 0;
    for (uint32_t i = 0; i < ops->n; i++)
        if (!name_is_step(s->profile.names, ops->name[s->tree.by_begin[i]]) &&
            collection_shows(x, ops->begin_ns[s->tree.by_begin[i]]))
            o->at[n++] = i;
    *out = (struct table){ .name = "operator_details",
                           .column = columns,
                           .n_columns = COLUMNS,
                           .n_rows = n,
                           .rows = o,
                           .get = get,
                           .names = s->profile.names };
    return !arena_failed(x->mem) || error_set(e, FAULT_LIMIT, "operator_details: no memory");
}
