/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <math.h>
#include <string.h>

#include "base/memory/keys.h"
#include "export/msprof/prof_outputs.h"
#include "export/scope.h"
#include "pipeline/collection_write.h"
#include "pipeline/registry.h"

struct counting {
    struct view_input *in;
    const char *run;
    struct table summary;
    size_t name, type, duration; /* indices of columns of `summary` */
    size_t first_metric;         /* index of the first column of counters; all after it are counters, too */
    const char **metric;         /* their names, as the input keeps them */
    size_t n_metrics;
    struct keys kernels; /* name and type; each has n_metrics rows of the input's, from first_row on */
    size_t first_row;
    struct arena *mem;
};

static bool has_counters(const struct profile *p)
{
    bool has = false;
    for (size_t i = 0; i < p->n_devices; i++)
        has = has || p->device[i].pmu.n > 0;
    return has;
}

/* Finds the columns of op_summary. Counters are the last ones, and have no getters. False: no memory. */
static bool columns_find(struct counting *c)
{
    const struct table *t = &c->summary;
    for (size_t i = 0; i < t->n_columns && t->column[i].get; i++) {
        const char *name = t->column[i].name;
        if (strcmp(name, "Op Name") == 0)
            c->name = i;
        else if (strcmp(name, "Task Type") == 0)
            c->type = i;
        else if (strcmp(name, "Task Duration(us)") == 0)
            c->duration = i;
        c->first_metric = i + 1;
    }
    c->n_metrics = t->n_columns - c->first_metric;
    c->metric = arena_take(c->mem, c->n_metrics, sizeof *c->metric);
    for (size_t i = 0; c->metric && i < c->n_metrics; i++) {
        const char *name = t->column[c->first_metric + i].name;
        c->metric[i] = arena_text(c->in->mem, name, strlen(name));
    }
    return c->metric && !arena_failed(c->in->mem);
}

/* The number that a cell shows. False: it shows none. */
static bool cell_number(struct cell c, double *out)
{
    switch (c.kind) {
    case CELL_UINT: *out = (double)c.u; break;
    case CELL_US:
    case CELL_US_SHORT: *out = (double)c.i / 1000; break;
    case CELL_ROUND: *out = round_away(c.f, c.digits); break;
    case CELL_FIXED: *out = round_exact(c.f, c.digits); break;
    case CELL_REAL: *out = c.f; break;
    default: return false;
    }
    return isfinite(*out);
}

static const char *name_keep(const struct counting *c, name_id name)
{
    return arena_text(c->in->mem, names_text(c->summary.names, name), names_len(c->summary.names, name));
}

/* The entries of a kernel, one for each metric, which are added if needed. NULL: no memory. */
static struct view_kernel_counter *kernel_rows(struct counting *c, size_t row)
{
    const name_id name = table_cell(&c->summary, row, c->name).name;
    const struct cell type_cell = table_cell(&c->summary, row, c->type);
    const name_id type = type_cell.kind == CELL_NAME ? type_cell.name : NAME_EMPTY;
    const size_t n = c->kernels.key.n;
    const uint32_t place = keys_add(&c->kernels, (uint64_t)name << 32 | type, c->mem);
    if (place == KEYS_NO_MEMORY)
        return NULL;
    if (place == n) {
        const char *kept_name = name_keep(c, name), *kept_type = name_keep(c, type);
        for (size_t i = 0; i < c->n_metrics; i++) {
            struct view_kernel_counter *new = list_add(&c->in->kernel_counters, c->in->mem);
            if (!kept_name || !kept_type || !new)
                return NULL;
            *new = (struct view_kernel_counter){ c->run, kept_name, kept_type, c->metric[i], .most = -INFINITY };
        }
    }
    return &c->in->kernel_counters.at[c->first_row + place * c->n_metrics];
}

/* Adds a row of the summary. `mean` is the sum of values weighted by duration until means_find() divides it. */
static bool row_add(struct counting *c, size_t row)
{
    struct view_kernel_counter *to = NULL;
    double us, value;
    for (size_t i = 0; i < c->n_metrics; i++) {
        if (!cell_number(table_cell(&c->summary, row, c->first_metric + i), &value))
            continue;
        if (!to && !(to = kernel_rows(c, row)))
            return false;
        if (!cell_number(table_cell(&c->summary, row, c->duration), &us))
            us = 0;
        to[i].count++;
        to[i].total_us += us;
        to[i].mean += value * us;
        to[i].most = fmax(to[i].most, value);
    }
    return true;
}

static void means_find(struct counting *c)
{
    struct view_kernel_counter *at = c->in->kernel_counters.at;
    size_t n = c->first_row;
    for (size_t i = n; i < c->in->kernel_counters.n; i++)
        if (at[i].count > 0) {
            at[n] = at[i];
            at[n].mean = at[n].total_us > 0 ? at[n].mean / at[n].total_us : NAN;
            n++;
        }
    c->in->kernel_counters.n = n;
}

static bool count(struct counting *c, const struct recording *l, const struct output_options *options, struct error *e)
{
    struct export x =
        l->collection
            ? collection_export_of(l->collection, options, c->mem).device
            : (struct export){ .profile = l->profile, .registry = &prof_registry, .options = options, .mem = c->mem };
    if ((!l->collection && !scope_resolve(&x, e)) || !op_summary_report(&x, &c->summary, e))
        return false;
    bool done = columns_find(c);
    for (size_t row = 0; done && c->n_metrics > 0 && row < c->summary.n_rows; row++)
        done = row_add(c, row);
    means_find(c);
    return done || error_no_memory(e, l->profile->path);
}

bool view_kernel_counters_load(struct view_input *in, const struct recording *l, const struct output_options *options,
                               const char *run, struct error *e)
{
    struct counting c = { .in = in, .run = run, .first_row = in->kernel_counters.n };
    if (!has_counters(l->profile))
        return true;
    c.mem = arena_new();
    const bool done = c.mem ? count(&c, l, options, e) : error_no_memory(e, in->path);
    arena_free(c.mem);
    return done;
}
