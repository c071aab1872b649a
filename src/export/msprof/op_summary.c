/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <math.h>
#include <string.h>

#include "analyse/device/device_analysis.h"
#include "export/export.h"
#include "export/scope.h"
#include "raw/host_records.h"

/* Columns that are computed from the time and from ratios of other columns. */
enum derived { MEMORY_BOUND, CUBE_UTILIZATION, DERIVED };
enum { RATIO_MAC, RATIO_VECTOR, RATIO_MTE2, RATIOS };
static const size_t NO_COLUMN = SIZE_MAX;
static const char *const derived_name[DERIVED] = {
    [MEMORY_BOUND] = "memory_bound", [CUBE_UTILIZATION] = "cube_utilization(%)"
};

struct op_summary {
    const struct export *x;
    const struct profile *profile;
    struct summary_rows rows;
    size_t n_base;         /* columns that every row has */
    const struct pmu *pmu; /* of the first device with counters: its columns are shown; NULL: there are none */
    bool *has_pmu;         /* for each device: it has the same columns */
    size_t *shown;         /* columns of pmu that are not hidden */
    size_t n_shown;
    enum derived derived[DERIVED]; /* the last columns */
    size_t n_derived;
    size_t ratio[RATIOS];       /* columns of pmu, or NO_COLUMN */
    struct op_summary_row *now; /* a cache of the last row: the next request is mostly for its next column */
};

/* A row of the table with the rows of the profile that it shows. */
struct op_summary_row {
    const struct op_summary *s;
    size_t number;
    const struct summary_row *at;
    const struct device *d;
    uint32_t task, op, comm; /* of a kernel task and op, of a collective comm; the others are NO_ROW */
    uint32_t pmu;            /* NO_ROW: it has no counters */
    struct pmu_counts counts;
};

static const struct op_summary_row *row_at(const void *rows, size_t number)
{
    const struct op_summary *s = rows;
    struct op_summary_row *r = s->now;
    if (r->at && r->number == number)
        return r;
    const struct summary_row *at = &s->rows.at[number];
    *r = (struct op_summary_row){ .s = s,
                                  .number = number,
                                  .at = at,
                                  .d = summary_device(s->x, at),
                                  .task = NO_ROW,
                                  .op = NO_ROW,
                                  .comm = NO_ROW,
                                  .pmu = NO_ROW };
    if (at->is_comm) {
        r->comm = at->row;
        return r;
    }
    r->task = at->row;
    r->op = r->d->tasks.op[at->row];
    r->pmu = s->has_pmu[at->device] ? r->d->tasks.pmu[at->row] : NO_ROW;
    if (r->pmu != NO_ROW)
        pmu_counts(&r->d->pmu, r->pmu, &r->counts);
    return r;
}

static struct cell device_id(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_uint(r->d->source.device);
}

static uint32_t model_of(const struct op_summary_row *r)
{
    return r->op == NO_ROW ? r->d->comm.ops.model[r->comm] : r->s->profile->host.tasks.model[r->d->tasks.host[r->task]];
}

static struct cell model_name(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return model_name_cell(r->s->profile, model_of(r));
}

static struct cell model_id(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return r->s->profile->chip->task_log == TASK_LOG_CUDA ? cell_na() : cell_uint(model_of(r));
}

static struct cell task_id(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return r->op == NO_ROW ? cell_na() : cell_uint(r->d->tasks.task[r->task]);
}

static struct cell stream_id(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return r->op == NO_ROW ? cell_na() : cell_uint(task_stream_id(r->d, r->task));
}

/* The exported iteration that was running when the operator began. */
static struct cell infer_id(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_uint(scope_iteration_at(r->s->x, r->d, summary_begin_ns(r->s->x, r->at)));
}

static struct cell op_name(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_name(r->op == NO_ROW ? r->d->comm.ops.name[r->comm] : r->s->profile->host.ops.name[r->op]);
}

