/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "export/samplers/sampler_outputs.h"
#include "raw/cpu_events.h"

/* ---- what the CPUs of a device counted, by event ---- */

static const struct column event_columns[] = {
    { .name = "Device_id" },
    { .name = "Event" },
    { .name = "Name" },
    { .name = "Count" },
};

/* By count, the greatest first; of equal ones by the text of the event, descending, as in the reference. */
static int by_count(const void *a, const void *b)
{
    const struct host_tally *x = a, *y = b;
    char text[2][16];
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    snprintf(text[0], sizeof text[0], "%" PRIx32, x->a);
    snprintf(text[1], sizeof text[1], "%" PRIx32, y->a);
    return strcmp(text[1], text[0]);
}

static bool fill_events(const struct usage_part *p)
{
    const struct cpu_samples *c = &p->usage->samples[p->cpu];
    uint32_t *row = arena_take(p->grid->mem, c->n, sizeof *row);
    struct tallies t;
    if (!row)
        return false;
    order_fill(row, c->n);
    if (!tally_up(&t, row, c->n, c->event, NULL, c->count, p->grid->mem))
        return false;
    if (t.n > 0)
        qsort(t.at, t.n, sizeof *t.at, by_count);
    for (size_t i = 0; i < t.n; i++) {
        const char *number = arena_printf(p->grid->mem, "0x%" PRIx32, t.at[i].a),
                   *name = enum_text(&cpu_events, t.at[i].a);
        if (!number)
            return false;
        grid_row(p->grid, (struct cell[]){ usage_source(p), cell_text(number), name ? cell_text(name) : cell_na(),
                                           cell_uint(t.at[i].sum) });
    }
    return true;
}

/* ---- the functions that took most of their cycles ---- */

static const struct column function_columns[] = {
    { .name = "Device_id" }, { .name = "Function" },  { .name = "Module" },
    { .name = "Cycles" },    { .name = "Cycles(%)" },
};

/* The scheduler's firmware is a single module; its five most expensive functions are shown. */
static const struct column ts_function_columns[] = {
    { .name = "Device_id" },
    { .name = "Function" },
    { .name = "Cycles" },
    { .name = "Cycles(%)" },
};
enum { TS_FUNCTIONS = 5 };

static int by_cycles(const void *a, const void *b, void *names)
{
    const struct host_tally *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    const int order = names_compare(names, x->a, y->a);
    return order ? order : names_compare(names, x->b, y->b);
}

static bool fill_functions(const struct usage_part *p)
{
    const struct cpu_samples *c = &p->usage->samples[p->cpu];
    const bool is_ts = p->cpu == SAMPLED_TS;
    uint32_t *row = arena_take(p->grid->mem, c->n, sizeof *row);
    struct tallies t;
    size_t n = 0;
    double total = 0;
    if (!row)
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (c->event[i] == CPU_EVENT_CYCLES && c->count[i] > 0)
            row[n++] = (uint32_t)i;
    if (!tally_up(&t, row, n, c->function, c->module, c->count, p->grid->mem))
        return false;
    for (size_t i = 0; i < t.n; i++)
        total += (double)t.at[i].sum;
    if (t.n > 0)
        qsort_r(t.at, t.n, sizeof *t.at, by_cycles, p->names);
    for (size_t i = 0; i < t.n && (!is_ts || i < TS_FUNCTIONS); i++) {
        const struct cell cycles = cell_uint(t.at[i].sum),
                          share = cell_real(round_exact((double)t.at[i].sum * 100 / total, 3));
        const struct cell with_module[] = { usage_source(p), cell_name(t.at[i].a), cell_name(t.at[i].b), cycles,
                                            share };
        const struct cell without[] = { usage_source(p), cell_name(t.at[i].a), cycles, share };
        grid_row(p->grid, is_ts ? without : with_module);
    }
    return true;
}

/* ---- units that code and decode pictures and video ---- */

static const struct column dvpp_columns[] = {
    { .name = "Device_id" },    { .name = "Dvpp Id" },   { .name = "Engine Type" },        { .name = "Engine ID" },
    { .name = "All Time(us)" }, { .name = "All Frame" }, { .name = "All Utilization(%)" },
};

static bool fill_dvpp(const struct usage_part *p)
{
    static const char *const type[] = { "VDEC", "JPEGD", "PNGD", "JPEGE", "VPC", "VENC", "SCD" };
    for (size_t i = 0; i < p->usage->dvpp.n; i++) {
        const struct dvpp_unit *d = &p->usage->dvpp.at[i];
        grid_row(p->grid, (struct cell[]){ usage_source(p), cell_uint(d->dvpp),
                                           d->type < sizeof type / sizeof *type ? cell_text(type[d->type]) : cell_na(),
                                           cell_uint(d->unit), cell_real(d->busy_us), cell_real(d->frames),
                                           cell_name(d->percent) });
    }
    return true;
}

/* ---- all of them ---- */

#define REPORT(columns, filler, cpu)                                                                                   \
    (&(const struct usage_report){ (columns), sizeof(columns) / sizeof *(columns), (filler), (cpu) })

bool ai_cpu_events_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(event_columns, fill_events, SAMPLED_AI), out, e);
}

bool ai_cpu_functions_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(function_columns, fill_functions, SAMPLED_AI), out, e);
}

bool ctrl_cpu_events_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(event_columns, fill_events, SAMPLED_CTRL), out, e);
}

bool ctrl_cpu_functions_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(function_columns, fill_functions, SAMPLED_CTRL), out, e);
}

bool ts_cpu_events_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(event_columns, fill_events, SAMPLED_TS), out, e);
}

bool ts_cpu_functions_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(ts_function_columns, fill_functions, SAMPLED_TS), out, e);
}

bool dvpp_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(dvpp_columns, fill_dvpp, SAMPLED_CPUS), out, e);
}
