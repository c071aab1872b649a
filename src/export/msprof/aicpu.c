/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include "analyse/device/tasks/device_tasks.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "export/scope.h"
#include "raw/enums.h"

/* Device tasks of kernels on the AI CPU, which are searched by stream, task and time. */
struct aicpu_kernels {
    const struct export *x;
    const struct device *d;
    name_id ai_cpu; /* the task type of operators that run there */
    size_t n;
    const uint32_t *row; /* of tasks, sorted by (stream, task, begin) */
};

static uint64_t aicpu_id_of(uint16_t stream, uint32_t task)
{
    return (uint64_t)stream << 32 | task;
}

static bool kernels_find(const struct export *x, const struct device *d, struct aicpu_kernels *out)
{
    const struct tasks *t = &d->tasks;
    const struct host_tasks *h = &x->profile->host.tasks;
    const name_id kernel = names_addz(x->profile->names, "KERNEL_AICPU");
    uint32_t *row = arena_take(x->mem, t->n, sizeof *row);
    uint64_t *id = arena_take(x->mem, t->n, sizeof *id);
    if (!row || !id)
        return false;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        id[i] = aicpu_id_of(t->stream[i], t->task[i]);
        if (t->host[i] != NO_ROW && h->type[t->host[i]] == kernel)
            row[n++] = i;
    }
    *out = (struct aicpu_kernels){ x, d, names_addz(x->profile->names, "AI_CPU"), n, row };
    return order_by_u64(row, n, t->begin_tick) && order_by_u64(row, n, id);
}

/* For the search: true for tasks with a smaller id, and for those of this id that began at `tick` or before. */
static bool began_until(const struct tasks *t, uint32_t row, uint64_t id, uint64_t tick)
{
    const uint64_t here = aicpu_id_of(t->stream[row], t->task[row]);
    return here < id || (here == id && t->begin_tick[row] <= tick);
}

/* The operator of the task during which a kernel of this stream and task id ended; NAME_NA: none, or not exported. */
static name_id operator_at(const struct aicpu_kernels *k, struct stream_task id, uint64_t end_tick)
{
    const struct tasks *t = &k->d->tasks;
    const struct ops *ops = &k->x->profile->host.ops;
    const uint64_t wanted = aicpu_id_of(id.stream, id.task);
    const size_t later = SEARCH_FIRST_NOT(i, 0, k->n, began_until(t, k->row[i], wanted, end_tick));
    if (later == 0)
        return NAME_NA;
    const uint32_t row = k->row[later - 1], op = t->op[row];
    if (aicpu_id_of(t->stream[row], t->task[row]) != wanted || t->end_tick[row] < end_tick || op == NO_ROW ||
        ops->task_type[op] != k->ai_cpu)
        return NAME_NA;
    const bool is_wanted = scope_has_task(k->x, t, row) && scope_task_host(k->x, t, row) != NO_ROW;
    return is_wanted ? ops->name[op] : NAME_NA;
}

static bool is_shown(const struct export *x, size_t device, size_t i)
{
    const struct device *d = &x->profile->device[device];
    const uint64_t begin = d->log.aicpu.run_begin[i], end = d->log.aicpu.run_end[i];
    if (begin == 0 || end == 0)
        return false;
    const int64_t begin_ns = source_device_ns(&d->source, begin);
    if (begin_ns < d->source.begin_ns)
        return false;
    const struct window *w = x->window ? &x->window[device] : NULL;
    return !w || (w->has_any && begin_ns >= w->shown_ns && source_device_ns(&d->source, end) <= w->end_ns);
}

/* The time between two ticks in µs, rounded to three decimals. */
static struct cell ticks_cell(const struct source *s, uint64_t from, uint64_t to)
{
    const struct ticks t = s->device_clock.tick;
    const double us = (double)(int64_t)(to - from) * 1e6 / (1e9 * (double)t.den / (double)t.num);
    return cell_real(round_exact(us, 3));
}

static const struct column aicpu_column[] = {
    { "Device_id", NULL },         { "Timestamp(us)", NULL },   { "Node", NULL },
    { "Compute_time(us)", NULL },  { "Memcpy_time(us)", NULL }, { "Task_time(us)", NULL },
    { "Dispatch_time(us)", NULL }, { "Total_time(us)", NULL },  { "Stream ID", NULL },
    { "Task ID", NULL },
};
enum { AICPU_COLUMNS = sizeof aicpu_column / sizeof *aicpu_column };