static struct cell op_type(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_name(r->op == NO_ROW ? r->d->comm.ops.op_type[r->comm] : r->s->profile->host.ops.op_type[r->op]);
}

static struct cell task_type(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return r->op == NO_ROW ? cell_text(r->s->x->options->dialect == DIALECT_DOCUMENTED ? "HCCL" : "COMMUNICATION")
                           : cell_name(r->s->profile->host.ops.task_type[r->op]);
}

static struct cell op_summary_start(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_time(summary_begin_ns(r->s->x, r->at));
}

static int64_t duration_ns(const struct op_summary_row *r)
{
    return summary_end_ns(r->s->x, r->at) - summary_begin_ns(r->s->x, r->at);
}

/* The older presentation rounds the exact duration, the newer one subtracts the times that it shows. */
static struct cell duration(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    if (!r->s->x->is_generic)
        return cell_us(duration_ns(r));
    return r->op == NO_ROW ? cell_us_short(duration_ns(r))
                           : cell_real(round_exact(r->d->tasks.dur_ns[r->task] / 1000, 3));
}

/* The time since the end of the previous operator of the device, exactly. The reference subtracts doubles of
 * microseconds since 1970, which have steps of 0.25 us. */
static struct cell wait(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    if (r->number == 0)
        return cell_uint(0);
    const struct summary_row *before = r->at - 1;
    int64_t ns = summary_begin_ns(r->s->x, r->at) - summary_end_ns(r->s->x, before);
    if (ns < 0 || before->device != r->at->device)
        ns = 0;
    return r->s->x->is_generic ? cell_us_short(ns) : cell_fixed((double)ns / 1000, 6);
}

static struct cell blocks(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return cell_uint(r->op == NO_ROW ? 0 : r->s->profile->host.ops.blocks[r->op]);
}

static struct cell mix_blocks(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    return r->op == NO_ROW ? cell_na() : cell_uint(r->s->profile->host.ops.mix_blocks[r->op]);
}

static struct cell context(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    const uint32_t id = r->op == NO_ROW ? NO_CONTEXT : r->d->tasks.context[r->task];
    return id == NO_CONTEXT ? cell_na() : cell_uint(id);
}

#define OF_OP(function, make, column)                                                                                  \
    static struct cell function(const void *rows, size_t i)                                                            \
    {                                                                                                                  \
        const struct op_summary_row *r = row_at(rows, i);                                                              \
        return r->op == NO_ROW ? cell_na() : make(r->s->profile->host.ops.column[r->op]);                              \
    }
OF_OP(state, cell_name, state)
OF_OP(hf32, cell_name, hf32)
OF_OP(input_shapes, cell_shape, shapes[TENSOR_INPUT])
OF_OP(input_types, cell_name, types[TENSOR_INPUT])
OF_OP(input_formats, cell_name, formats[TENSOR_INPUT])
OF_OP(output_shapes, cell_shape, shapes[TENSOR_OUTPUT])
OF_OP(output_types, cell_name, types[TENSOR_OUTPUT])
OF_OP(output_formats, cell_name, formats[TENSOR_OUTPUT])

#define OF_GPU_TASK(function, make, column)                                                                            \
    static struct cell function(const void *rows, size_t i)                                                            \
    {                                                                                                                  \
        const struct op_summary_row *r = row_at(rows, i);                                                              \
        return r->op == NO_ROW ? cell_na() : make(r->d->gpu.column[r->d->tasks.task[r->task]]);                        \
    }
OF_OP(gpu_grid, cell_name, grid_dim)
OF_OP(gpu_block, cell_name, block_dim)
OF_GPU_TASK(gpu_registers, cell_uint, registers)
OF_GPU_TASK(gpu_static_shared, cell_uint, static_shared)
OF_GPU_TASK(gpu_dynamic_shared, cell_uint, dynamic_shared)
OF_GPU_TASK(gpu_local, cell_uint, local)

