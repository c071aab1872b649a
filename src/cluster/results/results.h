/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - registry: the tables of an analysis over ranks, as a mode hands them over.
 *
 * Names, types and formats are those of the peer, so that other tools find what they expect: csv in a folder named for
 * the mode, times in ns divided by 1000 and called "(Us)"; in the database the tables of one mode replace their
 * predecessors and leave the others alone. results_write.c writes them.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_RESULTS_H
#define ASCOPE_CLUSTER_RESULTS_RESULTS_H

#include "base/files/out.h"
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

/* results_write.c: the files of cluster_analysis_output: cluster_analysis.db, csv and JSON.
 *
 * Every file is written under a temporary name and gets its own at the end, when all of them are whole:
 * writer_close(). The database is a copy of the one that is there, in which only the tables of this run are replaced;
 * a run that begins anew has an empty one. Rows of a table that is larger than memory are written as they come. */

struct results_request {
    const char *dir; /* cluster_analysis_output; made if it is not there */
    bool wants_text, wants_db;
    bool csv_is_safe;          /* as --csv-safe */
    bool is_new;               /* what an earlier run left is not kept */
    const char *const *folder; /* then also csv files in these, which modes write to; NULL behind the last */
    const struct names *names;
};

struct results_file {
    const char *path;
    uint64_t rows; /* of all tables; 0: not counted */
};

struct results_writer;
struct table_sink;

struct results_writer *writer_open(const struct results_request *r, struct error *e); /* NULL: see e */
/* Rows follow by writer_rows(). class_name as in struct results. NULL: see e. Nothing is wanted of it, or another mode
 * of the run has the same table: rows go nowhere. */
struct table_sink *writer_table(struct results_writer *w, const char *class_name, const struct result_table *t,
                                struct error *e);
bool writer_rows(struct results_writer *w, struct table_sink *s, const struct cell *cells, size_t n_rows,
                 struct error *e);
bool writer_results(struct results_writer *w, const struct results *r, struct error *e); /* all tables of a mode */
/* A file that the caller writes; lent. NULL: see e, or text is not wanted and e has nothing. */
struct out *writer_text(struct results_writer *w, const char *name, struct error *e);

bool writer_close(struct results_writer *w, struct error *e);                       /* all files get their names */
const struct results_file *writer_files(const struct results_writer *w, size_t *n); /* behind writer_close() */
void writer_free(struct results_writer *w); /* without writer_close(): nothing of it is left. NULL is fine */

#endif