static bool add_kernels(const struct export *x, size_t device, struct grid *g)
{
    const struct device *d = &x->profile->device[device];
    const struct device_log *log = &d->log;
    struct aicpu_kernels kernels;
    uint32_t *order = arena_take(x->mem, log->aicpu.n, sizeof *order);
    if (!order || !kernels_find(x, d, &kernels))
        return false;
    order_fill(order, log->aicpu.n);
    if (!order_by_u64(order, log->aicpu.n, log->aicpu.run_begin))
        return false;
    for (size_t k = 0; k < log->aicpu.n; k++) {
        const uint32_t i = order[k];
        if (!is_shown(x, device, i))
            continue;
        const struct stream_task id = stream_task_unpack(log->aicpu.stream[i], log->aicpu.task[i], SQE_AI_CPU,
                                                         x->profile->host.records.streams_expanded);
        const struct cell cell[AICPU_COLUMNS] = {
            cell_uint(d->source.device),
            cell_time(source_device_ns(&d->source, log->aicpu.run_begin[i])),
            cell_name(operator_at(&kernels, id, log->aicpu.run_end[i])),
            cell_real((double)(int64_t)(log->aicpu.memcpy_us[i] - log->aicpu.compute_us[i])),
            cell_real((double)(int64_t)(log->aicpu.memcpy_end_us[i] - log->aicpu.memcpy_us[i])),
            ticks_cell(&d->source, log->aicpu.run_begin[i], log->aicpu.run_end[i]),
            cell_real((double)log->aicpu.dispatch_us[i]),
            ticks_cell(&d->source, log->aicpu.submit[i], log->aicpu.after_run[i]),
            cell_uint(id.stream),
            cell_uint(id.task),
        };
        grid_row(g, cell);
    }
    return true;
}

bool aicpu_report(const struct export *x, struct table *out, struct error *e)
{
    struct grid g = { .n_columns = AICPU_COLUMNS, .mem = x->mem };
    for (size_t d = 0; d < x->profile->n_devices; d++)
        if (x->profile->device[d].log.aicpu.n > 0 && !add_kernels(x, d, &g))
            return error_no_memory(e, "aicpu");
    *out = grid_table(&g, "aicpu", aicpu_column, x->profile->names);
    return true;
}

/* Events of the data queue have times of the host's monotonic clock in ns, not of the device's counter. */
bool data_queue_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL }, { "Timestamp(us)", NULL },      { "Action", NULL },
        { "Source", NULL },    { "Cached Buffer Size", NULL },
    };
    (void)e;
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct source *s = &x->profile->device[d].source;
        const struct device_log *log = &x->profile->device[d].log;
        for (size_t i = 0; i < log->dp.n; i++)
            grid_row(&g, (struct cell[]){ cell_uint(s->device),
                                          cell_time_bare(wrap_add((int64_t)log->dp.time[i], s->wall_offset_ns)),
                                          cell_name(log->dp.action[i]), cell_name(log->dp.source[i]),
                                          cell_uint(log->dp.size[i]) });
    }
    *out = grid_table(&g, "dp", column, x->profile->names);
    return true;
}

enum { NODE_GET_NEXT = 1 };

/* Times are µs of the device's own clock, whose offset to the host's is unknown. */
bool queue_wait_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },    { "Node Name", NULL },  { "Start Time(us)", NULL },
        { "End Time(us)", NULL }, { "Queue Size", NULL },
    };
    (void)e;
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct device_log *log = &x->profile->device[d].log;
        for (size_t i = 0; i < log->mi.n; i++)
            grid_row(&g, (struct cell[]){ cell_uint(x->profile->device[d].source.device),
                                          cell_text(log->mi.node[i] == NODE_GET_NEXT ? "GetNext_dequeue_wait" : ""),
                                          cell_real((double)log->mi.begin_us[i]), cell_real((double)log->mi.end_us[i]),
                                          cell_uint(log->mi.queue[i]) });
    }
    *out = grid_table(&g, "aicpu_mi", column, x->profile->names);
    return true;
}
