/* SPDX-License-Identifier: Apache-2.0 */
/* db_reader.h - reading a SQLite database of others, whatever is in it.
 *
 * Opened as untrusted_db.h says. Only plain tables are read, each once from its begin to its end; numbers that stand for texts are
 * looked up in memory. A damaged table ends where it is damaged: `problem` says which was the first, and what was read before stays.
 */
#ifndef ASCOPE_VIEW_DB_READER_H
#define ASCOPE_VIEW_DB_READER_H

#include "base/error.h"
#include "base/keys.h"
#include "base/names.h"
#include "base/untrusted_db.h"

/* A table of (id, text). */
struct db_texts {
    struct keys keys;
    LIST(name_id) name;
};

struct db_reader {
    struct untrusted_db u;
    const char *path; /* lent */
    uint64_t text_bytes;
    uint64_t n_left; /* rows that the table which is read may still have */
    struct names *names;
    struct db_texts strings; /* STRING_IDS */
    struct arena *mem;
    char problem[200]; /* "": none */
};

/* False: e says why, and there is nothing to close. */
bool db_reader_open(struct db_reader *r, const char *path, struct error *e);
void db_reader_close(struct db_reader *r); /* one that is all zero is fine */

bool db_is_database(const char *path); /* a regular file that begins as all of them do */

/* All rows of a plain table; NULL: there is none. End with sqlite3_finalize(). */
sqlite3_stmt *db_reader_rows(struct db_reader *r, const char *table);
bool db_reader_next(struct db_reader *r, sqlite3_stmt *s, const char *table); /* false: that was all, or `problem` */
int db_column(sqlite3_stmt *s, const char *name);                             /* its number; -1: there is none */

/* A row of another table by a number that one of its columns has. */
struct db_lookup {
    struct keys keys;
    LIST(int64_t) rowid;
    sqlite3_stmt *one; /* NULL: the table is not there */
    int column;
};
bool db_lookup_open(struct db_reader *r, struct db_lookup *l, const char *table,
                    const char *column); /* false: memory */
/* The row, until the next call; NULL: none. Others with the same number are those that follow it: `i` of them are left out. */
sqlite3_stmt *db_lookup(struct db_lookup *l, int64_t number, int64_t i);
void db_lookup_close(struct db_lookup *l);

bool db_texts_load(struct db_reader *r, struct db_texts *t, const char *table, const char *text); /* false: memory */
name_id db_text(const struct db_texts *t, int64_t id, bool *is_there);

#endif
