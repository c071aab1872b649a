/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include "analyse/framework/steps/step_shares.h"
#include "base/text/stamp.h"

const struct column step_trace_columns[STEP_TRACE_COLUMNS] = {
    [STEP_TRACE_DEVICE] = { .name = "Device_id" },
    [STEP_TRACE_STEP] = { .name = "Step" },
    [STEP_TRACE_COMPUTING] = { .name = "Computing" },
    [STEP_TRACE_EXPOSED] = { .name = "Communication(Not Overlapped)" },
    [STEP_TRACE_OVERLAPPED] = { .name = "Overlapped" },
    [STEP_TRACE_COMMUNICATION] = { .name = "Communication" },
    [STEP_TRACE_FREE] = { .name = "Free" },
    [STEP_TRACE_STAGE] = { .name = "Stage" },
    [STEP_TRACE_BUBBLE] = { .name = "Bubble" },
    [STEP_TRACE_EXPOSED_WITHOUT_RECEIVE] = { .name = "Communication(Not Overlapped and Exclude Receive)" },
    [STEP_TRACE_PREPARING] = { .name = "Preparing" },
};

/* Sums are exact. The reference adds doubles, and subtracts doubles of microseconds since 1970, in steps of 0.25 us. As
 * in Python, an empty sum is "0" and any other has a point. */
static struct cell sum_cell(bool has_any, int64_t ns)
{
    return has_any ? cell_us_short(ns) : cell_uint(0);
}

static void step_trace_time_fill(struct cell cell[STEP_TRACE_COLUMNS], const struct collection *s,
                                 const struct device *d, const struct step_share *t)
{
    const int64_t *sum = t->sum_ns, exposed = wrap_sub(sum[OVERLAP_EXPOSED], t->receive_ns);
    const bool has_comm = t->has[OVERLAP_COMMUNICATION] || t->has[OVERLAP_EXPOSED];
    const bool has_exposed = (t->has[OVERLAP_EXPOSED] || t->has_receive) && exposed >= 0;
    cell[STEP_TRACE_DEVICE] = cell_uint(d->source.device);
    cell[STEP_TRACE_STEP] = cell_name(t->step == NO_ROW ? NAME_EMPTY : s->steps.id[t->step]);
    cell[STEP_TRACE_COMPUTING] = sum_cell(t->has[OVERLAP_COMPUTING], sum[OVERLAP_COMPUTING]);
    cell[STEP_TRACE_EXPOSED] = sum_cell(t->has[OVERLAP_EXPOSED], sum[OVERLAP_EXPOSED]);
    cell[STEP_TRACE_OVERLAPPED] = sum_cell(has_comm, wrap_sub(sum[OVERLAP_COMMUNICATION], sum[OVERLAP_EXPOSED]));
    cell[STEP_TRACE_COMMUNICATION] = sum_cell(t->has[OVERLAP_COMMUNICATION], sum[OVERLAP_COMMUNICATION]);
    cell[STEP_TRACE_FREE] = sum_cell(t->has[OVERLAP_FREE], sum[OVERLAP_FREE]);
    cell[STEP_TRACE_STAGE] = cell_us_short(wrap_sub(wrap_sub(t->end_ns, t->begin_ns), t->receive_ns));
    cell[STEP_TRACE_BUBBLE] = sum_cell(t->has_receive, t->receive_ns);
    cell[STEP_TRACE_EXPOSED_WITHOUT_RECEIVE] = sum_cell(has_exposed, exposed);
    cell[STEP_TRACE_PREPARING] = sum_cell(t->has_first, step_preparing_ns(t, &s->steps, &s->framework.ops));
}

bool step_trace_time_table(const struct collection_export *x, struct table *out, struct error *e)
{
    const struct collection *s = x->collection;
    const struct profile *p = &s->profile;
    /* In the documented dialect the table of a single device does not name it. */
    const size_t first =
        x->device.options->dialect == DIALECT_DOCUMENTED && p->n_devices == 1 ? STEP_TRACE_STEP : STEP_TRACE_DEVICE;
    struct grid grid = { .n_columns = STEP_TRACE_COLUMNS - first, .mem = x->mem };
    struct step_index index;
    bool ok = step_index_build(&index, &s->steps, x->mem);
    for (size_t i = 0; ok && i < p->n_devices; i++) {
        const struct device *d = &p->device[i];
        struct step_work work = { .overlap = &d->overlap };
        struct step_share *time;
        size_t n = 0;
        ok = step_receives(&work, d, p->names, x->mem) &&
             step_shares_build(&s->steps, &index, &work, p->names, x->mem, &time, &n);
        for (size_t k = 0; ok && k < n; k++) {
            struct cell cell[STEP_TRACE_COLUMNS];
            if (time[k].step != NO_ROW && !collection_shows_step(x, time[k].step))
                continue;
            step_trace_time_fill(cell, s, d, &time[k]);
            grid_row(&grid, cell + first);
        }
    }
    *out = grid_table(&grid, "step_trace_time", step_trace_columns + first, p->names);
    return (ok && !arena_failed(x->mem)) || error_no_memory(e, "step_trace_time");
}
