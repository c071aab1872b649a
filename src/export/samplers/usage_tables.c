/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "export/samplers/sampler_outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"

struct cell usage_source(const struct usage_part *p)
{
    return p->source->is_host ? cell_text("host") : cell_uint(p->source->device);
}

bool usage_table(const struct export *x, const struct usage_report *r, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct grid g = { .n_columns = r->n_columns, .mem = x->mem };
    struct usage_part part = { .grid = &g, .names = p->names, .cpu = r->cpu };
    bool done = true;
    for (size_t i = 0; i <= p->n_devices && done; i++) {
        const bool is_host = i == p->n_devices;
        part.source = is_host ? &p->host.source : &p->device[i].source;
        part.usage = is_host ? &p->host.usage : &p->device[i].usage;
        done = (is_host && !profile_has_host(p)) || r->fill(&part);
    }
    if (!done)
        return error_no_memory(e, p->path);
    *out = grid_table(&g, NULL, r->column, p->names);
    return true;
}

/* ---- the host's gauges, in one row each ---- */

/* The greatest value, and the recommended capacity: the 98th percentile of the values above 0, divided by a load of
 * 0.8. */
static bool peak_and_need(const double *value, size_t n, struct arena *mem, double *peak, double *need)
{
    double *positive = arena_take(mem, n, sizeof *positive);
    size_t n_positive = 0;
    *peak = *need = 0;
    if (!positive)
        return false;
    for (size_t i = 0; i < n; i++) {
        *peak = value[i] > *peak ? value[i] : *peak;
        if (value[i] > 0)
            positive[n_positive++] = value[i];
    }
    if (n_positive == 0)
        return true;
    qsort(positive, n_positive, sizeof *positive, compare_doubles);
    *need = positive[(size_t)ceil((double)(n_positive - 1) * 0.98)] / 0.8;
    return true;
}

/* Peak and recommendation as two cells; N/A without samples. */
static bool peak_cells(const double *value, size_t n, struct arena *mem, struct cell out[2])
{
    double peak, need;
    if (!peak_and_need(value, n, mem, &peak, &need))
        return false;
    out[0] = n > 0 ? cell_real(peak) : cell_na();
    out[1] = n > 0 ? cell_real(need) : cell_na();
    return true;
}

static const struct column host_cpu_columns[] = {
    { .name = "Device_id" },
    { .name = "Total Cpu Numbers" },
    { .name = "Occupied Cpu Numbers" },
    { .name = "Recommend Cpu Numbers" },
};

static bool host_cpu_fill(const struct usage_part *p)
{
    const struct gauge *cpu = &p->usage->gauge[GAUGE_CPU];
    if (!cpu->is_sampled)
        return true;
    uint32_t *row = arena_take(p->grid->mem, cpu->n, sizeof *row);
    uint64_t *is_busy = arena_take(p->grid->mem, cpu->n, sizeof *is_busy);
    struct tallies seen;
    size_t n = 0, n_busy = 0;
    if (!row || !is_busy)
        return false;
    for (size_t i = 0; i < cpu->n; i++) {
        is_busy[i] = cpu->percent[i] > 0;
        if (cpu->cpu[i] != CPU_AVERAGE)
            row[n++] = (uint32_t)i;
    }
    if (!tally_up(&seen, row, n, cpu->cpu, NULL, is_busy, p->grid->mem))
        return false;
    for (size_t i = 0; i < seen.n; i++)
        n_busy += seen.at[i].sum > 0;
    grid_row(p->grid, (struct cell[]){ usage_source(p), cell_int(p->source->settings.n_cpus), cell_uint(seen.n),
                                       cell_uint(n_busy) });
    return true;
}

static const struct column host_mem_columns[] = {
    { .name = "Device_id" },
    { .name = "Total Memory(KB)" },
    { .name = "Peak Used Memory(KB)" },
    { .name = "Recommend Memory(KB)" },
};

static bool host_mem_fill(const struct usage_part *p)
{
    const struct gauge *mem = &p->usage->gauge[GAUGE_MEMORY];
    const int64_t total_kb = p->source->settings.memory_kb;
    double percent[2];
    if (mem->n == 0)
        return true;
    if (!peak_and_need(mem->percent, mem->n, p->grid->mem, &percent[0], &percent[1]))
        return false;
    struct cell cells[] = { usage_source(p), cell_int(total_kb), cell_na(), cell_na() };
    for (size_t i = 0; i < 2; i++)
        cells[2 + i] = cell_real(round_exact(percent[i] * (double)total_kb / 100, 3));
    grid_row(p->grid, cells);
    return true;
}

static const struct column host_network_columns[] = {
    { .name = "Device_id" },
    { .name = "Netcard Speed(KB/s)" },
    { .name = "Peak Used Speed(KB/s)" },
    { .name = "Recommend Speed(KB/s)" },
};