static struct cell gpu_occupancy(const void *rows, size_t i)
{
    const struct op_summary_row *r = row_at(rows, i);
    const double percent =
        r->op == NO_ROW ? -1 : gpu_occupancy_percent(&r->d->source.gpu, &r->d->gpu, r->d->tasks.task[r->task]);
    return percent < 0 ? cell_na() : cell_fixed(percent, 2);
}

OF_GPU_TASK(gpu_context, cell_uint, context)
OF_GPU_TASK(gpu_correlation, cell_uint, correlation)
OF_GPU_TASK(gpu_graph, cell_uint, graph)
OF_GPU_TASK(gpu_graph_node, cell_uint, graph_node)

static uint32_t gpu_captured(const struct op_summary_row *r)
{
    return r->op == NO_ROW || !r->d->gpu.captured ? NO_ROW : r->d->gpu.captured[r->d->tasks.task[r->task]];
}

#define OF_CAPTURED(function, column)                                                                                  \
    static struct cell function(const void *rows, size_t i)                                                            \
    {                                                                                                                  \
        const struct op_summary_row *r = row_at(rows, i);                                                              \
        const uint32_t op = gpu_captured(r);                                                                           \
        return op == NO_ROW ? cell_na() : cell_name(r->s->profile->captured.column[op]);                               \
    }
OF_CAPTURED(captured_name, name)
OF_CAPTURED(captured_modules, modules)
OF_CAPTURED(captured_shapes, shapes)

/* clang-format off */
enum { OF_OPS = 1, OF_GRAPH = 2, OF_STARS = 4, OF_GPU = 8, OF_CAPTURES = 16 }; /* OF_STARS: chips with the newer task scheduler */
static const struct optional_column base_columns[] = {
    { "Device_id", NULL, 0, device_id },
    { "Model Name", NULL, OF_GRAPH, model_name },
    { "Model ID", NULL, 0, model_id },
    { "Task ID", NULL, 0, task_id },
    { "Stream ID", NULL, 0, stream_id },
    { "Infer ID", NULL, OF_GRAPH, infer_id },
    { "Op Name", NULL, 0, op_name },
    { "OP Type", NULL, 0, op_type },
    { "OP State", NULL, 0, state },
    { "Task Type", NULL, 0, task_type },
    { "Task Start Time(us)", NULL, 0, op_summary_start },
    { "Task Duration(us)", NULL, 0, duration },
    { "Task Wait Time(us)", NULL, 0, wait },
    { "Block Num", "Block Dim", OF_OPS, blocks },
    { "Mix Block Num", "Mix Block Dim", OF_OPS | OF_STARS, mix_blocks },
    { "HF32 Eligible", NULL, OF_OPS, hf32 },
    { "Input Shapes", NULL, OF_OPS, input_shapes },
    { "Input Data Types", NULL, OF_OPS, input_types },
    { "Input Formats", NULL, OF_OPS, input_formats },
    { "Output Shapes", NULL, OF_OPS, output_shapes },
    { "Output Data Types", NULL, OF_OPS, output_types },
    { "Output Formats", NULL, OF_OPS, output_formats },
    { "Context ID", NULL, OF_STARS, context },
    { "Grid", NULL, OF_GPU, gpu_grid },
    { "Block", NULL, OF_GPU, gpu_block },
    { "Registers Per Thread", NULL, OF_GPU, gpu_registers },
    { "Static Shared Memory(B)", NULL, OF_GPU, gpu_static_shared },
    { "Dynamic Shared Memory(B)", NULL, OF_GPU, gpu_dynamic_shared },
    { "Local Memory Per Thread(B)", NULL, OF_GPU, gpu_local },
    { "Theoretical Occupancy(%)", NULL, OF_GPU, gpu_occupancy },
    { "Context", NULL, OF_GPU, gpu_context },
    { "Correlation ID", NULL, OF_GPU, gpu_correlation },
    { "Graph ID", NULL, OF_GPU, gpu_graph },
    { "Graph Node ID", NULL, OF_GPU, gpu_graph_node },
    { "Captured Operator", NULL, OF_CAPTURES, captured_name },
    { "Captured Module", NULL, OF_CAPTURES, captured_modules },
    { "Captured Input Shapes", NULL, OF_CAPTURES, captured_shapes },
};
/* clang-format on */
enum { N_BASE = sizeof base_columns / sizeof *base_columns };

