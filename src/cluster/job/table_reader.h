/* SPDX-License-Identifier: Apache-2.0 */
/* table_reader.h - rows of tables as columns: of a database, or of the functions that write one.
 *
 * A database is opened for reading only. Its contents are not trusted: a table may not have more rows than its file has
 * bytes for, times are limited to 2^62 ns, and invalid numbers are counted as losses. A collection that was just
 * analysed needs no database: the functions that would write its tables hand over the rows, and what is read is the
 * same.
 *
 * Columns are in mem, texts are names of the rank's job. Functions that return bool: false is an error, which is in e.
 */
#ifndef ASCOPE_CLUSTER_JOB_TABLE_READER_H
#define ASCOPE_CLUSTER_JOB_TABLE_READER_H

#include "base/sqlite/db.h"
#include "base/memory/keys.h"
#include "base/memory/large_memory.h"
#include "base/sqlite/sqlite_rows.h"
#include "base/sqlite/untrusted_db.h"
#include "cluster/rank/rank.h"

/* How a value becomes an element of a column. */
enum value_kind {
    VALUE_I64,
    VALUE_TIME, /* int64_t, ns */
    VALUE_U64,
    VALUE_U32,
    VALUE_U8,
    VALUE_REAL,
    VALUE_TEXT,   /* name_id of the text itself */
    VALUE_STRING, /* name_id by the number in STRING_IDS */
    VALUE_API,    /* by that in ENUM_API_TYPE */
    VALUE_TYPE,   /* by that in ENUM_HCCL_DATA_TYPE */
};

struct db_field {
    const char *name;
    enum value_kind kind;
    size_t at;         /* of the pointer to its column, in the struct of columns */
    int64_t otherwise; /* where there is no value; of VALUE_REAL: it is a number */
};

struct db_part {
    const char *table;
    const struct db_field *field;
    size_t n_fields;
};
#define FIELDS(array)    array, sizeof array / sizeof *array
#define IN(type, member) offsetof(struct type, member)

/* A table that is read: its columns are members of `to`, whose first one is the number of rows. */
struct table_asked {
    struct db_part part;
    void *to;
    bool is_there;
    uint64_t fields; /* that it has: bit by bit */
};

/* Rows of a table by a number, the last of equal ones. Numbers that are close to each other are places of an array. */
struct rows_by {
    int64_t least;
    uint64_t span; /* 0: they are keys */
    struct keys keys;
    uint32_t *row; /* + 1 in the array; 0: none */
};

/* Numbers that stand for texts. */
struct numbered {
    struct rows_by by;
    name_id *name;
};

/* What writes the tables of a rank: calls db_table() for each table that db_wants(). */
struct table_source {
    bool (*write)(void *context, struct db *db, struct error *e);
    void *context;
    struct names *names; /* of its cells */
};

struct table_reader {
    const char *path;
    const struct table_source *source; /* NULL: a database */
    struct taken_names {
        size_t n;
        name_id *of; /* by name of the source: that of the rank, + 1; 0: not looked up yet */
    } taken[2];      /* shapes have quotes in databases */
    struct untrusted_db u;
    uint64_t text_bytes;
    struct mapped map; /* of a database whose pages can be read without SQLite */
    struct rows_file pages;
    struct numbered strings, apis, types;
    struct rank *rank;
    struct arena *mem;
    struct error *e;
};

bool table_reader_open(struct table_reader *r, const char *path);
void table_reader_open_source(struct table_reader *r, const char *path, const struct table_source *source);
void table_reader_close(struct table_reader *r);

/* Tables that are made of the same things are read in one call, so that these are computed once. */
bool tables_read(struct table_reader *r, struct table_asked *asked, size_t n);
/* One table; sets the bit of a part that is there, and sorts it by the column `key`, unless that is NULL. */
bool table_load(struct table_reader *r, enum rank_part bit, const struct db_part *part, void *to, int64_t *const *key);
/* The same with a table that was read. */
bool table_use(struct table_reader *r, enum rank_part bit, const struct table_asked *asked, int64_t *const *key);
bool table_sort(struct table_reader *r, const struct db_part *part, void *to, const int64_t *key);
bool numbered_read(struct table_reader *r, const char *table, const char *text, struct numbered *out);

bool rows_by_init(struct table_reader *r, struct rows_by *by, const int64_t *id, size_t n);
uint32_t rows_by_find(const struct rows_by *by, int64_t id); /* NO_ROW: there is none */

#endif
