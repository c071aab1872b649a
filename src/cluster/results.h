/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - the tables of an analysis over ranks, and the files that they become in cluster_analysis_output.
 *
 * Names, types and formats are those of the peer, so that other tools find what they expect: csv in a folder named for the mode,
 * times in ns divided by 1000 and called "(Us)"; in the database the tables of one mode replace their predecessors and leave
 * the others alone.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_H
#define ASCOPE_CLUSTER_RESULTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"

struct result_column {
    const char *name, *type; /* in the database; type: INTEGER, REAL, TEXT, NUMERIC */
    const char *csv_name;    /* NULL: as in the database, "…Ns" becoming "…(Us)" and divided by 1000 */
};

struct result_table {
    const char *name; /* in the database: "SlowRank" */
    const char *file; /* of text: "rank_stats.csv"; NULL: only in the database */
    const struct result_column *column;
    size_t n_columns, n_rows;
    const struct cell *grid; /* n_columns cells for each row */
};

struct results {
    const char *class_name;
    LIST(struct result_table) tables;
    LIST(const char *) notes; /* lines for the user: what was left out, and why */
    struct arena *mem;
};

/* False only without memory. The grid is lent until the results are written. */
bool results_add(struct results *r, const struct result_table *t);
bool results_note(struct results *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
