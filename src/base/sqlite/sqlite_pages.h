/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_pages.h - tables of an SQLite database, written page by page from the front of the file to its end.
 *
 * SQLite searches the place of every row that it inserts. Rows in ascending order need no search: a leaf page is
 * filled, written and forgotten, and the pages above the leaves are written at the end from the last rowid of each
 * leaf. All that is kept in memory of a table is one page, and 16 bytes for every page written. Several tables may grow
 * at the same time. The format is that of https://www.sqlite.org/fileformat2.html; the numbers below are explained
 * there.
 *
 * Errors of the file are remembered by struct out and reported when it is closed.
 */
#ifndef ASCOPE_BASE_SQLITE_SQLITE_PAGES_H
#define ASCOPE_BASE_SQLITE_SQLITE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/files/out.h"

/* A value as a record holds it. */
struct sqlite_value {
    uint64_t type; /* "serial type": says what it is and how many bytes it has */
    union {
        uint64_t bits; /* of a number */
        const char *text;
    };
};

enum {
    VALUE_NULL = 0, /* 1 … 6 are integers of 1, 2, 3, 4, 6 and 8 bytes */
    VALUE_INT64 = 6,
    VALUE_REAL = 7,
    VALUE_ZERO = 8, /* and 9 is one: neither has bytes */
    VALUE_TEXT = 13 /* and twice its length */
};

static inline struct sqlite_value value_null(void)
{
    return (struct sqlite_value){ .type = VALUE_NULL };
}

static inline struct sqlite_value value_int(int64_t i)
{
    static const uint8_t type_of_bytes[] = { 1, 1, 2, 3, 4, 5, 5, 6, 6 };
    if ((uint64_t)i <= 1)
        return (struct sqlite_value){ .type = VALUE_ZERO + (uint64_t)i };
    const unsigned bits = 65 - (unsigned)__builtin_clzll((uint64_t)(i ^ i >> 63) | 1); /* one of them is the sign */
    return (struct sqlite_value){ .type = type_of_bytes[(bits + 7) / 8], .bits = (uint64_t)i };
}

static inline struct sqlite_value value_text(const char *text, size_t len)
{
    return (struct sqlite_value){ .type = VALUE_TEXT + 2 * (uint64_t)len, .text = text };
}

static inline struct sqlite_value value_double(double f)
{
    struct sqlite_value v = { .type = VALUE_REAL };
    __builtin_memcpy(&v.bits, &f, sizeof f);
    return v;
}

/* As a column with the affinity INTEGER, NUMERIC or REAL keeps it: a whole number as an integer. There is no NaN. */
static inline struct sqlite_value value_number(double f)
{
    const double limit = 9223372036854775808.0;
    if (f > -limit && f < limit && (double)(int64_t)f == f)
        return value_int((int64_t)f);
    return f == f ? value_double(f) : value_null();
}

/* As a column with the affinity REAL keeps it. Only integers that are shorter than a double are worth it. */
static inline struct sqlite_value value_real(struct sqlite_value number)
{
    return number.type == VALUE_INT64 ? value_double((double)(int64_t)number.bits) : number;
}

struct pages;
struct btree;

struct pages *pages_new(struct out *o, struct arena *mem); /* allocated in mem; NULL: out of memory */

/* A new table and the statement that would create it; the texts are lent until pages_end(). NULL: no memory. */
struct btree *pages_table(struct pages *p, const char *name, const char *sql);
/* A row. The column that stands for the rowid is a NULL among its values. False: the rowid is not above the one before,
 * the row is longer than SQLite allows, or there is no memory. */
bool btree_add(struct btree *b, int64_t rowid, const struct sqlite_value *value, size_t n);
int64_t btree_last(const struct btree *b); /* the rowid of the last row; 0 when there is none */
/* Writes what is left: after that the file is a database, as soon as `o` has handed it over. False: no memory. */
bool pages_end(struct pages *p);

#endif
