/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <string.h>

#include "base/memory/sort.h"
#include "export/event_args.h"
#include "raw/ccu_records.h"
#include "raw/enums.h"

static uint64_t instr_get(const uint8_t *instr, unsigned field)
{
    return layout_get(&ccu_instr_layout, field, instr);
}

static uint64_t loop_ticks(const uint8_t *instr)
{
    const uint64_t begin = instr_get(instr, CCU_LOOP_BEGIN), end = instr_get(instr, CCU_LOOP_END);
    return end > begin ? end - begin : 0;
}

/* Seconds times a million, whose last digit the report shows. */
static double ticks_us(const struct device *d, uint64_t ticks)
{
    const struct ticks tick = d->source.device_clock.tick;
    return (double)ticks / (1e9 * (double)tick.den / (double)tick.num) * 1e6;
}

static const struct column mission_column[] = {
    { "Device_id", NULL },
    { "Stream ID", NULL },
    { "Task Id", NULL },
    { "Instruction ID", NULL },
    { "Instruction Start Time(us)", NULL },
    { "Instruction Duration(us)", NULL },
    { "Notify Instruction ID", NULL },
    { "Notify Rank ID", NULL },
    { "Notify Duration(us)", NULL },
};

/* A record with a wait has a row for each rank. */
bool ccu_mission_report(const struct export *x, struct table *out, struct error *e)
{
    struct grid g = { .n_columns = COUNT_OF(mission_column), .mem = x->mem };
    (void)e;
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        for (size_t i = 0; i < d->ccu.instr.n; i++) {
            const uint8_t *instr = d->ccu.instr.at[i];
            const bool is_wait = instr_get(instr, CCU_WAIT_BEGIN) != 0;
            for (unsigned rank = is_wait ? CCU_RANKS : 1; rank-- > 0;)
                grid_row(&g, (struct cell[]){ cell_uint(d->source.device), cell_uint(d->ccu.stream[i]),
                                              cell_uint(instr_get(instr, CCU_TASK)),
                                              cell_uint(instr_get(instr, CCU_LOOP_INSTR)),
                                              cell_time(source_device_ns(&d->source, instr_get(instr, CCU_LOOP_BEGIN))),
                                              cell_real_tab(ticks_us(d, loop_ticks(instr))),
                                              cell_uint(instr_get(instr, CCU_WAIT_INSTR)), cell_uint(rank),
                                              cell_real_tab(is_wait ? ticks_us(d, ccu_delay(instr, rank)) : 0) });
        }
    }
    *out = grid_table(&g, "ccu_mission", mission_column, x->profile->names);
    return true;
}

static const struct column channel_column[] = {
    { "Device_id", NULL },           { "Channel Id", NULL },          { "Timestamp(us)", NULL },
    { "Max Bandwidth(MB/s)", NULL }, { "Min Bandwidth(MB/s)", NULL }, { "Avg Bandwidth(MB/s)", NULL },
};

/* A channel moves 4096 bytes with each delay. */
static struct cell channel_mbs(const struct device *d, const uint8_t *channel, unsigned field)
{
    enum { BYTES = 4096 };
    const double us = ticks_us(d, layout_get(&ccu_channel_layout, field, channel));
    return us > 0 ? cell_real(round_exact(BYTES / us * 1e6 / 1048576, 3)) : cell_uint(0);
}

bool ccu_channel_report(const struct export *x, struct table *out, struct error *e)
{
    struct grid g = { .n_columns = COUNT_OF(channel_column), .mem = x->mem };
    (void)e;
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        for (unsigned die = 0; die < CCU_DIES; die++)
            for (size_t i = 0; i < d->ccu.stat[die].n; i++)
                for (unsigned c = 0; c < CCU_CHANNELS; c++) {
                    const uint8_t *channel = d->ccu.stat[die].at[i] + ccu_channel_at(c);
                    const uint64_t tick = layout_get(&ccu_channel_layout, CCU_STAT_TIME, channel);
                    if (tick != 0)
                        grid_row(&g, (struct cell[]){ cell_uint(d->source.device), cell_uint(c),
                                                      cell_time(source_device_ns(&d->source, tick)),
                                                      channel_mbs(d, channel, CCU_STAT_MIN),
                                                      channel_mbs(d, channel, CCU_STAT_MAX),
                                                      channel_mbs(d, channel, CCU_STAT_AVG) });
                }
    }
    *out = grid_table(&g, "ccu_channel", channel_column, x->profile->names);
    return true;
}

/* An event with its place in time. */
struct ccu_event {
    uint64_t begin, ticks;
    struct event_args args;
};

static struct cell enum_cell(const struct enum_table *table, uint64_t value)
{
    const char *text = enum_text(table, (uint32_t)value);
    return text ? cell_text(text) : cell_uint(value);
}

static void loop_args(const struct device *d, const uint8_t *plan, struct ccu_event *ev)
{
    enum { REDUCE_RESERVED = 255 };
    const struct layout *l = &ccu_group_layout;
    const uint64_t size = layout_get(l, CCU_GROUP_SIZE, plan), reduce = layout_get(l, CCU_GROUP_REDUCE, plan);
    const double us = ticks_to_ns_exact(d->source.device_clock.tick, ev->ticks) / 1000;
    struct event_args *a = &ev->args;
    event_arg(a, "Die Id", cell_uint(layout_get(l, CCU_PLAN_DIE, plan)));
    event_arg(a, "Data Size", cell_uint(size));
    if (us > 0 && a->of_db)
        event_arg(a, "Bandwidth (B/s)", cell_real((double)size / us * 1e6));
    else if (us > 0)
        event_arg(a, "Bandwidth (MB/s)", cell_real((double)size / us * 1e6 / 1048576));
    if (reduce == REDUCE_RESERVED)
        return;
    event_arg(a, "Reduce Op Type", enum_cell(&reduce_ops, reduce));
    event_arg(a, "Input Data Type", enum_cell(&hccl_data_types, layout_get(l, CCU_GROUP_INPUT, plan)));
    event_arg(a, "Output Data Type", enum_cell(&hccl_data_types, layout_get(l, CCU_GROUP_OUTPUT, plan)));
}

