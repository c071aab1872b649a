/* SPDX-License-Identifier: Apache-2.0 */
/* db_trace.h - converts the vendor's databases (msprof_*.db, ascend_pytorch_profiler*.db,
 * ascend_mindspore_profiler*.db) into the Chrome trace format.
 *
 * Calls, tasks, collectives, marks and steps become slices, samples become counters, and equal connection ids become
 * flow events. The other columns of a row become its arguments, with texts instead of their ids. Missing tables and
 * columns are not an error; rows without a time are counted.
 */
#ifndef ASCOPE_LOAD_TRACE_DB_TRACE_H
#define ASCOPE_LOAD_TRACE_DB_TRACE_H

#include "base/files/out.h"
#include "load/trace/db_reader.h"

/* Tables with what is known of a task besides its times. */
enum db_task_info { DB_COMPUTE_TASK, DB_COMMUNICATION_TASK, DB_SCHEDULE_TASK, DB_TASK_INFOS };

struct db_trace {
    struct db_reader *r;
    struct out *o;
    uint64_t n_events, n_slices, n_timeless; /* the last: rows without a time */
    bool is_cut;       /* the text has become too long for a file of this size: the rest is left out */
    bool is_gpu;       /* its devices are GPUs */
    bool is_measured;  /* see db_trace_write() */
    bool has_step_ops; /* operators of the framework are named ProfilerStep#N */

    /* Its own. */
    struct keys processes, tracks;
    LIST(struct db_end) ends;
    struct db_texts *enums;
    struct db_lookup task_info[DB_TASK_INFOS], connections, chains;
    struct {
        const sqlite3_stmt *statement;
        uint8_t of[64];
    } texts_of[4]; /* of the table that is read, and of those that its rows are looked up in */
    bool failed;   /* no memory */
};

/* Writes the whole text. is_measured: for answers, not to be shown; then without counters and call stacks, and steps
 * have the names that torch.profiler gives them. False: no memory. */
bool db_trace_write(struct db_trace *t, struct db_reader *r, struct out *o, bool is_measured);
/* The same into an unnamed file; nothing is written beside the database. Owner of the descriptor: the caller. -1: see
 * e. */
int db_trace_unnamed(struct db_trace *t, struct db_reader *r, bool is_measured, struct error *e);

#endif
