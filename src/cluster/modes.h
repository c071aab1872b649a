/* SPDX-License-Identifier: Apache-2.0 */
/* modes.h - what `ascope cluster` computes: a table of modes, each fed with one rank after the other.
 *
 * A mode keeps only what it compares between ranks, so that a job of any size streams through it. Ranks come in ascending
 * order; then finish() hands over tables, which are written as csv, JSON or into cluster_analysis.db
 * (results.h). A mode that looks at single tasks of a few ranks loads those again (cluster_rank()).
 */
#ifndef ASCOPE_CLUSTER_MODES_H
#define ASCOPE_CLUSTER_MODES_H

#include "cluster/results.h"
#include "cluster/rank_summary.h"

struct cluster_options {
    const char *mode;
    bool wants_text, wants_db, csv_is_safe;
    bool has_step;
    int64_t step;     /* STEP_TIME.id */
    int64_t rank_id;  /* --rank-id */
    size_t top;       /* --top; 0: as the mode has it */
    const char *base; /* --base: another job, or its results */
    const char *parallel_types;
    bool excludes_op_name;
    bool is_all_modes; /* modes without data are no loss */
};

struct job_report; /* verdicts.h */
struct job;        /* job.h: the ranks that there are, and how to read them */

struct mode;
struct mode_context {
    const struct mode *mode;
    const struct cluster_options *options;
    struct job *job;
    struct names *names;
    struct arena *mem;             /* of the mode: what lives until the tables are written */
    struct arena *scratch;         /* of one add(): given back when it returns */
    struct results_writer *writer; /* for tables that are larger than memory: their rows may go there as they come */
    struct job_report *report;     /* what the verdicts fill: it remains when the modes are gone */
    struct error *e;               /* why add() has failed, unless for lack of memory */
};

struct mode {
    const char *name;       /* "slow_rank" */
    const char *class_name; /* folder of its csv files: "SlowRankAnalysis" */
    const char *about;
    unsigned needs;                         /* enum rank_part: ranks without it are left out, and reported */
    unsigned uses;                          /* the same: read, if it is there */
    void *(*begin)(struct mode_context *c); /* the state; NULL: no memory */
    bool (*add)(void *state, struct mode_context *c, const struct rank_summary *s);
    bool (*finish)(void *state, struct mode_context *c, struct results *out, struct error *e);
    unsigned variant; /* for a function that serves several modes */
    bool streams;     /* add() writes rows: it cannot begin again */
    bool is_part;     /* another mode has all of it: all-modes leaves it out */
    bool is_base;     /* its results begin with an empty folder */
};

extern const struct mode *const modes[]; /* a row for each; NULL behind the last */

const struct mode *mode_find(const char *name, size_t len); /* NULL: there is none */

#endif
