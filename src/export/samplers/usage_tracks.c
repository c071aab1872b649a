/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"

/* The rows that are shown, without those from before the collection began. If `cpu` is not NULL, rows with the average
 * over all CPUs are left out, too. In x->mem; NULL: no memory. */
static uint32_t *rows_inside(const struct export *x, const int64_t *begin_ns, const uint32_t *cpu, size_t n,
                             size_t *out)
{
    uint32_t *row = arena_take(x->mem, n, sizeof *row);
    *out = 0;
    for (size_t i = 0; row && i < n; i++)
        if (begin_ns[i] >= x->profile->host.source.begin_ns && (!cpu || cpu[i] != CPU_AVERAGE))
            row[(*out)++] = (uint32_t)i;
    return row;
}

/* ---- gauges in the timeline ---- */

static const struct {
    const char *process; /* also the name of its counters, except for CPUs */
    unsigned sort_index;
} gauge_tracks[GAUGES] = {
    [GAUGE_CPU] = { "CPU Usage", 9 },
    [GAUGE_MEMORY] = { "Memory Usage", 10 },
    [GAUGE_NETWORK] = { "Network Usage", 11 },
    [GAUGE_DISK] = { "Disk Usage", 12 },
};

static const char *cpu_name(uint32_t cpu, char name[24])
{
    if (cpu == CPU_AVERAGE)
        snprintf(name, 24, "CPU Avg");
    else
        snprintf(name, 24, "CPU %u", cpu);
    return name;
}

/* The older presentation names a thread for each CPU, although all counters are on thread 0. The average counts as
 * another CPU 0 in the order of the names, before or after the real one, depending on which was sampled first. */
static bool name_cpus(const struct export *x, const struct gauge *g, struct trace *t, uint32_t pid)
{
    uint32_t *row = arena_take(x->mem, g->n, sizeof *row);
    struct tallies cpu;
    if (!row)
        return false;
    order_fill(row, g->n);
    if (!tally_up(&cpu, row, g->n, g->cpu, NULL, NULL, x->mem) || cpu.n == 0)
        return false;
    size_t first = 0; /* the loader adds averages to every gauge of CPUs, so that this ends; CPU_AVERAGE sorts last */
    while (g->cpu[first] != 0 && g->cpu[first] != CPU_AVERAGE)
        first++;
    const bool zero_first = cpu.at[0].a == 0 && g->cpu[first] == 0;
    char name[24];
    const size_t place = zero_first ? 1 : 0; /* of the average */
    for (size_t i = 0; i < cpu.n; i++) {
        const size_t at = i < place ? i : i == place ? cpu.n - 1 : i - 1;
        trace_thread(t, pid, (int64_t)i, cpu_name(cpu.at[at].a, name), (int64_t)i);
    }
    return true;
}

static bool gauge_track(const struct export *x, struct trace *t, enum gauge_kind kind, struct error *e)
{
    const struct source *s = &x->profile->host.source;
    const struct gauge *g = &x->profile->host.usage.gauge[kind];
    const uint32_t pid = trace_pid(s->pid, gauge_tracks[kind].sort_index, TRACE_HOST);
    char name[24];
    size_t n;
    const uint32_t *row = rows_inside(x, g->begin_ns, NULL, g->n, &n);
    if (!row)
        return error_no_memory(e, x->profile->path);
    if (n == 0)
        return true;
    trace_process(t, pid, gauge_tracks[kind].process, "CPU", gauge_tracks[kind].sort_index);
    if (kind == GAUGE_CPU && x->is_generic && !name_cpus(x, g, t, pid))
        return error_no_memory(e, x->profile->path);
    const bool is_short = kind == GAUGE_MEMORY && x->is_generic;
    for (size_t i = 0; i < n; i++) {
        const int64_t begin_ns = g->begin_ns[row[i]];
        const double percent = g->percent[row[i]];
        if (!trace_wants(t, begin_ns, begin_ns))
            continue;
        trace_counter(t, kind == GAUGE_CPU ? cpu_name(g->cpu[row[i]], name) : gauge_tracks[kind].process, pid, 0,
                      begin_ns);
        trace_arg_real(t, "Usage(%)", is_short ? round_exact(percent, 3) : percent);
        trace_end(t);
    }
    return true;
}

bool cpu_usage_track(const struct export *x, struct trace *t, struct error *e)
{
    return gauge_track(x, t, GAUGE_CPU, e);
}

bool memory_usage_track(const struct export *x, struct trace *t, struct error *e)
{
    return gauge_track(x, t, GAUGE_MEMORY, e);
}

bool network_usage_track(const struct export *x, struct trace *t, struct error *e)
{
    return gauge_track(x, t, GAUGE_NETWORK, e);
}

bool disk_usage_track(const struct export *x, struct trace *t, struct error *e)
{
    return gauge_track(x, t, GAUGE_DISK, e);
}

/* ---- OS calls in the timeline ---- */

/* Sorts calls by begin, of equal ones the longer first: an outer call comes before those inside it. System calls and
 * pthread calls come from two files. */
static bool usage_tracks_by_begin(uint32_t *row, size_t n, const struct os_calls *c, struct arena *mem)
{
    uint64_t *key = arena_take(mem, c->n, sizeof *key);
    for (size_t i = 0; key && i < c->n; i++)
        key[i] = ~(uint64_t)c->dur_ns[i];
    if (!key || !order_by_u64(row, n, key))
        return false;
    for (size_t i = 0; i < c->n; i++)
        key[i] = (uint64_t)c->begin_ns[i];
    return order_by_u64(row, n, key);
}

