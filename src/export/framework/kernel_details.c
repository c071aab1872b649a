/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "export/msprof/prof_outputs.h"

/* Columns of op_summary that have another name here, or are among the few columns at Level0. There the documented
 * release has neither shapes nor the device. */
static const struct {
    const char *in_summary, *name; /* NULL: the same */
    bool is_in_level0, is_in_seed_level0;
} known[] = {
    { "Device_id", NULL, true, false },
    { "Op Name", "Name", true, true },
    { "OP Type", "Type", true, true },
    { "Task Type", "Accelerator Core", true, true },
    { "Task Start Time(us)", "Start Time(us)", true, true },
    { "Task Duration(us)", "Duration(us)", true, true },
    { "Task Wait Time(us)", "Wait Time(us)", true, true },
    { "Block Num", NULL, true, false },
    { "Block Dim", NULL, false, true },
    { "Input Shapes", NULL, true, false },
    { "Input Data Types", NULL, true, false },
    { "Input Formats", NULL, true, false },
    { "Output Shapes", NULL, true, false },
    { "Output Data Types", NULL, true, false },
    { "Output Formats", NULL, true, false },
};
enum { N_KNOWN = sizeof known / sizeof *known };
static const char device_column[] = "Device_id", name_column[] = "Op Name", start_column[] = "Task Start Time(us)";

/* Columns that MindSpore leaves out at Level0. */
static const char *const not_in_ms_level0[] = { "Mix Block Dim",     "HF32 Eligible",  "Input Shapes",
                                                "Input Data Types",  "Input Formats",  "Output Shapes",
                                                "Output Data Types", "Output Formats", "Context ID" };

struct kernel_details {
    struct table summary;
    const size_t *column; /* the column of summary for each column of this table but the step */
    size_t start;         /* the column of summary with the begin of a row */
    const struct profiler_steps *steps;
    struct step_index index; /* empty: there is no column for steps */
    size_t name;             /* the column of summary with the name of a row */
    const uint32_t *kernel;  /* row of kernels of each row; NO_ROW: no range launched it. NULL: ranges are not shown */
    const name_id *launched; /* "range/kernel" of each row that a range launched */
    const struct collection *collection;
};

/* The step of a row: that of the range that launched it if the range is in one, else that in which the kernel began. */
static uint32_t step_of(const struct kernel_details *d, size_t row)
{
    const struct collection *s = d->collection;
    const uint32_t launched_in = d->kernel && d->kernel[row] != NO_ROW
                                     ? step_index_at(&d->index, s->framework.ops.begin_ns[s->links.op[d->kernel[row]]])
                                     : NO_ROW;
    return launched_in != NO_ROW ? launched_in : step_index_at(&d->index, table_cell(&d->summary, row, d->start).i);
}

static struct cell step_id(const void *rows, size_t row)
{
    const struct kernel_details *d = rows;
    const uint32_t step = step_of(d, row);
    return cell_name(step == NO_ROW ? NAME_EMPTY : d->steps->id[step]);
}

/* The cell of a column of op_summary; kernels of a range have its name in front. */
static struct cell get(const void *rows, size_t row, size_t column)
{
    const struct kernel_details *d = rows;
    if (d->kernel && d->kernel[row] != NO_ROW && d->column[column] == d->name)
        return cell_name(d->launched[row]);
    return table_cell(&d->summary, row, d->column[column]);
}

static bool is_shown_by_ms(const struct collection_export *x, const char *name)
{
    bool is_shown = strcmp(name, device_column) != 0;
    for (size_t i = 0; i < sizeof not_in_ms_level0 / sizeof *not_in_ms_level0 && is_shown; i++)
        is_shown = x->collection->settings.level != PROFILER_LEVEL0 || strcmp(name, not_in_ms_level0[i]) != 0;
    return is_shown;
}

/* Whether a column of op_summary is shown. *at: its position in known[], or N_KNOWN. */
static bool is_shown(const struct collection_export *x, const char *name, size_t *at)
{
    const bool is_documented = x->device.options->dialect == DIALECT_DOCUMENTED,
               is_level0 = x->collection->settings.level == PROFILER_LEVEL0;
    *at = 0;
    while (*at < N_KNOWN && strcmp(known[*at].in_summary, name) != 0)
        ++*at;
    if (x->collection->framework_id == FRAMEWORK_MINDSPORE)
        return is_shown_by_ms(x, name);
    if (is_documented && strcmp(name, device_column) == 0) /* tables of one device do not name it */
        return x->collection->profile.n_devices > 1;
    if (!is_level0)
        return true;
    return *at < N_KNOWN && (is_documented ? known[*at].is_in_seed_level0 : known[*at].is_in_level0);
}