static struct ccu_event event_of(const struct device *d, size_t k, bool of_db)
{
    const struct ccu_events *all = &d->ccu.events;
    const uint8_t *instr = d->ccu.instr.at[all->instr[k]], *plan = all->plan[k];
    struct ccu_event ev = { .args = { .of_db = of_db } };
    struct event_args *a = &ev.args;
    event_arg(a, "Physic Stream Id", cell_uint(d->ccu.stream[all->instr[k]]));
    event_arg(a, "Task Id", cell_uint(instr_get(instr, CCU_TASK)));
    if (!all->is_wait[k]) {
        ev.begin = instr_get(instr, CCU_LOOP_BEGIN);
        ev.ticks = loop_ticks(instr);
        event_arg(a, "Instruction ID", cell_uint(instr_get(instr, CCU_LOOP_INSTR)));
        if (plan)
            loop_args(d, plan, &ev);
        return ev;
    }
    ev.begin = instr_get(instr, CCU_WAIT_BEGIN);
    ev.ticks = ccu_delay(instr, all->rank[k]);
    event_arg(a, "Notify Instruction ID", cell_uint(instr_get(instr, CCU_WAIT_INSTR)));
    event_arg(a, "Notify Rank ID", cell_uint(all->rank[k]));
    if (!plan)
        return ev;
    event_arg(a, "Die Id", cell_uint(layout_get(&ccu_signal_layout, CCU_PLAN_DIE, plan)));
    event_arg(a, "Mask", cell_uint(layout_get(&ccu_signal_layout, CCU_SIGNAL_MASK, plan)));
    if (all->slow_channel[k] >= 0) {
        event_arg(a, "Maximum Delay Channel", cell_uint((uint64_t)all->slow_channel[k]));
        event_arg(a, "Maximum Channel Delay", cell_uint(all->channel_ticks[k]));
    }
    return ev;
}

static const char *event_name(const struct device *d, size_t k)
{
    return d->ccu.events.is_wait[k] ? "Wait" : "LoopGroup";
}

static bool ccu_is_there(const struct device *d)
{
    return d->ccu.events.n > 0;
}

static void draw_ccu(const struct export *x, const struct device *d, struct trace *t, uint32_t pid)
{
    static const char thread[] = "Communication";
    if (x->is_generic)
        trace_thread_name(t, pid, 0, thread);
    else
        trace_thread(t, pid, 0, thread, 0);
    for (size_t k = 0; k < d->ccu.events.n; k++) {
        const struct ccu_event ev = event_of(d, k, false);
        const int64_t begin_ns = source_device_ns(&d->source, ev.begin);
        const double dur_ns = ticks_to_ns_exact(d->source.device_clock.tick, ev.ticks);
        if (!trace_wants(t, begin_ns, stamp_add(begin_ns, (int64_t)dur_ns)))
            continue;
        trace_slice(t, event_name(d, k), strlen(event_name(d, k)), pid, 0, begin_ns, dur_ns);
        event_args_draw(&ev.args, t);
        trace_end(t);
    }
}

const struct counter_process ccu_process = {
    .name = "CCU", .sort = 30, .needs_all = true, .is_there = ccu_is_there, .draw_device = draw_ccu
};

/* The number of the task; unlike the reference's it is that of TASK. */
static struct cell task_cell(const struct device *d, size_t k)
{
    const struct tasks *t = &d->tasks;
    const uint32_t instr = d->ccu.events.instr[k];
    const uint64_t key = task_key(d->ccu.stream[instr], 0, (uint32_t)instr_get(d->ccu.instr.at[instr], CCU_TASK));
    const size_t at = order_first_u64(t->by_id, t->n, t->key, key);
    return at < t->n && t->key[t->by_id[at]] == key ? cell_uint(t->global_id[t->by_id[at]]) : cell_int(-1);
}

bool ccu_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "deviceId", "NUMERIC", NULL }, { "globalTaskId", "NUMERIC", NULL }, { "name", "NUMERIC", NULL },
        { "startNs", "NUMERIC", NULL },  { "endNs", "NUMERIC", NULL },        { "args", "NUMERIC", NULL },
    };
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    struct out text;
    if (!out_open_memory(&text, e))
        return false;
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        for (size_t k = 0; k < d->ccu.events.n; k++) {
            const struct ccu_event ev = event_of(d, k, true);
            grid_row(&g, (struct cell[]){ cell_uint(d->source.device), task_cell(d, k), cell_text(event_name(d, k)),
                                          cell_int(source_device_ns(&d->source, ev.begin)),
                                          cell_int(source_device_ns(&d->source, ev.begin + ev.ticks)),
                                          event_args_cell(&ev.args, x, &text) });
        }
    }
    out_discard(&text);
    const struct db_table t = { .name = "CCU",
                                .column = column,
                                .n_columns = COUNT_OF(column),
                                .n_rows = g.cells.n / COUNT_OF(column),
                                .grid = g.cells.at };
    return arena_failed(x->mem) ? error_no_memory(e, "CCU") : db_table(db, &t, e);
}
