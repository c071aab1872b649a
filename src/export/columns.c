/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

size_t columns_choose(struct column *out, const struct optional_column *from, size_t n, unsigned has,
                      enum dialect dialect)
{
    size_t n_chosen = 0;
    for (size_t i = 0; i < n; i++)
        if ((from[i].needs & ~has) == 0)
            out[n_chosen++] =
                (struct column){ dialect == DIALECT_DOCUMENTED && from[i].documented_name ? from[i].documented_name
                                                                                          : from[i].name,
                                 from[i].get };
    return n_chosen;
}

bool columns_set(struct table *t, const struct optional_column *from, size_t n, unsigned has, const struct export *x,
                 struct error *e)
{
    struct column *column = arena_take(x->mem, n, sizeof *column);
    if (!column)
        return error_no_memory(e, t->name);
    t->column = column;
    t->n_columns = columns_choose(column, from, n, has, x->options->dialect);
    return true;
}
