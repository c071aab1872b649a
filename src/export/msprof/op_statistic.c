#include "export/msprof/op_statistic.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "export/msprof/model_names.h"
#include "export/scope.h"
#include "export/msprof/statistics.h"

/* Operators of one type that ran on one kind of core. */
struct group {
    unsigned device;
    name_id op_type, core;
    struct task_statistics time;
    double ratio; /* of the time of all operators of the device, in percent */
};

struct groups {
    size_t n, cap;
    struct group *at;
};

static struct group *add_group(struct groups *g, struct arena *mem)
{
    return list_grow(mem, (void **)&g->at, &g->n, &g->cap, sizeof *g->at);
}

static bool counts(const struct export *x, const struct device *d, size_t row, const name_id *skipped)
{
    const uint32_t op = d->tasks.op[row];
    if (op == NO_ROW || d->tasks.begin_ns[row] <= d->source.begin_ns)
        return false;
    const name_id core = x->profile->host.ops.task_type[op];
    return core != skipped[0] && core != skipped[1] && scope_has_task(x, &d->tasks, row) &&
           scope_task_host(x, &d->tasks, row) != NO_ROW;
}

/* One group for each (operator type, core). Tasks are sorted by both as one number, then counted in one pass. */
static bool group_tasks(const struct export *x, const struct device *d, struct groups *out)
{
    const struct ops *ops = &x->profile->host.ops;
    const name_id skipped[] = { names_addz(x->profile->names, "COMMUNICATION"),
                                names_addz(x->profile->names, "HCCL_AI_CPU") };
    struct arena *mem = arena_new(); /* as large as the tasks */
    uint64_t *key = mem ? arena_take(mem, d->tasks.n, sizeof *key) : NULL;
    uint32_t *order = mem ? arena_take(mem, d->tasks.n, sizeof *order) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < d->tasks.n && key && order; i++) {
        if (!counts(x, d, i, skipped))
            continue;
        key[i] = (uint64_t)ops->op_type[d->tasks.op[i]] << 32 | ops->task_type[d->tasks.op[i]];
        order[n++] = (uint32_t)i;
    }
    bool done = key && order && order_by_u64(order, n, key);
    struct group *g = NULL;
    double total = 0;
    const size_t first = out->n;
    for (size_t i = 0; i < n && done; i++) {
        if (i == 0 || key[order[i]] != key[order[i - 1]]) {
            g = add_group(out, x->mem);
            done = g != NULL;
            if (!done)
                break;
            *g = (struct group){ d->source.device, (name_id)(key[order[i]] >> 32), (name_id)key[order[i]], { 0 }, 0 };
        }
        task_statistics_add(&g->time, d->tasks.dur_ns[order[i]]);
        total += d->tasks.dur_ns[order[i]];
    }
    for (size_t i = first; i < out->n; i++)
        out->at[i].ratio = total > 0 ? out->at[i].time.total_ns / total * 100 : 0;
    arena_free(mem);
    return done;
}

/* The longest first. In the native form over all devices together, as the reference sorts them. */
struct sorting {
    const struct names *names;
    bool by_device;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct group *l = a, *r = b;
    const struct sorting *s = context;
    if (s->by_device && l->device != r->device)
        return l->device < r->device ? -1 : 1;
    if (l->time.total_ns != r->time.total_ns)
        return l->time.total_ns > r->time.total_ns ? -1 : 1;
    if (l->device != r->device)
        return l->device < r->device ? -1 : 1;
    const int by_type = names_compare(s->names, l->op_type, r->op_type);
    return by_type ? by_type : names_compare(s->names, l->core, r->core);
}

static const struct column whole_columns[] = {
    { "Device_id", NULL },    { "OP Type", NULL },        { "Core Type", NULL },
    { "Count", NULL },        { "Total Time(us)", NULL }, { "Min Time(us)", NULL },
    { "Avg Time(us)", NULL }, { "Max Time(us)", NULL },   { "Ratio(%)", NULL },
};
static const struct column graph_columns[] = {
    { "Device_id", NULL },    { "Model Name", NULL },     { "OP Type", NULL },      { "Core Type", NULL },
    { "Count", NULL },        { "Total Time(us)", NULL }, { "Min Time(us)", NULL }, { "Avg Time(us)", NULL },
    { "Max Time(us)", NULL }, { "Ratio(%)", NULL },
};

static void add_row(const struct export *x, struct grid *grid, const struct group *g)
{
    const struct cell of_model[] = { cell_uint(g->device), model_name_cell(x->profile, x->model) };
    const bool is_graph = x->scope == SCOPE_GRAPH;
    const struct cell row[] = {
        is_graph ? of_model[1] : of_model[0],
        cell_name(g->op_type),
        cell_name(g->core),
        cell_uint(g->time.n),
        cell_statistic(x, g->time.total_ns / 1000),
        cell_statistic(x, g->time.min_ns / 1000),
        cell_statistic(x, task_statistics_average_ns(&g->time) / 1000),
        cell_statistic(x, g->time.max_ns / 1000),
        cell_statistic(x, g->ratio),
    };
    struct cell cells[1 + sizeof row / sizeof *row] = { of_model[0] };
    memcpy(cells + is_graph, row, sizeof row);
    grid_row(grid, cells);
}

bool op_statistic_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    if (p->is_level0) /* it has no types of operators */
        return true;
    struct groups groups = { 0 };
    for (size_t i = 0; i < p->n_devices; i++)
        if (!group_tasks(x, &p->device[i], &groups))
            return error_set(e, FAULT_LIMIT, "op_statistic: no memory");
    struct sorting sorting = { p->names, x->is_generic };
    if (groups.n > 1)
        qsort_r(groups.at, groups.n, sizeof *groups.at, compare, &sorting);

    const name_id write_back = names_addz(p->names, "WRITE_BACK"), invalid = names_addz(p->names, "INVALID");
    const bool is_graph = x->scope == SCOPE_GRAPH;
    const struct column *column = is_graph ? graph_columns : whole_columns;
    struct grid grid = { .n_columns = sizeof whole_columns / sizeof *whole_columns + is_graph, .mem = x->mem };
    for (size_t i = 0; i < groups.n; i++) {
        const struct group *g = &groups.at[i];
        if (g->op_type != NAME_NA && g->core != write_back && g->core != invalid)
            add_row(x, &grid, g);
    }
    *out = grid_table(&grid, "op_statistic", column, p->names);
    return true;
}
