/* SPDX-License-Identifier: Apache-2.0 */
/* sql_run.h - runs a statement that can only read, within limits.
 *
 * Each statement has a connection of its own to an empty database in memory, with its sources as tables (sql_source.h)
 * and, of an attached database, with its tables in the schema "db", read as untrusted_db.h says. Everything but reading
 * is refused: no file can be opened, nothing attached, nothing changed. A statement that takes too long or too much
 * memory ends with an error; its rows end at a limit.
 */
#ifndef ASCOPE_SQL_SQL_RUN_H
#define ASCOPE_SQL_SQL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"
#include "sql/sql_source.h"

enum {
    SQL_ROWS = 10000,
    SQL_SECONDS = 30,
    SQL_ANSWER_BYTES = 64 << 20,
    SQL_MEMORY_BYTES = 1 << 30, /* for sorting and grouping: no file is written */
};

struct sql_database {
    const struct sql_source *source;
    size_t n_sources;
    const char *path;     /* of a database whose tables are added; NULL: none */
    bool has_log;         /* pages of it are in the -wal file beside it */
    unsigned char *image; /* the same in memory; NULL: none */
    size_t image_bytes;
};

enum { SQL_PARAMETERS = 4 };
struct sql_question {
    const char *sql;
    const char *parameter[SQL_PARAMETERS]; /* of ?1 and so on; NULL: none */
    uint64_t most_rows;                    /* 0: no limit */
};

/* Who gets the rows. `begin` and `end` are called once, the latter only if there was no error. */
struct sql_taker {
    void (*begin)(void *of, sqlite3_stmt *s);
    bool (*row)(void *of, sqlite3_stmt *s); /* false: the answer is too large */
    void (*end)(void *of, sqlite3_stmt *s);
    void *of;
};

struct sql_answer {
    uint64_t n_rows;
    bool is_cut; /* there are more rows than most_rows */
};

/* False: e says why. */
bool sql_run(const struct sql_database *db, const struct sql_question *q, const struct sql_taker *taker,
             struct sql_answer *out, struct error *e);

/* Which of our tables a statement names: bit i is sql_tables[i]. False: the statement cannot be used; e says why. */
bool sql_needs(const struct sql_database *db, const char *sql, uint32_t *needs, struct error *e);

/* A statement is running; a call of a function, such as instr() of long texts, cannot be stopped. */
bool sql_runs(void);
void sql_end(void); /* stops running and future statements, as soon as they can be stopped */

#endif
