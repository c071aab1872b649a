/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/out.h"

static const double power_of_ten[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };

enum { REAL_BYTES = 40 }; /* no text of out_real() is longer */

/* A relative tolerance: 8.0575 is stored as a little less, and has to be rounded as the half that it reads as. */
#define HAIR 3e-16

double round_away(double v, int digits)
{
    if (!isfinite(v) || fabs(v) > 4503599627370496.0) /* 2^52: nothing behind the point any more */
        return v;
    const double scaled = fabs(v) * power_of_ten[digits];
    return copysign(floor(scaled + scaled * HAIR + 0.5) / power_of_ten[digits], v);
}

double round_exact(double v, int digits)
{
    const double scaled = v * power_of_ten[digits];
    if (!isfinite(v) || fabs(fabs(scaled - trunc(scaled)) - 0.5) > 1e-3)
        return round_away(v, digits);
    char text[400]; /* close to a half only the exact digits decide, and printf has them */
    snprintf(text, sizeof text, "%.*f", digits, v);
    return strtod(text, NULL);
}

void grid_row(struct grid *g, const struct cell *cells)
{
    for (size_t i = 0; i < g->n_columns; i++) {
        struct cell *c = list_add(&g->cells, g->mem);
        if (!c)
            return;
        *c = cells[i];
    }
}

struct table grid_table(const struct grid *g, const char *name, const struct column *column, const struct names *names)
{
    return (struct table){ .name = name,
                           .column = column,
                           .n_columns = g->n_columns,
                           .n_rows = g->cells.n / g->n_columns,
                           .grid = g->cells.at,
                           .names = names };
}

/* Three decimals of a number that is not below zero, nor too large: as round_away() and out_real() have it, without the
 * double in between. */
static bool thousandths(struct out *o, struct cell c)
{
    if (c.digits != 3 || !(c.f >= 0 && c.f < 1e12) || signbit(c.f))
        return false;
    const double scaled = c.f * 1000;
    out_us_short(o, (int64_t)(scaled + scaled * HAIR + 0.5));
    return true;
}

static void decimal(struct out *o, int64_t v, unsigned digits)
{
    char text[48];
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    size_t at = sizeof text;
    for (unsigned i = 0; i < digits || rest > 0 || i == digits; i++) {
        if (i == digits && digits > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (v < 0)
        text[--at] = '-';
    out_short(o, text + at, sizeof text - at);
}

/* Numbers, which CSV and JSON show alike. */
static void number(struct out *o, struct cell c)
{
    switch (c.kind) {
    case CELL_INT: out_i64(o, c.i); break;
    case CELL_UINT: out_u64(o, c.u); break;
    case CELL_REAL:
    case CELL_REAL_TAB: out_real(o, c.f); break;
    case CELL_ROUND:
        if (!thousandths(o, c))
            out_real(o, round_away(c.f, c.digits));
        break;
    case CELL_SHORT:
        /* room for the number, so that the characters removed below are still in the buffer */
        out_reserve(o, REAL_BYTES);
        if (!thousandths(o, c))
            out_real(o, round_away(c.f, c.digits));
        if (o->n >= 2 && o->buf[o->n - 1] == '0' && o->buf[o->n - 2] == '.')
            o->n -= 2;
        break;
    case CELL_FIXED: out_fixed(o, c.f, c.digits); break;
    case CELL_TIME:
    case CELL_TIME_BARE:
    case CELL_US: out_us(o, c.i); break;
    case CELL_US_SHORT: out_us_short(o, c.i); break;
    case CELL_DECIMAL: decimal(o, c.i, c.digits); break;
    default: break;
    }
}

static void csv_text(const struct table *t, struct out *o, const char *text, size_t len)
{
    (t->is_safe ? out_csv_safe : out_csv)(o, text, len);
}

static void csv_cell(const struct table *t, struct out *o, struct cell c)
{
    switch (c.kind) {
    case CELL_NA: out_lit(o, "N/A"); break;
    case CELL_NAME:
        if (c.name == NAME_NA)
            out_lit(o, "N/A");
        else if (c.name != NAME_EMPTY)
            csv_text(t, o, names_text(t->names, c.name), names_len(t->names, c.name));
        break;
    case CELL_TEXT: csv_text(t, o, c.text, strlen(c.text)); break;
    case CELL_SHAPE:
        if (c.name == NAME_NA) {
            out_lit(o, "N/A");
        } else {
            out_lit(o, "\"\"\"");
            out_bytes(o, names_text(t->names, c.name), names_len(t->names, c.name));
            out_lit(o, "\"\"\"");
        }
        break;
    case CELL_TIME:
    case CELL_REAL_TAB:
        number(o, c);
        out_char(o, '\t');
        break;
    default: number(o, c);
    }
}

static void end_line(const struct table *t, struct out *o)
{
    if (t->has_crlf)
        out_char(o, '\r');
    out_char(o, '\n');
}

void table_csv_header(const struct table *t, struct out *o)
{
    for (size_t c = t->n_hidden; c < t->n_columns; c++) {
        if (c > t->n_hidden)
            out_char(o, ',');
        out_csv(o, t->column[c].name, strlen(t->column[c].name));
    }
    end_line(t, o);
}

void table_csv_rows(const struct table *t, struct out *o, size_t first, size_t n)
{
    for (size_t r = first; r < first + n; r++) {
        for (size_t c = t->n_hidden; c < t->n_columns; c++) {
            const struct cell cell = table_cell(t, r, c);
            if (cell.kind == CELL_BLANK)
                break;
            if (c > t->n_hidden)
                out_char(o, ',');
            csv_cell(t, o, cell);
        }
        end_line(t, o);
    }
}

static void json_cell(const struct table *t, struct out *o, struct cell c)
{
    switch (c.kind) {
    case CELL_NA:
    case CELL_BLANK: out_lit(o, "\"N/A\""); break;
    case CELL_NAME: out_json(o, names_text(t->names, c.name), names_len(t->names, c.name)); break;
    case CELL_SHAPE: out_json(o, names_text(t->names, c.name), names_len(t->names, c.name)); break;
    case CELL_TEXT: out_json(o, c.text, strlen(c.text)); break;
    case CELL_TIME:
    case CELL_TIME_BARE: /* a number here would lose its last digits in the reader's double */
        out_char(o, '"');
        number(o, c);
        out_char(o, '"');
        break;
    default: number(o, c);
    }
}

void table_json(const struct table *t, struct out *o)
{
    out_char(o, '[');
    for (size_t r = 0; r < t->n_rows; r++) {
        out_bytes(o, r > 0 ? ", {" : "{", r > 0 ? 3 : 1);
        for (size_t c = 0; c < t->n_columns; c++) {
            if (c > 0)
                out_lit(o, ", ");
            out_json(o, t->column[c].name, strlen(t->column[c].name));
            out_lit(o, ": ");
            json_cell(t, o, table_cell(t, r, c));
        }
        out_char(o, '}');
    }
    out_char(o, ']');
}
