/* SPDX-License-Identifier: Apache-2.0 */
/* db_reader.h - reads an SQLite database that is not trusted (untrusted_db.h).
 *
 * Only plain tables are read, each once from begin to end. Ids of texts are looked up in memory. Reading a damaged
 * table ends at the damage; `problem` describes the first one, and the rows before it are used.
 */
#ifndef ASCOPE_LOAD_TRACE_DB_READER_H
#define ASCOPE_LOAD_TRACE_DB_READER_H

#include "base/text/error.h"
#include "base/memory/keys.h"
#include "base/memory/names.h"
#include "base/sqlite/untrusted_db.h"

/* A table of (id, text). */
struct db_texts {
    struct keys keys;
    LIST(name_id) name;
};

struct db_reader {
    struct untrusted_db u;
    const char *path; /* lent */
    uint64_t text_bytes;
    uint64_t n_left; /* rows that the current table may still have: a limit for damaged files */
    struct names *names;
    struct db_texts strings; /* STRING_IDS */
    struct arena *mem;
    char problem[200]; /* "": none */
};

/* False: e says why, and there is nothing to close. */
bool db_reader_open(struct db_reader *r, const char *path, struct error *e);
void db_reader_close(struct db_reader *r); /* one that is all zero is fine */

bool db_is_database(const char *path); /* whether it is a regular file with the magic of SQLite */

/* All rows of a plain table; NULL: there is none. End with sqlite3_finalize(). */
sqlite3_stmt *db_reader_rows(struct db_reader *r, const char *table);
bool db_reader_next(struct db_reader *r, sqlite3_stmt *s, const char *table); /* false: no more rows, or a problem */
int db_column(sqlite3_stmt *s, const char *name);                             /* its number; -1: there is none */

/* Finds rows of a table by the value of one of its columns. */
struct db_lookup {
    struct keys keys;
    LIST(int64_t) rowid;
    sqlite3_stmt *one; /* NULL: the table is not there */
    int column;
};
bool db_lookup_open(struct db_reader *r, struct db_lookup *l, const char *table,
                    const char *column); /* false: memory */
/* The row with this number, valid until the next call; NULL: none. If several consecutive rows have the number, row `i`
 * of them. */
sqlite3_stmt *db_lookup(struct db_lookup *l, int64_t number, int64_t i);
void db_lookup_close(struct db_lookup *l);

bool db_texts_load(struct db_reader *r, struct db_texts *t, const char *table, const char *text); /* false: memory */
name_id db_text(const struct db_texts *t, int64_t id, bool *is_there);

#endif
