/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "raw/sampler.h"

static const char *const kind_name[CORES] = { "AIC", "AIV" };

/* A sample at the time of the one before it has no utilisation. */
static bool core_keeps(const struct samples *s, size_t row)
{
    return samples_uint(s, CORE_RATE_GAP, row) != 0;
}

/* Utilisation is cycles by the frequency of the cores, which a damaged info.json may not have. */
static bool has_frequency(const struct counter_view *v)
{
    return v->device->source.aic_mhz > 0;
}

/* The reference lets the first sample of a core cover 1 ns (SAMPLE_PMU_TIMELINE). */
static struct cell value_usage(const struct counter_view *v, size_t row, unsigned column)
{
    const uint64_t gap = samples_uint(v->s, column, row);
    const double ns = gap == CORE_NO_GAP ? 1 : (double)gap;
    if (!has_frequency(v))
        return cell_na();
    return cell_real(samples_real(v->s, CORE_CYCLES, row) * 1000 / (v->device->source.aic_mhz * ns) * 100);
}

static struct cell value_mhz(const struct counter_view *v, size_t row, unsigned column)
{
    (void)row, (void)column;
    return cell_real(v->device->source.aic_mhz);
}

static struct cell value_kind(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_text(kind_name[samples_uint(v->s, column, row)]);
}

/* clang-format off */
#define OF_CORES { { SAMPLER_CORE, SAMPLER_VECTOR_CORE }, 2, .of_rates = true, .keeps = core_keeps }
static const struct counter_value core_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "totalCycle", value_uint, CORE_CYCLES, "INTEGER" },
    { "usage", value_usage, CORE_RATE_GAP, "NUMERIC" },
    { "freq", value_mhz, 0, "NUMERIC" },
    { "coreId", value_uint, CORE_ID, "INTEGER" },
    { "coreType", value_kind, CORE_RATE_KIND, "INTEGER" },
};
const struct family_table core_tables[] = { { "SAMPLE_PMU_TIMELINE", OF_CORES, core_column, COUNT_OF(core_column) } };
const size_t n_core_tables = COUNT_OF(core_tables);
/* clang-format on */

/* The samples of the cube cores, core by core, in the order in which the cores appear. */
enum { MOST_CORES = 256 };
struct by_core {
    size_t n_cores;
    uint8_t core[MOST_CORES];
    size_t first[MOST_CORES], n[MOST_CORES]; /* the range of each core in `row` */
    uint32_t *row;                           /* rows of the samples */
};

static bool group_cores(const struct export *x, const struct counter_view *v, struct by_core *g)
{
    size_t place[MOST_CORES], n = 0;
    *g = (struct by_core){ .row = arena_take(x->mem, v->s->n, sizeof *g->row) };
    size_t count[MOST_CORES] = { 0 };
    for (size_t row = 0; row < v->s->n; row++) {
        const uint8_t core = (uint8_t)samples_uint(v->s, CORE_ID, row);
        if (samples_uint(v->s, CORE_RATE_KIND, row) != CORE_AIC || !core_keeps(v->s, row))
            continue;
        if (count[core]++ == 0) {
            place[core] = g->n_cores;
            g->core[g->n_cores++] = core;
        }
    }
    for (size_t c = 0; c < g->n_cores; n += count[g->core[c++]])
        g->first[c] = n;
    for (size_t row = 0; row < v->s->n && g->row; row++) {
        const uint8_t core = (uint8_t)samples_uint(v->s, CORE_ID, row);
        if (samples_uint(v->s, CORE_RATE_KIND, row) != CORE_AIC || !core_keeps(v->s, row))
            continue;
        const size_t c = place[core];
        g->row[g->first[c] + g->n[c]++] = (uint32_t)row;
    }
    return g->row != NULL;
}

/* In percent. The reference lets the first sample of a core cover a second here. */
static double utilization(const struct counter_view *v, size_t row)
{
    const uint64_t gap = samples_uint(v->s, CORE_RATE_GAP, row);
    const double seconds = gap == CORE_NO_GAP ? 1 : (double)gap / 1e9;
    return samples_real(v->s, CORE_CYCLES, row) * 100 / (v->device->source.aic_mhz * 1e6 * seconds);
}

static void draw_utilization(const struct counter_view *v, struct trace *t, uint32_t pid, const char *name,
                             int64_t at_ns, double percent)
{
    char text[64];
    if (at_ns < v->device->source.begin_ns || !trace_wants(t, at_ns, at_ns))
        return;
    snprintf(text, sizeof text, "%.6f", percent);
    trace_counter(t, name, pid, 0, at_ns);
    trace_arg_text(t, "Utilization(%)", text);
    trace_end(t);
}