/* Finds the kernel of each row that a range launched, by name and begin. False: no memory. */
static bool find_kernels(struct kernel_details *d, const struct collection *s, struct arena *mem)
{
    const struct kernels *k = &s->kernels;
    uint32_t *order = arena_take(mem, k->n, sizeof *order), *found = arena_take(mem, d->summary.n_rows, sizeof *found);
    uint64_t *key = arena_take(mem, k->n, sizeof *key);
    size_t n = 0;
    if (!order || !found || !key)
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        key[i] = (uint64_t)k->begin_ns[i];
        if (s->links.op[i] != NO_ROW)
            order[n++] = i;
    }
    if (!order_by_u32(order, n, k->name) || !order_by_u64(order, n, key))
        return false;
    for (size_t row = 0; row < d->summary.n_rows; row++) {
        const uint64_t begin = (uint64_t)table_cell(&d->summary, row, d->start).i;
        const struct cell name = table_cell(&d->summary, row, d->name);
        found[row] = NO_ROW;
        if (name.kind != CELL_NAME)
            continue;
        const size_t at = SEARCH_FIRST_NOT(
            i, 0, n, key[order[i]] < begin || (key[order[i]] == begin && k->name[order[i]] < name.name));
        if (at < n && key[order[at]] == begin && k->name[order[at]] == name.name)
            found[row] = order[at];
    }
    d->kernel = found;
    return true;
}

/* Makes "range/kernel" for each row; each pair of names once, because pairs repeat. False: no memory. */
static bool name_launched(struct kernel_details *d, const struct collection *s, struct arena *mem)
{
    const struct kernels *k = &s->kernels;
    struct names *names = s->profile.names;
    name_id *of_row = arena_take(mem, d->summary.n_rows, sizeof *of_row);
    struct keys pairs = { 0 };
    LIST(name_id) name = { 0 };
    struct arena *spare = arena_new();
    bool done = of_row && spare;
    for (size_t row = 0; done && row < d->summary.n_rows; row++) {
        if (d->kernel[row] == NO_ROW)
            continue;
        const name_id range = s->framework.ops.name[s->links.op[d->kernel[row]]], kernel = k->name[d->kernel[row]];
        const uint32_t place = keys_add(&pairs, (uint64_t)range << 32 | kernel, spare);
        if (place == name.n) {
            const char *text = arena_printf(spare, "%s/%s", names_text(names, range), names_text(names, kernel));
            name_id *new = list_add(&name, spare);
            if (text && new)
                *new = names_addz(names, text);
        }
        done = place != KEYS_NO_MEMORY && !arena_failed(spare);
        of_row[row] = done ? name.at[place] : NAME_EMPTY;
    }
    d->launched = of_row;
    arena_free(spare);
    return done;
}

bool collection_has_kernels(const struct collection *s)
{
    return s->has_device && s->settings.level != PROFILER_LEVEL_NONE;
}

bool kernel_details_table(const struct collection_export *x, struct table *out, struct error *e)
{
    struct kernel_details *d = arena_take(x->mem, 1, sizeof *d);
    const struct collection *s = x->collection;
    const bool is_ms = s->framework_id == FRAMEWORK_MINDSPORE;
    if (!d || ((!is_ms || ms_has_steps(s)) && !step_index_build(&d->index, &s->steps, x->mem)))
        return error_no_memory(e, "kernel_details");
    d->collection = s;
    if (!op_summary_report(&x->device, &d->summary, e))
        return false;
    const size_t most = d->summary.n_columns + 1;
    struct column *column = arena_take(x->mem, most, sizeof *column);
    size_t *from = arena_take(x->mem, most, sizeof *from), n = 0;
    if (!column || !from)
        return error_no_memory(e, "kernel_details");
    if (d->index.n > 0)
        column[n++] = (struct column){ is_ms ? "Step ID" : "Step Id", step_id };
    for (size_t i = 0; i < d->summary.n_columns; i++) {
        const char *name = d->summary.column[i].name;
        size_t at;
        if (strcmp(name, start_column) == 0)
            d->start = i;
        if (strcmp(name, name_column) == 0)
            d->name = i;
        if (!is_shown(x, name, &at))
            continue;
        column[n].name = at < N_KNOWN && known[at].name ? known[at].name : name;
        from[n++] = i;
    }
    d->column = from;
    d->steps = &s->steps;
    if (is_ms && s->settings.has_cpu && (!find_kernels(d, s, x->mem) || !name_launched(d, s, x->mem)))
        return error_no_memory(e, "kernel_details");
    *out = (struct table){ .name = "kernel_details",
                           .column = column,
                           .n_columns = n,
                           .n_rows = d->summary.n_rows,
                           .rows = d,
                           .get = get,
                           .names = x->collection->profile.names };
    return true;
}
