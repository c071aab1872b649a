/* SPDX-License-Identifier: Apache-2.0 */
/* time_summary_db.h - the table ClusterTimeSummary that an earlier run left in cluster_analysis.db. */
#ifndef ASCOPE_CLUSTER_MODES_TIME_SUMMARY_DB_H
#define ASCOPE_CLUSTER_MODES_TIME_SUMMARY_DB_H

#include <stdint.h>

#include "base/memory/arena.h"
#include "base/text/error.h"

/* Columns behind rank and step, in µs. */
enum time_value {
    TIME_STEP,
    TIME_COMPUTATION,
    TIME_EXPOSED,
    TIME_OVERLAPPED,
    TIME_COMMUNICATION,
    TIME_FREE,
    TIME_WAIT,
    TIME_TRANSMIT,
    TIME_MEMORY,
    TIME_MEMORY_EXPOSED,
    TIME_VALUES
};

struct time_row {
    int64_t rank, step;
    double us[TIME_VALUES];
};

struct time_rows {
    LIST(struct time_row) rows;
    const char *log_trouble; /* what of the log of the database is not read, and why; NULL: none */
};

/* `path`: a folder of results, one that contains cluster_analysis_output, or the file itself. */
bool time_summary_has(const char *path, struct arena *mem);
/* Rows are in the order of the file. False: there is no such table, or it cannot be read. */
bool time_summary_read(const char *path, struct time_rows *out, struct arena *mem, struct error *e);

#endif
