/* SPDX-License-Identifier: Apache-2.0 */
/* sql_output.h - the rows of a statement as a table for people, as CSV, or as JSON. */
#ifndef ASCOPE_CLI_SQL_SQL_OUTPUT_H
#define ASCOPE_CLI_SQL_SQL_OUTPUT_H

#include <jansson.h>

#include "base/files/out.h"
#include "base/memory/arena.h"
#include "report/term.h"
#include "sql/sql_run.h"

enum sql_form { SQL_AS_TABLE, SQL_AS_CSV, SQL_AS_JSON };

struct sql_output {
    enum sql_form form;
    bool csv_is_safe;
    /* Private. */
    struct out csv;
    uint64_t bytes; /* of the cells */
    json_t *columns, *rows;
    int n_columns;
    LIST(const char *) cells; /* of a table, its header first */
    LIST(bool) is_number;     /* by column */
    struct arena *mem;
};

bool sql_output_begin(struct sql_output *o, struct error *e);
struct sql_taker sql_output_taker(struct sql_output *o);
/* Prints what was taken; of JSON returns an object with columns and rows, or NULL: no memory. Frees in any case. */
json_t *sql_output_end(struct sql_output *o, const struct term *t, const struct sql_answer *answer, struct error *e);

void sql_schema_print(const struct term *t, const char *table); /* NULL: all */

#endif
