/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - chooses the columns of a table, and their names.
 *
 * Some columns exist only under a condition, and some have another name in the documented dialect. A table lists all
 * columns that it can have; the choice is made when the table is built.
 */
#ifndef ASCOPE_EXPORT_COLUMNS_H
#define ASCOPE_EXPORT_COLUMNS_H

#include "export/export.h"

struct optional_column {
    const char *name, *documented_name; /* documented_name: in the documented dialect; NULL: the same */
    unsigned needs; /* conditions, one bit each, defined by the table: the column exists when all of them hold */
    cell_getter *get;
};

/* Copies those of n columns whose conditions are all in `has` to `out`, which has room for n; returns how many. */
size_t columns_choose(struct column *out, const struct optional_column *from, size_t n, unsigned has,
                      enum dialect dialect);
/* The same for a table that has no other columns; they are allocated in x->mem. False: out of memory. */
bool columns_set(struct table *t, const struct optional_column *from, size_t n, unsigned has, const struct export *x,
                 struct error *e);
#define OPTIONAL_COLUMNS(table, array, has, x, e) columns_set(table, array, sizeof(array) / sizeof *(array), has, x, e)

#endif