/* A counter for each core, and the mean over all cores of their n-th samples, at the time of the last core's sample. */
static void draw_cores(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    struct by_core g;
    if (!has_frequency(v) || !group_cores(x, v, &g) || g.n_cores == 0)
        return;
    for (size_t c = 0; c < g.n_cores; c++) {
        char name[32];
        snprintf(name, sizeof name, "Core %u", g.core[c]);
        for (size_t i = 0; i < g.n[c]; i++) {
            const size_t row = g.row[g.first[c] + i];
            draw_utilization(v, t, pid, name, v->s->at_ns[row], utilization(v, row));
        }
    }
    for (size_t i = 0; i < g.n[0]; i++) {
        double sum = 0;
        int64_t at_ns = 0;
        for (size_t c = 0; c < g.n_cores; c++)
            if (i < g.n[c]) {
                const size_t row = g.row[g.first[c] + i];
                sum += round_exact(utilization(v, row), 6);
                at_ns = v->s->at_ns[row];
            }
        draw_utilization(v, t, pid, "Average", at_ns, sum / (double)g.n_cores);
    }
}

const struct counter_process core_process = {
    .name = "AI Core Utilization",
    .only_generic = true,
    .source = { { SAMPLER_CORE }, 1, .of_rates = true },
    .draw = draw_cores,
};

/* Metrics without a column: the total time, and what the chip cannot count. */
static bool is_hidden(const struct chip *chip, const char *metric)
{
    if (strcmp(metric, "total_time(ms)") == 0)
        return true;
    if (strncmp(metric, "l2_", 3) == 0 && strstr(metric, "_bw"))
        return !chip->counts_l2_bw;
    return strstr(metric, "_bw_mte") && !chip->counts_mte_bw;
}

/* Metrics whose columns are N/A: the chip lists them, but cannot count them. */
static bool is_unknown(const struct chip *chip, const char *metric)
{
    static const char *const of_vector[] = { "vec_ratio",           "ub_read_bw(GB/s)",         "ub_write_bw(GB/s)",
                                             "l0c_write_bw(GB/s)",  "l2_write_bw(GB/s)",        "vec_fp32_ratio",
                                             "vec_fp16_ratio",      "vec_int32_ratio",          "vec_misc_ratio",
                                             "vec_bank_cflt_ratio", "vec_bankgroup_cflt_ratio", "vec_resc_cflt_ratio" };
    for (size_t i = 0; chip->counts_no_vector && i < COUNT_OF(of_vector); i++)
        if (strcmp(metric, of_vector[i]) == 0)
            return true;
    return false;
}

/* The columns of the report that show metrics, and those from which memory_bound is computed. */
enum { MOST_METRICS = 16 };
struct core_columns {
    size_t n, metric[MOST_METRICS];
    const char *name[MOST_METRICS];
    bool is_unknown[MOST_METRICS];
    size_t mac, vec, mte2; /* columns; n: there is no such column */
};

static struct core_columns core_columns(const struct core_metrics *m, const struct chip *chip)
{
    struct core_columns c = { 0 };
    for (size_t i = 0; i < m->n_metrics && c.n < MOST_METRICS; i++)
        if (!is_hidden(chip, m->metric[i])) {
            c.name[c.n] = m->metric[i];
            c.is_unknown[c.n] = is_unknown(chip, m->metric[i]);
            c.metric[c.n++] = i;
        }
    c.mac = c.vec = c.mte2 = c.n;
    for (size_t i = 0; i < c.n; i++) {
        const struct {
            const char *name, *exe;
            size_t *at;
        } part[] = { { "mac_ratio", "mac_exe_ratio", &c.mac },
                     { "vec_ratio", "vec_exe_ratio", &c.vec },
                     { "mte2_ratio", "mte2_exe_ratio", &c.mte2 } };
        for (size_t k = 0; k < COUNT_OF(part); k++)
            if (strcmp(c.name[i], part[k].name) == 0 || strcmp(c.name[i], part[k].exe) == 0)
                *part[k].at = i;
    }
    return c;
}

static bool has_bound(const struct core_columns *c)
{
    return c->mac < c->n && c->vec < c->n && c->mte2 < c->n;
}

/* Above one, the core waits for memory rather than for itself. */
static struct cell bound_cell(const struct core_columns *c, const double *value)
{
    const double mac = value[c->mac], vec = value[c->vec], mte2 = value[c->mte2], most = mac > vec ? mac : vec;
    if (isnan(mac + vec + mte2))
        return cell_na();
    return cell_real(most > 0 ? round_exact(mte2 / most, 3) : 0);
}

