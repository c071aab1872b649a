/* SPDX-License-Identifier: Apache-2.0 */
/* results_db.h - cluster_analysis.db: tables that grow at the same time, row by row.
 *
 * A new one is written as pages (sqlite_pages.h), which takes a tenth of the time that SQLite takes. Of one that is
 * there the other tables stay: SQLite replaces those of this run in a copy. Both get the name at the end.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_RESULTS_DB_H
#define ASCOPE_CLUSTER_RESULTS_RESULTS_DB_H

#include "cluster/results/results.h"

struct results_db;
struct results_db_table;

/* In dir, which is lent with the names. is_new: nothing of an old one stays. NULL: see e. */
struct results_db *results_db_open(const char *dir, bool is_new, const struct names *names, struct arena *mem,
                                   struct error *e);
const char *results_db_path(const struct results_db *db);
/* The table anew; name and columns are lent. NULL: see e. */
struct results_db_table *results_db_table(struct results_db *db, const char *name, const struct result_column *column,
                                          size_t n_columns, struct error *e);
bool results_db_row(struct results_db *db, struct results_db_table *t, const struct cell *cells, struct error *e);
bool results_db_close(struct results_db *db, uint64_t *n_rows, struct error *e);
void results_db_discard(struct results_db *db); /* also behind results_db_close(); NULL is fine */

/* A number as any of the files has it. */
double result_number(struct cell c);
enum { RESULT_DIGITS = 32 };
size_t result_time_text(char out[RESULT_DIGITS], int64_t ns);

#endif
