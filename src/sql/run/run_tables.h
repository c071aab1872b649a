/* SPDX-License-Identifier: Apache-2.0 */
/* run_tables.h - the tables of a run (sql/sql_schema.h) as columns in memory, made from the model of its ranks.
 *
 * A column of texts has name_ids of `names`, NAME_EMPTY where nothing is known; one of integers has RUN_UNKNOWN there.
 * Rows are by rank, in the order of the model. They own their memory: recordings may be closed.
 */
#ifndef ASCOPE_SQL_RUN_RUN_TABLES_H
#define ASCOPE_SQL_RUN_RUN_TABLES_H

#include "open/recording_open.h"
#include "sql/sql_schema.h"

#define RUN_UNKNOWN INT64_MIN

struct run_table {
    size_t n;
    void *column[SQL_MOST_COLUMNS]; /* name_id of SQL_TEXT, int64_t of SQL_INTEGER */
};

struct run_tables {
    struct names *names;
    struct run_table at[SQL_RUN_TABLES];
};

/* The tables of device i of a recording, of those whose bits are set in `wanted`. What belongs to the host is that of
 * the first device. `names` is shared by all ranks of a run. Columns that a struct joined_rank has are left to
 * run_tables_join(). NULL: no memory. */
struct run_tables *run_tables_of(const struct recording *l, size_t i, uint32_t wanted, struct names *names,
                                 struct arena *mem);

/* A rank, and what the columns `run` and `path` say of it. */
struct joined_rank {
    const struct run_tables *of;
    const char *run, *path;
};
/* The tables of all ranks, one after the other. A single one is not copied. False: no memory. */
bool run_tables_join(struct run_tables *out, const struct joined_rank *part, size_t n, struct names *names,
                     struct arena *mem);

#endif
