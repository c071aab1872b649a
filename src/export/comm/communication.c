/* SPDX-License-Identifier: Apache-2.0 */
#include "export/comm/communication.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/keys.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"
#include "raw/enums.h"

/* Whether a task belongs to the exported part. A collective without tasks on the master stream is not drawn, but its
 * tasks are. */
static bool task_wanted(const struct export *x, const struct device *d, size_t i)
{
    const struct communication *c = &d->comm;
    const bool in_model = x->scope != SCOPE_GRAPH || c->ops.model[c->tasks.op[i]] == x->model;
    return in_model && scope_has_time(x, d, c->tasks.begin_ns[i]);
}

/* The same for all tasks of a device, in x->mem. NULL: all of them, or no memory. */
static const bool *tasks_wanted(const struct export *x, const struct device *d)
{
    bool *wanted = x->scope == SCOPE_ALL ? NULL : arena_take(x->mem, d->comm.tasks.n, sizeof *wanted);
    for (size_t i = 0; wanted && i < d->comm.tasks.n; i++)
        wanted[i] = task_wanted(x, d, i);
    return wanted;
}

static void write_groups(const struct export *x, struct trace *t, uint32_t pid, const struct comm_groups *g)
{
    for (size_t i = 0; i < g->at.n; i++) {
        const struct comm_group *group = &g->at.at[i];
        const char *name = names_text(x->profile->names, group->name);
        char text[600];
        if (group->name == NAME_NA)
            snprintf(text, sizeof text, "Communication");
        else
            snprintf(text, sizeof text, "Group %.500s Communication", name);
        trace_thread(t, pid, group->first_row, text, group->first_row);
        for (int32_t plane = 0; plane <= group->most_plane; plane++) {
            if (!group->has_plane[plane])
                continue;
            snprintf(text, sizeof text, "Plane %" PRId32, plane);
            trace_thread(t, pid, group->first_row + 1 + plane, text, group->first_row + 1 + plane);
        }
    }
}

static const char *enum_or(const struct enum_table *table, uint32_t value, const char *none, char number[24])
{
    const char *text = value == DATA_TYPE_NONE ? none : enum_text(table, value);
    if (!text)
        snprintf(number, 24, "%" PRIu32, value);
    return text ? text : number;
}

static void write_task(const struct export *x, struct trace *t, uint32_t pid, const struct device *d, int64_t row,
                       size_t i)
{
    const struct comm_tasks *c = &d->comm.tasks;
    const uint32_t task = c->task_row[i];
    char text[24];
    trace_slice_name(t, c->name[i], pid, row, c->begin_ns[i], c->dur_ns[i]);
    trace_args(t);
    if (c->has_info[i]) {
        snprintf(text, sizeof text, "%" PRIu64, c->notify[i]);
        trace_arg_text(t, "notify_id", text);
    } else {
        trace_arg_text(t, "notify_id", "N/A");
    }
    trace_arg_real(t, "duration estimated(us)", c->estimate_us[i]);
    trace_arg_uint(t, "stream id", d->tasks.stream[task]);
    trace_arg_uint(t, "task id", d->tasks.task[task]);
    trace_arg_uint(t, "context id", d->tasks.context[task]);
    trace_arg_name(t, "task type", c->name[i]);
    trace_arg_uint(t, "src rank", c->src_rank[i]);
    trace_arg_uint(t, "dst rank", c->dst_rank[i]);
    trace_arg_text(t, "transport type", enum_or(&hccl_transports, c->transport[i], "N/A", text));
    trace_arg_uint(t, "size(Byte)", c->size[i]);
    trace_arg_text(t, "data type", enum_or(&hccl_data_types, c->data_type[i], "N/A", text));
    trace_arg_text(t, "link type", enum_or(&hccl_links, c->link[i], "N/A", text));
    trace_arg_real(t, "bandwidth(GB/s)", comm_bandwidth_gbs(c, i, x->is_generic));
    trace_arg_uint(t, "model id", d->comm.ops.model[c->op[i]]);
    trace_end(t);
}

