/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - a result with rows and columns, independent of the file that it is written to.
 *
 * A column has a name and a function that returns the cell of a row; a table is columns over something with rows. The
 * same table is written as CSV, JSON and SQLite; each writer formats a cell in its own way. Large tables compute their
 * cells from the profile's columns, row by row; small ones are a grid of cells filled beforehand.
 */
#ifndef ASCOPE_BASE_TEXT_TABLE_H
#define ASCOPE_BASE_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/memory/names.h"

enum cell_kind {
    CELL_NA,       /* N/A in text, NULL in a database */
    CELL_BLANK,    /* nothing at all: the row is shorter than the header */
    CELL_INT,      /* .i */
    CELL_UINT,     /* .u */
    CELL_REAL,     /* .f, shortest text with a point: 0.5, 12.0 */
    CELL_REAL_TAB, /* the same, with the tab of CELL_TIME in CSV */
    CELL_ROUND,    /* .f through round_away() to .digits decimals, then as CELL_REAL: 75.8, 0.0 */
    CELL_SHORT,    /* .f through round_away() to .digits decimals, without a needless point: 75.8, 6 */
    CELL_FIXED,    /* .f with exactly .digits decimals: 1.450000 */
    CELL_TIME, /* .i ns since the epoch: microseconds with 3 decimals, and a tab so that spreadsheets keep the text */
    CELL_TIME_BARE, /* the same without the tab */
    CELL_US,        /* .i ns: microseconds with exactly 3 decimals */
    CELL_US_SHORT,  /* .i ns: microseconds as CELL_REAL shows them */
    CELL_DECIMAL,   /* .i / 10^digits, with exactly that many decimals */
    CELL_NAME,      /* .name */
    CELL_TEXT,      /* .text, NUL-terminated, lent until the table is written */
    CELL_SHAPE,     /* .name, in the extra pair of quotes that shapes carry; NAME_NA has none */
};

struct cell {
    uint8_t kind, digits;
    union {
        int64_t i;
        uint64_t u;
        double f;
        name_id name;
        const char *text;
    };
};

static inline struct cell cell_na(void)
{
    return (struct cell){ .kind = CELL_NA };
}
static inline struct cell cell_blank(void)
{
    return (struct cell){ .kind = CELL_BLANK };
}
static inline struct cell cell_int(int64_t v)
{
    return (struct cell){ .kind = CELL_INT, .i = v };
}
static inline struct cell cell_uint(uint64_t v)
{
    return (struct cell){ .kind = CELL_UINT, .u = v };
}
static inline struct cell cell_real(double v)
{
    return (struct cell){ .kind = CELL_REAL, .f = v };
}
static inline struct cell cell_real_tab(double v)
{
    return (struct cell){ .kind = CELL_REAL_TAB, .f = v };
}
static inline struct cell cell_round(double v)
{
    return (struct cell){ .kind = CELL_ROUND, .digits = 3, .f = v };
}
static inline struct cell cell_short(double v)
{
    return (struct cell){ .kind = CELL_SHORT, .digits = 3, .f = v };
}
static inline struct cell cell_fixed(double v, uint8_t d)
{
    return (struct cell){ .kind = CELL_FIXED, .digits = d, .f = v };
}
static inline struct cell cell_time(int64_t ns)
{
    return (struct cell){ .kind = CELL_TIME, .i = ns };
}
static inline struct cell cell_time_bare(int64_t ns)
{
    return (struct cell){ .kind = CELL_TIME_BARE, .i = ns };
}
static inline struct cell cell_us(int64_t ns)
{
    return (struct cell){ .kind = CELL_US, .i = ns };
}
static inline struct cell cell_us_short(int64_t ns)
{
    return (struct cell){ .kind = CELL_US_SHORT, .i = ns };
}
static inline struct cell cell_decimal(int64_t v, uint8_t d)
{
    return (struct cell){ .kind = CELL_DECIMAL, .digits = d, .i = v };
}
static inline struct cell cell_name(name_id n)
{
    return (struct cell){ .kind = CELL_NAME, .name = n };
}
static inline struct cell cell_text(const char *t)
{
    return (struct cell){ .kind = CELL_TEXT, .text = t };
}
static inline struct cell cell_shape(name_id n)
{
    return (struct cell){ .kind = CELL_SHAPE, .name = n };
}

/* How a column gets the cell of a row: `rows` is the table's, `row` the number of the row there. */
typedef struct cell cell_getter(const void *rows, size_t row);

struct column {
    const char *name;
    cell_getter *get; /* NULL in a table that is a grid, or that has a getter for all such columns */
};

/* Defines a getter whose cell is one expression of r, the rows of this type, and i, the row. */
#define CELL_GETTER(function, type, expression)                                                                        \
    static struct cell function(const void *rows, size_t i)                                                            \
    {                                                                                                                  \
        const type *const r = rows;                                                                                    \
        (void)r, (void)i;                                                                                              \
        return expression;                                                                                             \
    }

/* The columns of a table, and how many: an array of them. */
#define TABLE_COLUMNS(array) .column = (array), .n_columns = sizeof(array) / sizeof *(array)

struct table {
    const char *name; /* of the file without time stamp, or of the database table */
    const struct column *column;
    size_t n_columns, n_rows;
    const void *rows;      /* handed to column.get */
    const uint32_t *shown; /* which of the rows there are shown, and in which order; NULL: all, as they are */
    struct cell (*get)(const void *rows, size_t row, size_t column); /* of columns without a getter of their own */
    const struct cell *grid; /* instead of rows: cells of n_columns, row by row */
    const struct names *names;
    bool has_crlf;   /* lines of the CSV end as Python's do */
    bool is_safe;    /* no text of the CSV is a formula: a ' stands before those that a spreadsheet would run */
    size_t n_hidden; /* columns at the front that CSV does not show */
};

static inline struct cell table_cell(const struct table *t, size_t row, size_t column)
{
    if (t->shown)
        row = t->shown[row];
    if (t->grid)
        return t->grid[row * t->n_columns + column];
    cell_getter *const get = t->column[column].get;
    return get ? get(t->rows, row) : t->get(t->rows, row, column);
}

/* A grid under construction. Add n_columns cells for each row. */
struct grid {
    LIST(struct cell) cells;
    size_t n_columns;
    struct arena *mem;
};

void grid_row(struct grid *g, const struct cell *cells); /* n_columns of them are copied */
struct table grid_table(const struct grid *g, const char *name, const struct column *column, const struct names *names);

/* Rounds the decimal that v reads as, half away from zero, as SQLite's ROUND() does: 1.0005 to 1.001. */
double round_away(double v, int digits);
/* Rounds the exact binary value, as Python's round() does: 1.0005 is a little less than it reads, and gives 1.0. */
double round_exact(double v, int digits);

struct out;
void table_csv_header(const struct table *t, struct out *o);
void table_csv_rows(const struct table *t, struct out *o, size_t first, size_t n);
void table_json(const struct table *t, struct out *o); /* an array of objects, one for each row */

#endif