bool os_runtime_track(const struct export *x, struct trace *t, struct error *e)
{
    enum { SORT_INDEX = 13 };
    const struct source *s = &x->profile->host.source;
    const struct os_calls *c = &x->profile->host.usage.calls;
    const uint32_t pid = trace_pid(s->pid, SORT_INDEX, TRACE_HOST);
    size_t n;
    uint32_t *row = rows_inside(x, c->begin_ns, NULL, c->n, &n);
    struct tallies threads;
    /* Sorted by thread and begin: two tools have written the calls, one after the other. */
    if (!row || !order_by_u64(row, n, (const uint64_t *)c->begin_ns) ||
        !tally_up(&threads, row, n, c->thread, NULL, NULL, x->mem))
        return error_no_memory(e, x->profile->path);
    if (threads.n > 0)
        trace_process(t, pid, "OS Runtime API", "CPU", SORT_INDEX);
    for (size_t i = 0; i < threads.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "Thread %u", threads.at[i].a);
        if (x->is_generic)
            trace_thread(t, pid, threads.at[i].a, name, threads.at[i].a);
        else
            trace_thread_name(t, pid, threads.at[i].a, name);
    }
    if (!usage_tracks_by_begin(row, n, c, x->mem))
        return error_no_memory(e, x->profile->path);
    for (size_t k = 0; k < n; k++) {
        const uint32_t i = row[k];
        if (!trace_wants(t, c->begin_ns[i], c->begin_ns[i] + (int64_t)c->dur_ns[i]))
            continue;
        trace_slice_name(t, c->name[i], pid, c->thread[i], c->begin_ns[i], (double)c->dur_ns[i]);
        trace_end_without_args(t, x->is_generic);
    }
    return true;
}

/* ---- both in the database ---- */

CELL_GETTER(gauge_begin, struct gauge, cell_int(r->begin_ns[i]))
CELL_GETTER(gauge_cpu, struct gauge, cell_uint(r->cpu[i]))
CELL_GETTER(gauge_percent, struct gauge, cell_real(r->percent[i]))
CELL_GETTER(gauge_speed, struct gauge, cell_real(r->speed[0][i] * 1024)) /* in bytes/s */
CELL_GETTER(gauge_write_speed, struct gauge, cell_real(r->speed[1][i] * 1024))

static const struct {
    const char *table;
    size_t n;
    struct db_column column[4];
} gauge_dbs[GAUGES] = {
    [GAUGE_CPU] = { "CPU_USAGE",
                    3,
                    { { "timestampNs", "NUMERIC", gauge_begin },
                      { "cpuId", "NUMERIC", gauge_cpu },
                      { "usage", "NUMERIC", gauge_percent } } },
    [GAUGE_MEMORY] = { "HOST_MEM_USAGE",
                       2,
                       { { "timestampNs", "NUMERIC", gauge_begin }, { "usage", "NUMERIC", gauge_percent } } },
    [GAUGE_NETWORK] = { "HOST_NETWORK_USAGE",
                        3,
                        { { "timestampNs", "NUMERIC", gauge_begin },
                          { "usage", "NUMERIC", gauge_percent },
                          { "speed", "NUMERIC", gauge_speed } } },
    [GAUGE_DISK] = { "HOST_DISK_USAGE",
                     4,
                     { { "timestampNs", "NUMERIC", gauge_begin },
                       { "readRate", "NUMERIC", gauge_speed },
                       { "writeRate", "NUMERIC", gauge_write_speed },
                       { "usage", "NUMERIC", gauge_percent } } },
};

CELL_GETTER(call_name, struct host, cell_name(r->usage.calls.name[i]))
CELL_GETTER(call_tid, struct host, cell_uint((uint64_t)r->source.pid << 32 | r->usage.calls.thread[i]))
CELL_GETTER(call_begin, struct host, cell_int(r->usage.calls.begin_ns[i]))
CELL_GETTER(call_end, struct host, cell_int(r->usage.calls.begin_ns[i] + (int64_t)r->usage.calls.dur_ns[i]))

static const struct db_column call_columns[] = {
    { "name", "NUMERIC", call_name },
    { "globalTid", "NUMERIC", call_tid },
    { "startNs", "NUMERIC", call_begin },
    { "endNs", "NUMERIC", call_end },
};

bool usage_db(const struct export *x, struct db *db, struct error *e)
{
    const struct usage *usage = &x->profile->host.usage;
    for (size_t k = 0; k < GAUGES; k++) {
        const struct gauge *g = &usage->gauge[k];
        struct db_table t = {
            .name = gauge_dbs[k].table, .column = gauge_dbs[k].column, .n_columns = gauge_dbs[k].n, .rows = g
        };
        t.shown = rows_inside(x, g->begin_ns, g->cpu, g->n, &t.n_rows);
        if (!t.shown)
            return error_no_memory(e, x->profile->path);
        if (!db_table(db, &t, e))
            return false;
    }
    struct db_table t = { .name = "OSRT_API", TABLE_COLUMNS(call_columns), .rows = &x->profile->host };
    t.shown = rows_inside(x, usage->calls.begin_ns, NULL, usage->calls.n, &t.n_rows);
    return t.shown ? db_table(db, &t, e) : error_no_memory(e, x->profile->path);
}
