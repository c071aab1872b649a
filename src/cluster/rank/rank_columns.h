/* SPDX-License-Identifier: Apache-2.0 */
/* rank_columns.h - the columns of a summary as rows of a table, for what treats all of them alike: copying, writing,
 * reading.
 *
 * A part is a struct whose first member is its number of rows, followed by pointers to columns. Each column of
 * rank_summary.h has a row in these tables.
 */
#ifndef ASCOPE_CLUSTER_RANK_RANK_COLUMNS_H
#define ASCOPE_CLUSTER_RANK_RANK_COLUMNS_H

#include "cluster/rank/rank_summary.h"

enum column_kind {
    COLUMN_NAME, /* name_id */
    COLUMN_U8,
    COLUMN_U32, /* NO_ROW is frequent */
    COLUMN_I64, /* or uint64_t; INT64_MIN is frequent */
    COLUMN_REAL,
    COLUMN_ENUM, /* enum gap_reason */
    COLUMN_KINDS
};
extern const uint8_t column_bytes[COLUMN_KINDS];

struct column_row {
    size_t at; /* of the pointer, in the part */
    enum column_kind kind;
};

struct part_row {
    const char *name;
    size_t at; /* in struct rank_summary */
    const struct column_row *column;
    size_t n_columns;
};

enum summary_part {
    PART_STEPS,
    PART_STEP_TRACE,
    PART_OWN_STEPS,
    PART_COMM_TIME,
    PART_COMM_BANDWIDTH,
    PART_COMM_MATRIX,
    PART_COLLECTIVES,
    PART_SUMS,
    PART_CALLS,
    PART_GAPS,
    PART_MARKS,
    PART_EXPOSED,
    PART_CLOCK,
    PART_RUNS, /* the groups only: their durations are written separately */
    SUMMARY_PARTS
};
extern const struct part_row summary_part[SUMMARY_PARTS];

/* Copies a part with its columns. False: no memory. */
bool part_copy(enum summary_part part, void *to, const void *from, struct arena *mem);

/* Makes room for one more row in a part that grows. *cap is the number of rows that fit. False: no memory. */
bool part_grow(enum summary_part part, void *part_at, size_t *cap, struct arena *mem);

#endif
