/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - chooses the columns of a table, and their names.
 *
 * Some columns exist under a condition only, and some have another name in the documented dialect. A table lists all of them
 * and chooses when it is made.
 */
#ifndef ASCOPE_EXPORT_COLUMNS_H
#define ASCOPE_EXPORT_COLUMNS_H

#include "export/export.h"

struct optional_column {
    const char *name, *documented_name; /* documented_name: of the documented release; NULL, the same */
    unsigned needs; /* bits, of the table's own meaning: it is there when the table has all of them */
    cell_getter *get;
};

/* How many of n columns there are; out has room for all of them. */
size_t columns_choose(struct column *out, const struct optional_column *from, size_t n, unsigned has,
                      enum dialect dialect);
/* The same for a table with nothing but these; allocated in x->mem. False: out of memory. */
bool columns_set(struct table *t, const struct optional_column *from, size_t n, unsigned has, const struct export *x,
                 struct error *e);
#define OPTIONAL_COLUMNS(table, array, has, x, e) columns_set(table, array, sizeof(array) / sizeof *(array), has, x, e)

#endif
