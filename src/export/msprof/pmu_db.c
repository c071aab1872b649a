/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

struct pmu_rows {
    const struct device *d;
    name_id *name; /* of each column of d->pmu */
    bool *is_time;
};

/* Fills rows task by task, because all rows of a task are computed from the same counts. Values are not rounded, and
 * times are in ns. Chips with one kind of core are older ones, whose total times are computed as in the older
 * presentation. */
static void pmu_db_fill(const void *rows, size_t first, size_t n, struct cell *cells)
{
    const struct pmu_rows *r = rows;
    const struct pmu *pmu = &r->d->pmu;
    const struct metric_columns *m = &pmu->columns;
    size_t row = first / m->n, column = first % m->n;
    while (n > 0) {
        struct pmu_counts counts;
        pmu_counts(pmu, row, &counts);
        const struct cell task = cell_uint(r->d->tasks.global_id[pmu->task[row]]);
        for (; column < m->n && n > 0; column++, n--, cells += 3) {
            const double value = pmu_counts_value(&counts, &m->column[column], pmu->has_one_core);
            cells[0] = task;
            cells[1] = cell_name(r->name[column]);
            cells[2] = cell_real(r->is_time[column] ? value * 1000 : value);
        }
        row++;
        column = 0;
    }
}

bool pmu_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "globalTaskId", "INTEGER", NULL },
        { "name", "INTEGER", NULL },
        { "value", "NUMERIC", NULL },
    };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct metric_columns *m = &d->pmu.columns;
        struct pmu_rows r = { d, arena_take(x->mem, m->n, sizeof *r.name),
                              arena_take(x->mem, m->n, sizeof *r.is_time) };
        if (!r.name || !r.is_time)
            return error_no_memory(e, "TASK_PMU_INFO");
        for (size_t c = 0; c < m->n; c++) {
            const enum metric_kind kind = m->column[c].metric.kind;
            r.name[c] = names_addz(x->profile->names, m->column[c].name);
            r.is_time[c] = kind == METRIC_TOTAL_TIME || kind == METRIC_TIME;
        }
        const struct db_table t = { .name = "TASK_PMU_INFO",
                                    .column = column,
                                    .n_columns = sizeof column / sizeof *column,
                                    .n_rows = d->pmu.n * m->n,
                                    .rows = &r,
                                    .fill = pmu_db_fill };
        if (!db_table(db, &t, e))
            return false;
    }
    return true;
}
