/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "export/export.h"
#include "export/scope.h"

/* Operators of one type that ran on one kind of core. */
struct op_statistic_group {
    unsigned device;
    name_id op_type, core;
    struct task_statistics time;
    double ratio; /* of the time of all operators of the device, in percent */
};

struct op_statistic_groups {
    LIST(struct op_statistic_group) list;
};

static bool is_counted(const struct export *x, const struct device *d, size_t row, const name_id *skipped)
{
    const uint32_t op = d->tasks.op[row];
    if (op == NO_ROW || d->tasks.begin_ns[row] <= d->source.begin_ns)
        return false;
    const name_id core = x->profile->host.ops.task_type[op];
    return core != skipped[0] && core != skipped[1] && scope_has_task(x, &d->tasks, row) &&
           scope_task_host(x, &d->tasks, row) != NO_ROW;
}

/* Adds a group for each pair of operator type and core. Tasks are sorted by both as one number, then added up in one
 * pass. */
static bool group_tasks(const struct export *x, const struct device *d, struct op_statistic_groups *out)
{
    const struct ops *ops = &x->profile->host.ops;
    const name_id skipped[] = { names_addz(x->profile->names, "COMMUNICATION"),
                                names_addz(x->profile->names, "HCCL_AI_CPU") };
    struct arena *mem = arena_new(); /* given back at once: it grows with the number of tasks */
    uint64_t *key = mem ? arena_take(mem, d->tasks.n, sizeof *key) : NULL;
    uint32_t *order = mem ? arena_take(mem, d->tasks.n, sizeof *order) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < d->tasks.n && key && order; i++) {
        if (!is_counted(x, d, i, skipped))
            continue;
        key[i] = (uint64_t)ops->op_type[d->tasks.op[i]] << 32 | ops->task_type[d->tasks.op[i]];
        order[n++] = (uint32_t)i;
    }
    bool done = key && order && order_by_u64(order, n, key);
    struct op_statistic_group *g = NULL;
    double total = 0;
    const size_t first = out->list.n;
    for (size_t i = 0; i < n && done; i++) {
        if (i == 0 || key[order[i]] != key[order[i - 1]]) {
            g = list_add(&out->list, x->mem);
            done = g != NULL;
            if (!done)
                break;
            *g = (struct op_statistic_group){
                d->source.device, (name_id)(key[order[i]] >> 32), (name_id)key[order[i]], { 0 }, 0
            };
        }
        task_statistics_add(&g->time, d->tasks.dur_ns[order[i]]);
        total += d->tasks.dur_ns[order[i]];
    }
    for (size_t i = first; i < out->list.n; i++)
        out->list.at[i].ratio = total > 0 ? out->list.at[i].time.total_ns / total * 100 : 0;
    arena_free(mem);
    return done;
}

/* The longest total first: in the older presentation device by device, else over all devices, as the reference
 * sorts. */
struct op_statistic_sorting {
    const struct names *names;
    bool by_device;
};

static int op_statistic_compare(const void *a, const void *b, void *context)
{
    const struct op_statistic_group *l = a, *r = b;
    const struct op_statistic_sorting *s = context;
    if (s->by_device && l->device != r->device)
        return l->device < r->device ? -1 : 1;
    if (l->time.total_ns != r->time.total_ns)
        return l->time.total_ns > r->time.total_ns ? -1 : 1;
    if (l->device != r->device)
        return l->device < r->device ? -1 : 1;
    const int by_type = names_compare(s->names, l->op_type, r->op_type);
    return by_type ? by_type : names_compare(s->names, l->core, r->core);
}

struct op_statistic {
    const struct export *x;
    const struct op_statistic_group *at;
};

CELL_GETTER(device_id, struct op_statistic, cell_uint(r->at[i].device))
CELL_GETTER(model_name, struct op_statistic, model_name_cell(r->x->profile, r->x->model))
CELL_GETTER(op_type, struct op_statistic, cell_name(r->at[i].op_type))
CELL_GETTER(core_type, struct op_statistic, cell_name(r->at[i].core))
CELL_GETTER(count, struct op_statistic, cell_uint(r->at[i].time.n))
CELL_GETTER(total, struct op_statistic, cell_statistic(r->x, r->at[i].time.total_ns / 1000))
CELL_GETTER(least, struct op_statistic, cell_statistic(r->x, r->at[i].time.min_ns / 1000))
CELL_GETTER(average, struct op_statistic, cell_statistic(r->x, task_statistics_average_ns(&r->at[i].time) / 1000))
CELL_GETTER(most, struct op_statistic, cell_statistic(r->x, r->at[i].time.max_ns / 1000))
CELL_GETTER(ratio, struct op_statistic, cell_statistic(r->x, r->at[i].ratio))

enum { OF_GRAPH = 1 };
static const struct optional_column columns[] = {
    { "Device_id", NULL, 0, device_id }, { "Model Name", NULL, OF_GRAPH, model_name },
    { "OP Type", NULL, 0, op_type },     { "Core Type", NULL, 0, core_type },
    { "Count", NULL, 0, count },         { "Total Time(us)", NULL, 0, total },
    { "Min Time(us)", NULL, 0, least },  { "Avg Time(us)", NULL, 0, average },
    { "Max Time(us)", NULL, 0, most },   { "Ratio(%)", NULL, 0, ratio },
};

bool op_statistic_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    if (p->is_level0) /* it has no types of operators */
        return true;
    struct op_statistic_groups groups = { 0 };
    for (size_t i = 0; i < p->n_devices; i++)
        if (!group_tasks(x, &p->device[i], &groups))
            return error_no_memory(e, "op_statistic");
    struct op_statistic_sorting sorting = { p->names, x->is_generic };
    if (groups.list.n > 1)
        qsort_r(groups.list.at, groups.list.n, sizeof *groups.list.at, op_statistic_compare, &sorting);

    const name_id write_back = names_addz(p->names, "WRITE_BACK"), invalid = names_addz(p->names, "INVALID");
    struct op_statistic *s = arena_take(x->mem, 1, sizeof *s);
    uint32_t *shown = arena_take(x->mem, groups.list.n, sizeof *shown);
    size_t n = 0;
    if (!s || !shown)
        return error_no_memory(e, "op_statistic");
    for (uint32_t i = 0; i < groups.list.n; i++) {
        const struct op_statistic_group *g = &groups.list.at[i];
        if (g->op_type != NAME_NA && g->core != write_back && g->core != invalid)
            shown[n++] = i;
    }
    *s = (struct op_statistic){ x, groups.list.at };
    *out = (struct table){ .name = "op_statistic", .n_rows = n, .rows = s, .shown = shown, .names = p->names };
    return OPTIONAL_COLUMNS(out, columns, x->scope == SCOPE_GRAPH ? OF_GRAPH : 0, x, e);
}
