/* SPDX-License-Identifier: Apache-2.0 */
/* results_write.h - the files of cluster_analysis_output: cluster_analysis.db, csv and JSON.
 *
 * Every file is written under a temporary name and gets its own at the end, when all of them are whole: writer_close().
 * The database is a copy of the one that is there, in which only the tables of this run are replaced; a run
 * that begins anew has an empty one. Rows of a table that is larger than memory are written as they come.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_RESULTS_WRITE_H
#define ASCOPE_CLUSTER_RESULTS_RESULTS_WRITE_H

#include "base/files/out.h"
#include "cluster/results/results.h"

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
