/* SPDX-License-Identifier: Apache-2.0 */
/* report_heat.h - a grid of coloured cells as a drawing of a report: pages/heat.js without its canvas, with the same
 * colours. */
#ifndef ASCOPE_VIEW_REPORT_REPORT_HEAT_H
#define ASCOPE_VIEW_REPORT_REPORT_HEAT_H

#include "base/memory/arena.h"
#include "base/files/out.h"

struct heat_cell {
    size_t row, column;
    double value;
    const void *of; /* what `hint` needs */
};

struct heat {
    size_t n_rows, n_columns;
    const char *const *row, *const *column; /* names */
    const bool *has_gap;                    /* before each row; NULL: nowhere */
    LIST(struct heat_cell) cells;           /* places without a cell have no value */
    void (*shown)(struct out *o, double value);
    void (*hint)(struct out *o, const struct heat *h, const struct heat_cell *c);
    const void *context; /* of hint */
};

bool report_heat(struct out *o, const struct heat *h, struct arena *mem); /* false: no memory */

#endif
