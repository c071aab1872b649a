/* SPDX-License-Identifier: Apache-2.0 */
/* sql_inputs.h - the inputs of `ascope sql` as one database, loaded when a statement needs them.
 *
 * Tables of a run, and the timelines, are separate: a statement about kernels draws no timeline.
 */
#ifndef ASCOPE_CLI_SQL_SQL_INPUTS_H
#define ASCOPE_CLI_SQL_SQL_INPUTS_H

#include "cli/commands/given_run.h"
#include "sql/run/run_sources.h"
#include "sql/sql_run.h"
#include "view/inputs/view_inputs.h"
#include "view/rows/slices_table.h"

struct sql_inputs {
    struct arguments *a;
    struct given_run run;      /* its inputs are all that are known */
    LIST(const char *) title;  /* of each word */
    LIST(uint32_t) group;      /* by input: its word */
    LIST(const char *) tables; /* folders of tables and databases that have no timeline of a rank */
    size_t n_refused;
    enum exit_status status;
    struct run_tables columns;
    struct names *names;
    uint32_t has; /* tables of a run that were made: bits */
    struct view_collection *collection;
    struct view_input *timeline;
    const struct view_input **shown; /* those that could be read */
    const char **run_of;
    bool has_timelines;
    struct slices_of slices;
    struct sql_source source[SQL_TABLES];
    struct sql_database db;
};

/* Finds what the words are. Anything but STATUS_DONE: nothing, and the reason was reported. */
enum exit_status sql_inputs_find(struct sql_inputs *s, struct arguments *a);
/* Loads what a statement needs. False: the reason was reported. `all`: more statements will follow. */
bool sql_inputs_load(struct sql_inputs *s, const char *sql, bool all, struct error *e);
/* Makes tables of the run: bits of enum sql_table_id. False: the reason was reported. */
bool sql_inputs_columns(struct sql_inputs *s, uint32_t wanted);
void sql_inputs_end(struct sql_inputs *s);

#endif