/* A value as the table shows it, rounded: derived columns are computed from that, as in the reference. */
static double shown_value(const struct op_summary_row *r, size_t column)
{
    return round_away(pmu_counts_value(&r->counts, &r->d->pmu.columns.column[column], r->s->x->is_generic), 3);
}

/* The cycles that the cube cores counted, in percent of those that all of them had in that time. */
static struct cell cube_utilization(const struct op_summary_row *r)
{
    const struct pmu *pmu = &r->d->pmu;
    const double capacity = pmu->nominal_mhz * pmu->n_cores[CORE_AIC];
    const uint64_t cycles = pmu_counts_cycles(&r->counts, CORE_AIC);
    const bool is_generic = r->s->x->is_generic;
    if (!(capacity > 0))
        return cell_na();
    const bool is_idle = cycles == 0 || !(shown_value(r, r->s->ratio[RATIO_MAC]) > 0);
    const bool is_short = is_generic || r->s->x->options->dialect == DIALECT_DOCUMENTED;
    if (duration_ns(r) == 0 || (is_short && is_idle))
        return cell_uint(0);
    /* The reference rounds this intermediate result to six decimals in the newer presentation. */
    const double work = is_generic ? (double)cycles / capacity * 100 : nearbyint((double)cycles / capacity * 1e8) / 1e6;
    const double percent = work / ((is_generic ? r->d->tasks.dur_ns[r->task] : (double)duration_ns(r)) / 1000);
    return is_short ? cell_real(round_exact(percent, 3)) : cell_fixed(percent, 3);
}

/* Above one, the core waits for memory rather than for itself. */
static struct cell memory_bound(const struct op_summary_row *r)
{
    const double mac = shown_value(r, r->s->ratio[RATIO_MAC]), vector = shown_value(r, r->s->ratio[RATIO_VECTOR]),
                 busiest = mac > vector ? mac : vector;
    if (!(busiest > 0))
        return cell_uint(0);
    return cell_real(round_exact(shown_value(r, r->s->ratio[RATIO_MTE2]) / busiest, 3));
}

/* The cell of a column behind the base columns: of a counter, or derived from counters. */
static struct cell get(const void *rows, size_t number, size_t column)
{
    const struct op_summary *s = rows;
    const struct op_summary_row *r = row_at(rows, number);
    if (r->pmu == NO_ROW)
        return cell_na();
    if (column - s->n_base >= s->n_shown) {
        const enum derived which = s->derived[column - s->n_base - s->n_shown];
        return which == MEMORY_BOUND ? memory_bound(r) : cube_utilization(r);
    }
    const struct metric_column *c = &r->d->pmu.columns.column[s->shown[column - s->n_base]];
    if (c->is_unknown)
        return cell_na();
    if (c->metric.kind == METRIC_CYCLES)
        return cell_uint(pmu_counts_cycles(&r->counts, c->core));
    return cell_round(pmu_counts_value(&r->counts, c, s->x->is_generic));
}

static bool same_columns(const struct metric_columns *a, const struct metric_columns *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = strcmp(a->column[i].name, b->column[i].name) == 0;
    return same;
}

static void find_ratios(struct op_summary *s, const char *const name[RATIOS])
{
    const struct metric_columns *c = &s->pmu->columns;
    for (size_t k = 0; k < RATIOS; k++)
        s->ratio[k] = NO_COLUMN;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < RATIOS; k++)
            if (strcmp(c->column[i].name, name[k]) == 0)
                s->ratio[k] = i;
}