/* `value` has one number for each column; NAN: the device did not count it. */
static void add_core_row(struct grid *g, const struct core_columns *c, unsigned device, const char *core,
                         const double *value)
{
    struct cell cell[MOST_METRICS + 3] = { cell_uint(device), cell_text(core) };
    for (size_t i = 0; i < c->n; i++)
        cell[2 + i] = c->is_unknown[i] || isnan(value[i]) ? cell_na() : cell_real(value[i]);
    if (has_bound(c))
        cell[2 + c->n] = bound_cell(c, value);
    grid_row(g, cell);
}

/* A column of one core; NAN: this device counted something else than the first one. */
static double core_value(const struct core_metrics *m, size_t core, const struct core_columns *c, size_t column)
{
    const size_t i = c->metric[column];
    const bool is_counted = i < m->n_metrics && strcmp(m->metric[i], c->name[column]) == 0;
    return is_counted ? round_exact(m->value[core * m->n_metrics + i], 3) : NAN;
}

static bool build_core_report(const struct export *x, enum core kind, struct table *out, struct error *e)
{
    struct grid g = { .mem = x->mem };
    struct core_columns c = { 0 };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct core_metrics *m = &d->counters.core[kind];
        double value[MOST_METRICS], sum[MOST_METRICS] = { 0 };
        if (m->n_cores == 0)
            continue;
        if (g.n_columns == 0) { /* devices of a collection count the same; the columns are those of the first one */
            c = core_columns(m, d->source.chip);
            g.n_columns = 2 + c.n + has_bound(&c);
        }
        for (size_t row = 0; row < m->n_cores; row++) {
            for (size_t k = 0; k < c.n; k++) {
                value[k] = core_value(m, row, &c, k);
                sum[k] += value[k];
            }
            const char *core = arena_printf(x->mem, "Core%u", m->core[row]);
            add_core_row(&g, &c, d->source.device, core ? core : "", value);
        }
        for (size_t k = 0; k < c.n; k++)
            sum[k] = round_exact(sum[k] / (double)m->n_cores, 3);
        add_core_row(&g, &c, d->source.device, "Average", sum);
    }
    if (g.n_columns == 0)
        return true;
    struct column *column = arena_take(x->mem, g.n_columns, sizeof *column);
    if (!column)
        return error_no_memory(e, x->profile->path);
    column[0].name = "Device_id";
    column[1].name = "Core ID";
    for (size_t k = 0; k < c.n; k++)
        column[2 + k].name = c.name[k];
    if (has_bound(&c))
        column[2 + c.n].name = "memory_bound";
    *out = grid_table(&g, "core_utilization", column, x->profile->names);
    return true;
}

bool core_report(const struct export *x, struct table *out, struct error *e)
{
    return build_core_report(x, CORE_AIC, out, e);
}

bool vector_core_report(const struct export *x, struct table *out, struct error *e)
{
    return build_core_report(x, CORE_AIV, out, e);
}

/* The name of a metric in the database, without its unit, and the factor to the database's units: ns and bytes/s. */
static struct cell metric_cell(const struct export *x, const char *metric, double *scale)
{
    static const struct {
        const char *unit;
        double scale;
    } unit[] = { { "(ms)", 1e6 }, { "(GB/s)", 1073741824.0 } };
    size_t len = strlen(metric);
    *scale = 1;
    for (size_t k = 0; k < COUNT_OF(unit); k++) {
        const size_t unit_len = strlen(unit[k].unit);
        if (len > unit_len && strcmp(metric + len - unit_len, unit[k].unit) == 0) {
            len -= unit_len;
            *scale = unit[k].scale;
        }
    }
    return cell_name(names_add(x->profile->names, metric, len));
}

bool core_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = { { "deviceId", "INTEGER", NULL },
                                               { "metric", "INTEGER", NULL },
                                               { "value", "NUMERIC", NULL },
                                               { "coreId", "INTEGER", NULL },
                                               { "coreType", "INTEGER", NULL } };
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++)
        for (unsigned kind = 0; kind < CORES; kind++) {
            const struct core_metrics *m = &x->profile->device[i].counters.core[kind];
            for (size_t k = 0; k < m->n_cores * m->n_metrics; k++) {
                double scale;
                const struct cell name = metric_cell(x, m->metric[k % m->n_metrics], &scale);
                grid_row(&g, (struct cell[]){ cell_uint(x->profile->device[i].source.device), name,
                                              cell_real(m->value[k] * scale), cell_uint(m->core[k / m->n_metrics]),
                                              cell_text(kind_name[kind]) });
            }
        }
    if (arena_failed(x->mem))
        return error_no_memory(e, x->profile->path);
    const struct db_table t = { .name = "SAMPLE_PMU_SUMMARY",
                                .column = column,
                                .n_columns = COUNT_OF(column),
                                .n_rows = g.cells.n / COUNT_OF(column),
                                .grid = g.cells.at };
    return db_table(db, &t, e);
}
