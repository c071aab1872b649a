/* SPDX-License-Identifier: Apache-2.0 */
/* sql_schema.h - the tables that SQL, Python and agents see: one list, with the type, unit and meaning of each column.
 *
 * There are two kinds. Tables of a run have the same form whatever it was recorded by: they are made from the model of
 * its ranks (answers/run/rank_spans.h). Tables of the timeline have what a viewer shows, with the names that the writer
 * of the trace chose. docs/sql.md, `.schema`, the stub for Python and the schemas of `ascope mcp` are made from this
 * list; tests/command/test_sql.py compares them.
 */
#ifndef ASCOPE_SQL_SQL_SCHEMA_H
#define ASCOPE_SQL_SQL_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

enum sql_type { SQL_TEXT, SQL_INTEGER, SQL_REAL };
extern const char *const sql_type_names[]; /* "TEXT", "INTEGER", "REAL" */

struct sql_column {
    const char *name;
    enum sql_type type;
    const char *unit; /* "ns", "bytes"; "": none */
    const char *meaning;
};

enum sql_table_id {
    SQL_RANKS,
    SQL_STEPS,
    SQL_KERNELS,
    SQL_COLLECTIVES,
    SQL_COPIES,
    SQL_CALLS,
    SQL_OPERATORS,
    SQL_RANGES,
    SQL_PYTHON,
    SQL_MEMORY,
    SQL_RUN_TABLES, /* those of the timeline follow */
    SQL_SLICES = SQL_RUN_TABLES,
    SQL_INSTANTS,
    SQL_COUNTERS,
    SQL_FLOWS,
    SQL_BLOCKS,
    SQL_LOSSES,
    SQL_KERNEL_COUNTERS,
    SQL_KERNEL_WORK,
    SQL_ROOFS,
    SQL_TABLES
};

struct sql_table {
    const char *name, *meaning;
    const struct sql_column *column;
    size_t n_columns;
};
extern const struct sql_table sql_tables[SQL_TABLES];
const struct sql_table *sql_table_find(const char *name); /* NULL: there is none */
json_t *sql_schema_json(void); /* a list of {name, meaning, columns: [{name, type, unit, meaning}]}; NULL: no memory */

/* Columns of tables of a run by their numbers. All of them begin with the first three. */
enum { RUN_RUN, RUN_RANK, RUN_DEVICE, RUN_FIRST };
enum { RANKS_PATH = RUN_FIRST, RANKS_KIND, RANKS_STEPS, RANKS_STEP, RANKS_KERNELS, RANKS_SIMULATED, RANKS_COLUMNS };
enum {
    STEPS_NAME = RUN_FIRST,
    STEPS_BEGIN,
    STEPS_DUR,
    STEPS_COMPUTING,
    STEPS_OVERLAPPED,
    STEPS_COMMUNICATION,
    STEPS_FREE,
    STEPS_SLOW,
    STEPS_START_UP,
    STEPS_COLUMNS
};
/* What runs on a device, and on the host: the first columns are the same. */
enum { WORK_NAME = RUN_FIRST, WORK_BEGIN, WORK_DUR, WORK_TRACK, WORK_STEP, WORK_OWN };
enum { KERNELS_OPERATOR = WORK_OWN, KERNELS_TYPE, KERNELS_CORES, KERNELS_BLOCKS, KERNELS_LAUNCH, KERNELS_COLUMNS };
enum { COLLECTIVES_KIND = WORK_OWN, COLLECTIVES_ELEMENTS, COLLECTIVES_BYTES, COLLECTIVES_RANKS, COLLECTIVES_COLUMNS };
enum { COPIES_OPERATOR = WORK_OWN, COPIES_BYTES, COPIES_DIRECTION, COPIES_LAUNCH, COPIES_COLUMNS };
enum { HOST_COLUMNS = WORK_OWN };
enum { MEMORY_NAME = RUN_FIRST, MEMORY_ALLOCATOR, MEMORY_BYTES, MEMORY_BEGIN, MEMORY_END, MEMORY_COLUMNS };
enum { SQL_MOST_COLUMNS = KERNELS_COLUMNS };

#endif