static void choose_derived(struct op_summary *s)
{
    static const char *const exact[RATIOS] = { "mac_exe_ratio", "vec_exe_ratio", "mte2_exe_ratio" },
                             *const of_one[RATIOS] = { "mac_ratio", "vec_ratio", "mte2_ratio" },
                             *const of_two[RATIOS] = { "aic_mac_ratio", "", "" };
    find_ratios(s, exact);
    const bool is_exact = s->ratio[RATIO_MAC] != NO_COLUMN;
    if (!is_exact)
        find_ratios(s, s->pmu->has_one_core ? of_one : of_two);
    if (s->ratio[RATIO_MAC] != NO_COLUMN && s->ratio[RATIO_VECTOR] != NO_COLUMN && s->ratio[RATIO_MTE2] != NO_COLUMN)
        s->derived[s->n_derived++] = MEMORY_BOUND;
    if (s->ratio[RATIO_MAC] != NO_COLUMN && !is_exact)
        s->derived[s->n_derived++] = CUBE_UTILIZATION;
}

/* The devices of a collection count the same events. One with other columns than the first is shown without its
 * counters. */
static bool choose_pmu(struct op_summary *s)
{
    const struct profile *p = s->profile;
    s->has_pmu = arena_take(s->x->mem, p->n_devices, sizeof *s->has_pmu);
    if (!s->has_pmu)
        return false;
    for (size_t i = 0; i < p->n_devices; i++) {
        const struct pmu *pmu = &p->device[i].pmu;
        if (pmu->n == 0 || !s->rows.has_ops)
            continue;
        s->pmu = s->pmu ? s->pmu : pmu;
        s->has_pmu[i] = same_columns(&s->pmu->columns, &pmu->columns);
    }
    if (!s->pmu)
        return true;
    s->shown = arena_take(s->x->mem, s->pmu->columns.n, sizeof *s->shown);
    for (size_t i = 0; i < s->pmu->columns.n && s->shown; i++)
        if (!s->pmu->columns.column[i].is_hidden)
            s->shown[s->n_shown++] = i;
    choose_derived(s);
    return s->shown != NULL;
}

static const struct column *list_columns(struct op_summary *s, size_t *n)
{
    const unsigned has = (s->rows.has_ops ? OF_OPS : 0) | (s->x->scope == SCOPE_GRAPH ? OF_GRAPH : 0) |
                         (s->profile->chip->is_stars ? OF_STARS : 0) |
                         (s->profile->chip->group == ON_CUDA ? OF_GPU : 0) |
                         (s->profile->captured.n > 0 ? OF_CAPTURES : 0);
    struct column *column = arena_take(s->x->mem, N_BASE + s->n_shown + DERIVED, sizeof *column);
    if (!column)
        return NULL;
    *n = s->n_base = columns_choose(column, base_columns, N_BASE, has, s->x->options->dialect);
    for (size_t i = 0; i < s->n_shown; i++)
        column[(*n)++].name = s->pmu->columns.column[s->shown[i]].label;
    for (size_t i = 0; i < s->n_derived; i++)
        column[(*n)++].name = derived_name[s->derived[i]];
    return column;
}

bool op_summary_report(const struct export *x, struct table *out, struct error *e)
{
    struct op_summary *s = arena_take(x->mem, 1, sizeof *s);
    if (s)
        s->now = arena_take(x->mem, 1, sizeof *s->now);
    if (!s || !s->now)
        return error_no_memory(e, "op_summary");
    s->x = x;
    s->profile = x->profile;
    if (!summary_rows_build(x, &s->rows, e))
        return false;
    size_t n_columns = 0;
    const struct column *column = choose_pmu(s) ? list_columns(s, &n_columns) : NULL;
    *out = (struct table){ .name = "op_summary",
                           .column = column,
                           .n_columns = n_columns,
                           .n_rows = s->rows.n,
                           .rows = s,
                           .get = get,
                           .names = x->profile->names };
    return column != NULL || error_no_memory(e, "op_summary");
}