static bool host_network_fill(const struct usage_part *p)
{
    const struct gauge *net = &p->usage->gauge[GAUGE_NETWORK];
    const struct settings *t = &p->source->settings;
    struct cell cells[4] = { usage_source(p), cell_int(0) };
    if (!net->is_sampled)
        return true;
    for (size_t i = 0; i < t->n_cards; i++) {
        const double before = cells[1].kind == CELL_REAL ? cells[1].f : 0;
        if (t->card[i].mbits > 0)
            cells[1] = cell_real(before + t->card[i].mbits * 125000 / 1024);
    }
    if (!peak_cells(net->speed[0], net->n, p->grid->mem, &cells[2]))
        return false;
    grid_row(p->grid, cells);
    return true;
}

static const struct column host_disk_columns[] = {
    { .name = "Device_id" },
    { .name = "Peak Disk Read(KB/s)" },
    { .name = "Recommend Disk Read(KB/s)" },
    { .name = "Peak Disk Write(KB/s)" },
    { .name = "Recommend Disk Write(KB/s)" },
};

static bool host_disk_fill(const struct usage_part *p)
{
    const struct gauge *disk = &p->usage->gauge[GAUGE_DISK];
    struct cell cells[5] = { usage_source(p) };
    if (!disk->is_sampled)
        return true;
    if (!peak_cells(disk->speed[0], disk->n, p->grid->mem, &cells[1]) ||
        !peak_cells(disk->speed[1], disk->n, p->grid->mem, &cells[3]))
        return false;
    grid_row(p->grid, cells);
    return true;
}

/* ---- OS calls by name and thread ---- */

static const struct column os_runtime_columns[] = {
    { .name = "Device_id" }, { .name = "Process ID" }, { .name = "Thread ID" }, { .name = "Name" },
    { .name = "Time(%)" },   { .name = "Time(us)" },   { .name = "Count" },     { .name = "Avg(us)" },
    { .name = "Max(us)" },   { .name = "Min(us)" },
};

static int usage_tables_by_time(const void *a, const void *b, void *names)
{
    const struct host_tally *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    const int order = names_compare(names, x->a, y->a);
    return order ? order : (x->b > y->b) - (x->b < y->b);
}

static bool os_runtime_fill(const struct usage_part *p)
{
    const struct os_calls *c = &p->usage->calls;
    uint32_t *row = arena_take(p->grid->mem, c->n, sizeof *row);
    struct tallies t;
    double total = 0;
    if (!row)
        return false;
    order_fill(row, c->n);
    if (!tally_up(&t, row, c->n, c->name, c->thread, c->dur_ns, p->grid->mem))
        return false;
    if (t.n > 0)
        qsort_r(t.at, t.n, sizeof *t.at, usage_tables_by_time, p->names);
    for (size_t i = 0; i < t.n; i++)
        total += (double)t.at[i].sum;
    for (size_t i = 0; i < t.n; i++) {
        const struct host_tally *k = &t.at[i];
        const double sum = (double)k->sum;
        grid_row(p->grid, (struct cell[]){ usage_source(p), cell_uint(p->source->pid), cell_uint(k->b), cell_name(k->a),
                                           cell_real(total > 0 ? sum / total : 0), cell_real(sum / 1000),
                                           cell_uint(k->n), cell_real(sum / (double)k->n / 1000),
                                           cell_real((double)k->most / 1000), cell_real((double)k->least / 1000) });
    }
    return true;
}

/* ---- the machine and its processes ---- */

static const struct column cpu_usage_columns[] = {
    { .name = "Device_id" }, { .name = "Cpu Type" }, { .name = "User(%)" }, { .name = "Sys(%)" },
    { .name = "IoWait(%)" }, { .name = "Irq(%)" },   { .name = "Soft(%)" }, { .name = "Idle(%)" },
};

static bool cpu_usage_fill(const struct usage_part *p)
{
    static const char *const name[CPU_KINDS] = { [CPU_AI] = "aicpu", [CPU_CTRL] = "ctrlcpu", [CPU_HOST] = "host" };
    static const enum cpu_time shown[] = { TIME_USER, TIME_SYS, TIME_IOWAIT, TIME_IRQ, TIME_SOFT, TIME_IDLE };
    for (size_t k = 0; k < CPU_KINDS; k++) {
        const double *ticks = p->usage->ticks[k].of;
        struct cell cells[8] = { usage_source(p), cell_text(name[k]) };
        double total = 0;
        for (size_t i = 0; i < CPU_TIMES; i++)
            total += ticks[i];
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            cells[2 + i] = cell_real(total > 0 ? round_exact(ticks[shown[i]] / total * 100, 3) : 0);
        if (p->usage->ticks[k].is_sampled)
            grid_row(p->grid, cells);
    }
    return true;
}

