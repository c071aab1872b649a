/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - the tables of an analysis over ranks, as a mode hands them over.
 *
 * Names, types and formats are those of the peer, so that other tools find what they expect: csv in a folder named for
 * the mode, times in ns divided by 1000 and called "(Us)"; in the database the tables of one mode replace their
 * predecessors and leave the others alone. results_write.h writes them.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_RESULTS_H
#define ASCOPE_CLUSTER_RESULTS_RESULTS_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/text/table.h"

struct result_column {
    const char *name, *type; /* in the database; type: INTEGER, REAL, TEXT, NUMERIC */
    const char *csv_name;    /* NULL: as in the database, "…Ns" becoming "…(Us)" and divided by 1000 */
    double csv_divisor;      /* with csv_name; 0: as it is */
};

/* Cells are CELL_NA (empty, NULL), INT, UINT, REAL, ROUND, US_SHORT, TIME_BARE, NAME and TEXT. */
struct result_table {
    const char *name; /* in the database: "SlowRank"; NULL: only as text */
    const char
        *file; /* of text: "rank_stats.csv"; NULL: only in the database. Base modes have text in tables of its own */
    const struct result_column *column;
    size_t n_columns, n_rows;
    const struct cell *grid; /* n_columns cells for each row */
    bool is_always_db;       /* the database has it even if only text is wanted */
};

struct results {
    const char *class_name; /* folder of csv files; NULL: the folder of the results itself, with lines as Python's */
    LIST(struct result_table) tables;
    LIST(const char *) notes;    /* lines for the user: what was left out, and why */
    LIST(const char *) findings; /* lines for the first screen: what is conspicuous */
    struct arena *mem;
};

/* False only without memory. The grid is lent until the results are written. */
bool results_add(struct results *r, const struct result_table *t);
bool results_note(struct results *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool results_finding(struct results *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
