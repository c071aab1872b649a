/* SPDX-License-Identifier: Apache-2.0 */
/* untrusted_db.h - opening a SQLite database that anybody may have written.
 *
 * It is opened as a file that nobody changes (sqlite_file.h): no lock is taken, nothing beside it is waited for or
 * created. What a -wal file adds is a part of it, if the whole is sound with it. Only columns of tables can be read,
 * and counted. Work is limited in proportion to the size of the file: where pages refer to each other, SQLite stops
 * with SQLITE_INTERRUPT. COUNT(*) of a table is one operation of SQLite, which nothing limits: callers write COUNT(1).
 */
#ifndef ASCOPE_BASE_SQLITE_UNTRUSTED_DB_H
#define ASCOPE_BASE_SQLITE_UNTRUSTED_DB_H

#include <sqlite3.h>

#include "base/text/error.h"
#include "base/sqlite/sqlite_file.h"

struct untrusted_db {
    sqlite3 *db; /* NULL: not open */
    const struct sqlite_file *file;
    uint64_t file_bytes;
    char log_trouble[160]; /* what of the -wal beside it is not read, and why; "": all of it is */
    uint64_t page_bytes, work_left;
    bool is_computed; /* set by untrusted_db_look(): a column is computed */
};

/* False: e has the reason, and nothing has to be closed. The address of u must stay the same until it is closed. */
bool untrusted_db_open(struct untrusted_db *u, const char *path, struct error *e);
void untrusted_db_close(struct untrusted_db *u); /* one that is all zero is fine */

/* *is_there: the database has an ordinary table of that name. Views and virtual tables do not count: they can run any
 * code. False: the database cannot be read, or a column of the table is computed. */
bool untrusted_db_look(struct untrusted_db *u, const char *table, bool *is_there);

/* Why the last call failed; valid until the next call. */
const char *untrusted_db_trouble(const struct untrusted_db *u);

/* Whether each page belongs to one table only. Otherwise SQLite may take arbitrarily long to change the database. */
bool untrusted_db_is_sound(struct untrusted_db *u);

/* For a connection that was opened elsewhere: its schema cannot call functions with side effects, and no statement can
 * call one that takes a pointer to code. */
bool untrusted_db_restrict(sqlite3 *db);

/* "file:/a%20b.db?vfs=ascope" of a path; NULL: no memory. Release with sqlite3_free(). */
char *untrusted_db_uri(const char *path, bool has_log);

#endif
