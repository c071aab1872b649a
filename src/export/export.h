/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - the request of an export, which every output of a profile reads.
 *
 * Every output is a row in one of three registries (registry.c): reports become CSV (or JSON) tables, tracks become processes
 * of the timeline, db writers fill the database. A new family of data is a new row in each.
 */
#ifndef ASCOPE_EXPORT_EXPORT_H
#define ASCOPE_EXPORT_EXPORT_H

#include "base/db.h"
#include "base/table.h"
#include "export/output_options.h"
#include "export/trace.h"
#include "profile/launches.h"
#include "profile/profile.h"

/* What of the collection is wanted. */
enum scope {
    SCOPE_ALL,
    SCOPE_STEP,  /* some training steps: --model-id 4294967295 */
    SCOPE_GRAPH, /* some iterations of one model */
};

/* What there is to write of a PROF directory. */
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
    /* The reference has two ways of presenting the same data: one for whole collections of A2 and A3, and an older one
     * for steps and graphs, sample-based collections and older chips. They differ in spelling, not in content. */
    bool is_generic;
    bool is_cut;                                     /* a part is exported: some counters are not shown with it */
    uint64_t model, first_iteration, last_iteration; /* of SCOPE_STEP and SCOPE_GRAPH */
    const struct window *window;                     /* of each device; NULL in SCOPE_ALL */
    const struct window *host_window;                /* when the host worked for each device; NULL in SCOPE_ALL */
    size_t n_host_windows;                           /* as many as devices, but one where there is none */
    bool is_own_file;                                /* a timeline of some tracks by themselves: it is not cut */
    bool hides_calls; /* of the timeline of a collection of Level0, and with them the flow events that begin there */
    const struct launches *launches; /* shown with what they launched; NULL: they are not */
    struct arena *mem;               /* of the job that writes this output */
};

/* Files of the documented release number devices where there are several. */
static inline bool has_one_npu(const struct export *x)
{
    return x->options->dialect == DIALECT_DOCUMENTED && x->profile->n_devices == 1;
}

/* A number of a statistic: 454 in the newer presentation, 454.0 in the older one and in files of the documented release. */
static inline struct cell cell_statistic(const struct export *x, double v)
{
    if (x->is_generic)
        return cell_real(round_exact(v, 3));
    return x->options->dialect == DIALECT_DOCUMENTED ? cell_round(v) : cell_short(v);
}

struct report {
    const char *file;            /* "hbm": of mindstudio_profiler_output/hbm_<time>.csv */
    const char *documented_file; /* its name in the documented dialect, when it is another one */
    const char *about;           /* one line for the README.txt beside it */
    /* Fills a table whose first column is Device_id; no rows: no file. False: see e. */
    bool (*build)(const struct export *x, struct table *out, struct error *e);
};

struct track {
    const char *process;  /* the word in a -reports file: "hbm" */
    const char *own_file; /* it is also written to a file of this name by itself; NULL: it is not */
    bool (*write)(const struct export *x, struct trace *t, struct error *e);
};

struct db_writer {
    bool (*write)(const struct export *x, struct db *db, struct error *e);
};

#endif