static const struct column sys_mem_columns[] = {
    { .name = "Device_id" },
    { .name = "Memory Total(kB)" },
    { .name = "Memory Free(kB)" },
    { .name = "Buffers(kB)" },
    { .name = "Cached(kB)" },
    { .name = "Share Memory(kB)" },
    { .name = "Commit Limit(kB)" },
    { .name = "Committed AS(kB)" },
    { .name = "Huge Pages Total(pages)" },
    { .name = "Huge Pages Free(pages)" },
};

static bool sys_mem_fill(const struct usage_part *p)
{
    const struct mem_lines *m = &p->usage->memory;
    struct cell cells[1 + MEM_LINES] = { usage_source(p) };
    if (m->n == 0)
        return true;
    for (size_t i = 0; i < MEM_LINES; i++)
        cells[1 + i] = m->n_with[i] > 0 ? cell_uint(m->sum[i] / m->n) : cell_na();
    grid_row(p->grid, cells);
    return true;
}

/* Processes sorted by what they use, the greatest first; of equal ones the higher pid first, as in the reference. */
struct usage_tables_process_row {
    const struct process_use *use;
    double weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct usage_tables_process_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->use->pid < y->use->pid) - (x->use->pid > y->use->pid);
}

static double cpu_percent(const struct process_use *p)
{
    return 100 * p->cpu_share / (double)p->n;
}

static double all_pages(const struct process_use *p)
{
    double sum = 0;
    for (size_t i = 0; i < PAGES; i++)
        sum += (double)(p->pages[i] / p->n);
    return sum;
}

static struct usage_tables_process_row *rank(const struct process_uses *p,
                                             double (*weight)(const struct process_use *p), struct arena *mem)
{
    struct usage_tables_process_row *row = arena_take(mem, p->n, sizeof *row);
    for (size_t i = 0; row && i < p->n; i++)
        row[i] = (struct usage_tables_process_row){ &p->at[i], weight(&p->at[i]) };
    if (row && p->n > 0)
        qsort(row, p->n, sizeof *row, by_weight);
    return row;
}

static const struct column process_cpu_columns[] = {
    { .name = "Device_id" },
    { .name = "PID" },
    { .name = "Name" },
    { .name = "CPU(%)" },
};

static bool process_cpu_fill(const struct usage_part *p)
{
    const struct usage_tables_process_row *row = rank(&p->usage->process[PROCESS_CPU], cpu_percent, p->grid->mem);
    for (size_t i = 0; row && i < p->usage->process[PROCESS_CPU].n; i++)
        grid_row(p->grid, (struct cell[]){ usage_source(p), cell_uint(row[i].use->pid), cell_name(row[i].use->name),
                                           cell_real(round_exact(row[i].weight, 3)) });
    return row != NULL;
}

static const struct column process_mem_columns[] = {
    { .name = "Device_id" },       { .name = "PID" },           { .name = "Name" }, { .name = "Size(pages)" },
    { .name = "Resident(pages)" }, { .name = "Shared(pages)" },
};

static bool process_mem_fill(const struct usage_part *p)
{
    const struct usage_tables_process_row *row = rank(&p->usage->process[PROCESS_MEMORY], all_pages, p->grid->mem);
    for (size_t i = 0; row && i < p->usage->process[PROCESS_MEMORY].n; i++) {
        const struct process_use *use = row[i].use;
        struct cell cells[3 + PAGES] = { usage_source(p), cell_uint(use->pid), cell_name(use->name) };
        for (size_t k = 0; k < PAGES; k++)
            cells[3 + k] = cell_uint(use->pages[k] / use->n);
        grid_row(p->grid, cells);
    }
    return row != NULL;
}

/* ---- all of them ---- */

#define REPORT(columns, filler)                                                                                        \
    (&(const struct usage_report){ (columns), sizeof(columns) / sizeof *(columns), (filler), SAMPLED_CPUS })

bool host_cpu_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(host_cpu_columns, host_cpu_fill), out, e);
}

bool host_mem_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(host_mem_columns, host_mem_fill), out, e);
}

bool host_network_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(host_network_columns, host_network_fill), out, e);
}

bool host_disk_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(host_disk_columns, host_disk_fill), out, e);
}

bool os_runtime_statistic_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(os_runtime_columns, os_runtime_fill), out, e);
}

bool cpu_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(cpu_usage_columns, cpu_usage_fill), out, e);
}

bool process_cpu_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(process_cpu_columns, process_cpu_fill), out, e);
}

bool sys_mem_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(sys_mem_columns, sys_mem_fill), out, e);
}

bool process_mem_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(process_mem_columns, process_mem_fill), out, e);
}
