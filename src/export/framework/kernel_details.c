/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/kernel_details.h"

#include <string.h>

#include "analyse/framework/profiler_steps.h"
#include "export/msprof/op_summary.h"

/* Columns of op_summary under other names, and those that are all that is known at Level0. Older tables of it have none of the
 * shapes, and none of which device. */
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
static const char device_column[] = "Device_id", start_column[] = "Task Start Time(us)";

struct kernel_details {
    struct table summary;
    const size_t *column; /* of summary, for each column but the step */
    size_t start;         /* the column with the begin of a row */
    const struct profiler_steps *steps;
    struct step_index index; /* empty: there is no column for steps */
};

static struct cell step_id(const void *rows, size_t row)
{
    const struct kernel_details *d = rows;
    const uint32_t step = step_index_at(&d->index, table_cell(&d->summary, row, d->start).i);
    return cell_name(step == NO_ROW ? NAME_EMPTY : d->steps->id[step]);
}

/* All other columns are of op_summary. */
static struct cell get(const void *rows, size_t row, size_t column)
{
    const struct kernel_details *d = rows;
    return table_cell(&d->summary, row, d->column[column]);
}

/* Which columns there are: position in known, or N_KNOWN for those that only bear their own name. */
static bool is_shown(const struct collection_export *x, const char *name, size_t *at)
{
    const bool is_documented = x->device.options->dialect == DIALECT_DOCUMENTED,
               is_level0 = x->collection->settings.level == PROFILER_LEVEL0;
    *at = 0;
    while (*at < N_KNOWN && strcmp(known[*at].in_summary, name) != 0)
        ++*at;
    if (is_documented && strcmp(name, device_column) == 0) /* tables of one device do not name it */
        return x->collection->profile.n_devices > 1;
    if (!is_level0)
        return true;
    return *at < N_KNOWN && (is_documented ? known[*at].is_in_seed_level0 : known[*at].is_in_level0);
}

bool collection_has_kernels(const struct collection *s)
{
    return s->has_device && s->settings.level != PROFILER_LEVEL_NONE;
}

bool kernel_details_table(const struct collection_export *x, struct table *out, struct error *e)
{
    struct kernel_details *d = arena_take(x->mem, 1, sizeof *d);
    if (!d || !step_index_build(&d->index, &x->collection->steps, x->mem))
        return error_no_memory(e, "kernel_details");
    if (!op_summary_report(&x->device, &d->summary, e))
        return false;
    const size_t most = d->summary.n_columns + 1;
    struct column *column = arena_take(x->mem, most, sizeof *column);
    size_t *from = arena_take(x->mem, most, sizeof *from), n = 0;
    if (!column || !from)
        return error_no_memory(e, "kernel_details");
    if (d->index.n > 0)
        column[n++] = (struct column){ "Step Id", step_id };
    for (size_t i = 0; i < d->summary.n_columns; i++) {
        const char *name = d->summary.column[i].name;
        size_t at;
        if (strcmp(name, start_column) == 0)
            d->start = i;
        if (!is_shown(x, name, &at))
            continue;
        column[n].name = at < N_KNOWN && known[at].name ? known[at].name : name;
        from[n++] = i;
    }
    d->column = from;
    d->steps = &x->collection->steps;
    *out = (struct table){ .name = "kernel_details",
                           .column = column,
                           .n_columns = n,
                           .n_rows = d->summary.n_rows,
                           .rows = d,
                           .get = get,
                           .names = x->collection->profile.names };
    return true;
}