/* A number that was not recorded is -1 in the older presentation, and UINT32_MAX in the newer one. */
static int64_t shown_number(const struct export *x, bool is_missing, int64_t value)
{
    return !is_missing ? value : x->is_generic ? INT64_C(-1) : UINT32_MAX;
}

static void write_op(const struct export *x, struct trace *t, uint32_t pid, const struct device *d, int64_t row,
                     size_t i)
{
    static const char *const yes_no[] = { "no", "yes" };
    const struct comm_ops *o = &d->comm.ops;
    char text[24];
    trace_slice_name(t, o->name[i], pid, row, o->begin_ns[i], (double)(o->end_ns[i] - o->begin_ns[i]));
    trace_args(t);
    if (x->options->dialect != DIALECT_DOCUMENTED)
        trace_arg_int(t, "rank_size", shown_number(x, o->rank_size[i] == UINT32_MAX, o->rank_size[i]));
    trace_arg_uint(t, "connection_id", o->connection[i]);
    trace_arg_uint(t, "model id", o->model[i]);
    trace_arg_text(t, "data_type", enum_or(&hccl_data_types, o->data_type[i], "N/A", text));
    trace_arg_name(t, "alg_type", o->alg[i]);
    trace_arg_int(t, "count", shown_number(x, o->count[i] == UINT64_MAX, (int64_t)o->count[i]));
    if (!x->is_generic && x->options->dialect != DIALECT_DOCUMENTED) {
        trace_arg_text(t, "relay", yes_no[o->relay[i] > 0]);
        trace_arg_text(t, "retry", yes_no[o->retry[i] > 0]);
    }
    if (x->launches)
        trace_arg_launch(t, x->launches->device[d - x->profile->device].of_collective, i);
    trace_end(t);
    char id[FLOW_ID_BYTES];
    if (flow_to_collective(x, d, i))
        trace_flow_id(t, 'f', "HostToDevice", flow_call_id(x, o->connection[i] - 1, id), pid, row, o->begin_ns[i]);
}

bool communication_track(const struct export *x, struct trace *t, struct error *e)
{
    const struct profile *p = x->profile;
    const unsigned sort = x->is_generic ? PLACE_COMM_GENERIC : PLACE_COMM;
    int64_t next_row = 0;
    for (size_t k = 0; k < p->n_devices; k++) {
        const struct device *d = &p->device[k];
        const struct communication *c = &d->comm;
        if (c->ops.n == 0)
            continue;
        next_row = x->is_generic ? 0 : next_row;
        struct comm_groups groups = comm_groups_find(p, d, tasks_wanted(x, d), &next_row, x->mem);
        if (arena_failed(x->mem))
            return error_no_memory(e, "the groups of the timeline");
        if (groups.at.n == 0)
            continue;
        const uint32_t pid = trace_pid(d->source.pid, sort, d->source.device);
        trace_process_npu(
            t, pid, x->options->dialect == DIALECT_DOCUMENTED ? chip_words(p->chip)->collectives : "Communication",
            d->source.device, sort);
        write_groups(x, t, pid, &groups);
        for (size_t i = 0; i < c->tasks.n && !p->is_level0; i++) {
            const int32_t plane = c->tasks.plane[i];
            if (plane < 0 || plane >= (int32_t)sizeof groups.at.at->has_plane || !task_wanted(x, d, i))
                continue;
            const struct comm_group *g = comm_group_of(&groups, c->tasks.group[i], x->mem);
            write_task(x, t, pid, d, g->first_row + 1 + plane, i);
        }
        for (size_t i = 0; i < c->ops.n; i++)
            if (scope_has_collective(x, d, i))
                write_op(x, t, pid, d, comm_group_of(&groups, c->ops.group[i], x->mem)->first_row, i);
    }
    return true;
}

/* The collectives of one type on one device. Durations are ns. */
struct kind_sum {
    unsigned device;
    name_id op_type;
    uint64_t n;
    double total, least, most;
    double all; /* the total of all types on the device */
};

