/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - registry: the request for an export of a PROF directory, which every output reads, and the three kinds of outputs.
 *
 * Every output is a row in one of three registries (registry.c): reports become CSV or JSON tables, tracks become
 * processes of the timeline, db writers fill the database. A new family of data is a new row in each. The request owns
 * nothing but what outputs allocate in `mem`, which lives until the output is written.
 */
#ifndef ASCOPE_EXPORT_EXPORT_H
#define ASCOPE_EXPORT_EXPORT_H

#include "base/sqlite/db.h"
#include "base/text/table.h"
#include "export/output_options.h"
#include "export/trace.h"
#include "profile/launches.h"
#include "profile/profile.h"

/* The part of the collection that is exported. */
enum scope {
    SCOPE_ALL,
    SCOPE_STEP,  /* some training steps: --model-id 4294967295 */
    SCOPE_GRAPH, /* some iterations of one model */
};

/* The outputs of a PROF directory. */
struct registry {
    const struct report *report;
    const struct track *track;
    const struct db_writer *db_writer;
    size_t n_reports, n_tracks, n_db_writers;
};

struct export
{
    const struct profile *profile;
    const struct registry *registry; /* for outputs that gather others: timeline, database */
    const struct output_options *options;
    enum scope scope;
    /* The reference has two presentations of the same data: a newer one for whole collections of A2 and A3, and an
     * older, generic one for steps and graphs, sample-based collections and older chips. They differ in spelling, not
     * in content. */
    bool is_generic;
    uint64_t model, first_iteration, last_iteration; /* of SCOPE_STEP and SCOPE_GRAPH */
    const struct window *window;                     /* of each device; NULL in SCOPE_ALL */
    const struct window *host_window;                /* when the host worked for each device; NULL in SCOPE_ALL */
    size_t n_host_windows;                           /* one for each device; 1 in a collection without devices */
    bool is_own_file; /* the timeline is a file with some of the tracks, which always has the whole collection */
    bool hides_calls; /* the timeline has no calls of the host, only the flow events from them (Level0) */
    const struct launches *launches; /* ranges of a framework, shown with what they launched; NULL: not shown */
    struct arena *mem;               /* of the job that writes this output */
};

/* Files of the documented release number the devices only where there are several. */
static inline bool has_one_npu(const struct export *x)
{
    return x->options->dialect == DIALECT_DOCUMENTED && x->profile->n_devices == 1;
}

/* A number of a statistic: 454 in the newer presentation, 454.0 in the older one and in files of the documented
 * release. */
static inline struct cell cell_statistic(const struct export *x, double v)
{
    if (x->is_generic)
        return cell_real(round_exact(v, 3));
    return x->options->dialect == DIALECT_DOCUMENTED ? cell_round(v) : cell_short(v);
}

struct report {
    const char *file;            /* "hbm" is written to mindstudio_profiler_output/hbm_<time>.csv */
    const char *documented_file; /* its name in the documented dialect; NULL: the same */
    const char *about;           /* one line for the README.txt beside it */
    /* Fills a table whose first column is Device_id. A table without rows makes no file. False: e has the reason. */
    bool (*build)(const struct export *x, struct table *out, struct error *e);
};

struct track {
    const char *process;  /* the word in a -reports file: "hbm" */
    const char *own_file; /* the track is also written to a file of this name, without the others; NULL: it is not */
    bool (*write)(const struct export *x, struct trace *t, struct error *e);
};

struct db_writer {
    bool (*write)(const struct export *x, struct db *db, struct error *e);
    const char *tables; /* those that are also read without a file, for ranks of a job: see db_wants(); NULL: none */
};

/* columns.c: chooses the columns of a table, and their names.
 *
 * Some columns exist only under a condition, and some have another name in the documented dialect. A table lists all
 * columns that it can have; the choice is made when the table is built. */

struct optional_column {
    const char *name, *documented_name; /* documented_name: in the documented dialect; NULL: the same */
    unsigned needs; /* conditions, one bit each, defined by the table: the column exists when all of them hold */
    cell_getter *get;
};

/* Copies those of n columns whose conditions are all in `has` to `out`, which has room for n; returns how many. */
size_t columns_choose(struct column *out, const struct optional_column *from, size_t n, unsigned has,
                      enum dialect dialect);
/* The same for a table that has no other columns; they are allocated in x->mem. False: out of memory. */
bool columns_set(struct table *t, const struct optional_column *from, size_t n, unsigned has, const struct export *x,
                 struct error *e);
#define OPTIONAL_COLUMNS(table, array, has, x, e) columns_set(table, array, sizeof(array) / sizeof *(array), has, x, e)

#endif
