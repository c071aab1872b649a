/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h - what the recipes share: columns of statistics, tables from grids, and which rows of a rank are asked for. */
#ifndef ASCOPE_CLUSTER_RESULTS_RECIPE_H
#define ASCOPE_CLUSTER_RESULTS_RECIPE_H

#include "base/text/table.h"
#include "cluster/modes.h"
#include "cluster/rank/summary_file.h"

#define COLUMN(name, type) COLUMN_CSV(name, type, NULL)
/* clang-format off */
#define COLUMN_CSV(name, type, csv_name) { (name), (type), (csv_name), 0 } /* csv has another name */
/* clang-format on */

/* Columns of a description, and their cells. */
enum { DESCRIBE_CELLS = 9 };
#define DESCRIBE_COLUMNS                                                                                               \
    COLUMN("Count", "INTEGER"), COLUMN("MeanNs", "REAL"), COLUMN("StdNs", "REAL"), COLUMN("MinNs", "REAL"),            \
        COLUMN("Q1Ns", "REAL"), COLUMN("MedianNs", "REAL"), COLUMN("Q3Ns", "REAL"), COLUMN("MaxNs", "REAL"),           \
        COLUMN("SumNs", "REAL")
void describe_cells(struct cell *to, const struct description *d);

static inline struct cell cell_real_or_na(double v)
{
    return v != v ? cell_na() : cell_real(v);
}

/* A table of which the grid has all rows; file NULL: not as text. False: no memory. */
bool recipe_table(struct results *out, const char *name, const char *file, const struct result_column *column,
                  size_t n_columns, const struct grid *g);
/* A table that is larger than memory should hold: its rows up to now are written, and the grid is empty again. *sink is
 * NULL before the first of them; without any there is no table. Their texts may be gone then. False: see c->e. */
struct table_sink;
bool recipe_stream(struct table_sink **sink, const struct mode_context *c, const struct result_table *t,
                   struct grid *g);
#define RECIPE_COLUMNS(array) (array), sizeof(array) / sizeof *(array)

/* Sorts the rows of a grid: numbers and texts of a column, or both, in the order of the keys; equal rows stay as they
 * were. */
struct grid_key {
    size_t column;
    bool is_descending;
};
bool grid_sort(struct grid *g, const struct grid_key *key, size_t n_keys, const struct names *names);

/* Which rows of a rank are asked for: with --step only those of that step, and nothing of a rank that has not got it. */
struct chosen_step {
    bool is_all;
    uint32_t row; /* of the rank's steps, or NO_ROW */
    int64_t begin_ns, end_ns;
};
struct chosen_step step_choose(const struct cluster_options *o, const struct rank_steps *steps);
static inline bool step_has_row(const struct chosen_step *c, uint32_t row)
{
    return c->is_all || (c->row == row && row != UINT32_MAX);
}
static inline bool step_has_time(const struct chosen_step *c, int64_t ns)
{
    return c->is_all || (c->row != UINT32_MAX && ns >= c->begin_ns && ns <= c->end_ns);
}

bool name_contains(const struct names *names, name_id name, const char *part); /* as it is written */
bool name_contains_any_case(const struct names *names, name_id name,
                            const char *part); /* ASCII letters of both cases */

#endif
