#include "export/pmu_db.h"

struct pmu_rows {
    const struct device *d;
    name_id *name; /* of each column of d->pmu */
};

static struct cell task_of(const void *rows, size_t row)
{
    const struct pmu_rows *r = rows;
    return cell_uint(r->d->tasks.global_id[r->d->pmu.task[row / r->d->pmu.columns.n]]);
}

static struct cell name_of(const void *rows, size_t row)
{
    const struct pmu_rows *r = rows;
    return cell_name(r->name[row % r->d->pmu.columns.n]);
}

/* Unrounded, and times in ns. */
static struct cell value_of(const void *rows, size_t row)
{
    const struct pmu *pmu = &((const struct pmu_rows *)rows)->d->pmu;
    const size_t column = row % pmu->columns.n;
    const double value = pmu_value(pmu, row / pmu->columns.n, column, false);
    const enum metric_kind kind = pmu->columns.column[column].metric.kind;
    return cell_real(kind == METRIC_TOTAL_TIME || kind == METRIC_TIME ? value * 1000 : value);
}

bool pmu_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        {"globalTaskId", "INTEGER", task_of },
        { "name",        "INTEGER", name_of },
        { "value",       "NUMERIC", value_of},
    };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        struct pmu_rows r = { d, arena_take(x->mem, d->pmu.columns.n, sizeof *r.name) };
        if (!r.name)
            return error_set(e, FAULT_LIMIT, "TASK_PMU_INFO: no memory");
        for (size_t c = 0; c < d->pmu.columns.n; c++)
            r.name[c] = names_addz(x->profile->names, d->pmu.columns.column[c].name);
        const struct db_table t = { .name = "TASK_PMU_INFO",
                                    .column = column,
                                    .n_columns = sizeof column / sizeof *column,
                                    .n_rows = d->pmu.n * d->pmu.columns.n,
                                    .rows = &r };
        if (!db_table(db, &t, e))
            return false;
    }
    return true;
}
