/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_file.h - how SQLite reads a database that anybody may have written: a VFS named "ascope".
 *
 * The file is opened once, by file_open(), and never changed, locked or waited for; pages that are still in the -wal
 * file beside it are read from there (sqlite_log.h). Nothing is created beside it. With the parameter "wal=0" of the
 * URI the log is not read.
 */
#ifndef ASCOPE_BASE_SQLITE_SQLITE_FILE_H
#define ASCOPE_BASE_SQLITE_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sqlite/sqlite_log.h"

struct sqlite_file {
    sqlite3_file base;
    int fd;
    uint64_t bytes; /* of the file, without its log */
    struct sqlite_log log;
};

bool sqlite_file_register(void); /* as often as you like; false: no memory */
/* The file of a connection that was opened with it; valid as long as the connection. */
const struct sqlite_file *sqlite_file_of(sqlite3 *db);
/* Writes the database to another file, with what its log adds to it. 0, NOT_A_FILE: it could not be read, or an errno
 * value. */
int sqlite_file_copy(const struct sqlite_file *f, int to);
/* Removes what belongs to the database that a new one is about to replace: SQLite would apply the log to the new one. */
void sqlite_file_forget_log(const char *path);

#endif
