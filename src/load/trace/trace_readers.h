/* SPDX-License-Identifier: Apache-2.0 */
/* trace_readers.h - registry: the readers of traces. */
#ifndef ASCOPE_LOAD_TRACE_TRACE_READERS_H
#define ASCOPE_LOAD_TRACE_TRACE_READERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/files/out.h"
#include "base/text/error.h"
#include "load/trace/db_reader.h"
#include "profile/chrome_trace.h"

/* chrome_load.c: reads a trace in Chrome's JSON form: .json or .json.gz, an object with traceEvents or a bare array;
 * or .pftrace or .sqlite, which are converted into it (pftrace_read.c, nsys_trace.c).
 *
 * The file is mapped and read once, from its beginning to its end; memory is what the columns need. Numbers are read
 * as decimals, so that times are exact to the nanosecond. An event that is no JSON is read again by the rule for texts
 * that were not escaped, and counted as repaired; one that cannot be read is counted as lost, with its place, and
 * reading continues at the next. The cost is linear for any input. */

/* False: *e has the reason, and there is nothing to free. Losses are in t->lost. `path` must outlive t, whose address
 * must not change: the file stays mapped until t is freed. */
bool chrome_load(struct chrome_trace *t, const char *path, struct error *e);
/* Reads only the events in about the first so many bytes of text; the rest counts as cut short. */
bool chrome_load_first(struct chrome_trace *t, const char *path, uint64_t most_bytes, struct error *e);
/* The same of a text in memory, which must outlive t. */
bool chrome_parse(struct chrome_trace *t, const char *text, size_t n_bytes, const char *path, struct error *e);
/* The same of the text in an unnamed file. `text` must not be moved before chrome_trace_free() and memory_unmap(), in
 * this order, also after a failure. */
bool chrome_parse_unnamed(struct chrome_trace *t, struct mapped *text, int fd, const char *path, struct error *e);
/* Whether a file is a trace, as far as its first megabyte shows: quick, also for large files. False: *e has the reason. */
bool chrome_look(const char *path, struct error *e);
bool chrome_is_name(const char *path); /* the name of a file ends as those of traces do */

/* db_trace.c: converts the vendor's databases (msprof_*.db, ascend_pytorch_profiler*.db,
 * ascend_mindspore_profiler*.db) into the Chrome trace format.
 *
 * Calls, tasks, collectives, marks and steps become slices, samples become counters, and equal connection ids become
 * flow events. The other columns of a row become its arguments, with texts instead of their ids. Missing tables and
 * columns are not an error; rows without a time are counted. */

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

/* nsys_trace.c: what `nsys export --type sqlite` writes, converted into what torch.profiler would have written.
 *
 * Kernels, graphs, copies, calls of CUDA and NVTX ranges; ranges of PyTorch's emit_nvtx are operators. Times are those
 * of the session, which begins at an absolute time. */

bool nsys_is_name(const char *path);                   /* ends with .sqlite */
bool nsys_is(struct db_reader *r);                     /* its tables are there */
bool nsys_check(struct db_reader *r, struct error *e); /* false: no such export, or of an unknown version; see e */
bool nsys_look(const char *path, struct error *e);     /* the same of a file */
/* As db_trace_write(). */
bool nsys_trace_write(struct db_trace *t, struct db_reader *r, struct out *o, bool is_measured);

/* pftrace_read.c: a timeline in Perfetto's own format, as ascope export-trace writes it, converted into Chrome's JSON
 * format.
 *
 * Slices have the process and thread of their track, also those on lanes, with their arguments and flows. Files of
 * others are read as far as they keep to the same rules: one sequence, absolute times, slices that nest. Anything else
 * is a reason to refuse the file. The text is at most some hundred times as long as the file. */

bool pftrace_is_name(const char *path); /* ends with .pftrace or .perfetto-trace */

struct pftrace_text {
    int fd; /* of an unnamed file; owner: the caller */
    uint64_t bytes;
    struct losses lost;
};
/* Converts the file `fd`, until there are about `most_bytes` of text. False: see e. */
bool pftrace_read(struct pftrace_text *t, int fd, const char *path, uint64_t most_bytes, struct error *e);

#endif