struct comm_statistic {
    const struct export *x;
    LIST(struct kind_sum) kind;
};

static int by_total(const void *a, const void *b, void *context)
{
    const struct kind_sum *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return names_compare(context, x->op_type, y->op_type);
}

static void sort_kinds(struct comm_statistic *s, size_t first)
{
    if (s->kind.n > first)
        qsort_r(s->kind.at + first, s->kind.n - first, sizeof *s->kind.at, by_total, s->x->profile->names);
}

/* Adds the types of a device; none if no type is known, or if all took no time. False: no memory. */
static bool sum_kinds(struct comm_statistic *s, const struct device *d)
{
    const struct comm_ops *o = &d->comm.ops;
    struct keys types = { 0 }; /* the index of a type in the list, less `first` */
    const size_t first = s->kind.n;
    bool any_type = false;
    double all = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (o->is_aicpu[i] || !scope_has_collective(s->x, d, i))
            continue;
        const uint32_t place = keys_add(&types, o->op_type[i], s->x->mem);
        if (place == s->kind.n - first) {
            struct kind_sum *new = list_add(&s->kind, s->x->mem);
            if (!new)
                return false;
            *new = (struct kind_sum){ .device = d->source.device, .op_type = o->op_type[i] };
        }
        if (place == KEYS_NO_MEMORY)
            return false;
        struct kind_sum *k = &s->kind.at[first + place];
        any_type |= o->op_type[i] != NAME_NA;
        k->least = k->n == 0 || o->dur_ns[i] < k->least ? o->dur_ns[i] : k->least;
        k->most = o->dur_ns[i] > k->most ? o->dur_ns[i] : k->most;
        k->total += o->dur_ns[i];
        k->n++;
        all += o->dur_ns[i];
    }
    if (!any_type || all <= 0)
        s->kind.n = first;
    for (size_t i = first; i < s->kind.n; i++)
        s->kind.at[i].all = all;
    sort_kinds(s, first);
    return true;
}

CELL_GETTER(device_id, struct comm_statistic, cell_uint(r->kind.at[i].device))
CELL_GETTER(op_type, struct comm_statistic, cell_name(r->kind.at[i].op_type))
CELL_GETTER(count, struct comm_statistic, cell_uint(r->kind.at[i].n))
CELL_GETTER(total, struct comm_statistic, cell_statistic(r->x, r->kind.at[i].total / 1000))
CELL_GETTER(least, struct comm_statistic, cell_statistic(r->x, r->kind.at[i].least / 1000))
CELL_GETTER(average, struct comm_statistic, cell_statistic(r->x, r->kind.at[i].total / (double)r->kind.at[i].n / 1000))
CELL_GETTER(most, struct comm_statistic, cell_statistic(r->x, r->kind.at[i].most / 1000))
CELL_GETTER(ratio, struct comm_statistic, cell_statistic(r->x, r->kind.at[i].total / r->kind.at[i].all * 100))

static const struct column statistic_columns[] = {
    { "Device_id", device_id }, { "OP Type", op_type },      { "Count", count },       { "Total Time(us)", total },
    { "Min Time(us)", least },  { "Avg Time(us)", average }, { "Max Time(us)", most }, { "Ratio(%)", ratio },
};

bool communication_statistic(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct comm_statistic *s = arena_take(x->mem, 1, sizeof *s);
    bool done = s != NULL;
    if (done)
        s->x = x;
    for (size_t k = 0; k < p->n_devices && !p->is_level0 && done; k++)
        done = sum_kinds(s, &p->device[k]);
    if (!done)
        return error_no_memory(e, "communication_statistic");
    if (!x->is_generic) /* the newer presentation sorts over all devices, as in op_statistic */
        sort_kinds(s, 0);
    *out = (struct table){ .name = "communication_statistic",
                           TABLE_COLUMNS(statistic_columns),
                           .n_rows = s->kind.n,
                           .rows = s,
                           .names = p->names };
    return true;
}
