/* SPDX-License-Identifier: Apache-2.0 */
/* modes.h - registry: what `ascope cluster` computes: a table of modes, each fed with one rank after the other.
 *
 * A mode keeps only what it compares between ranks, so that a job of any size streams through it. It gets the ranks in
 * ascending order; then finish() hands over tables, which are written as csv, JSON or into cluster_analysis.db
 * (results.h). A mode that looks at single tasks of a few ranks loads those again (rank_device.c).
 */
#ifndef ASCOPE_CLUSTER_MODES_H
#define ASCOPE_CLUSTER_MODES_H

#include "cluster/rank/rank_summary.h"
#include "cluster/results/results.h"

struct cluster_options {
    const char *mode;
    bool wants_text, wants_db, csv_is_safe;
    bool has_step;
    int64_t step;     /* STEP_TIME.id */
    int64_t rank_id;  /* --rank-id */
    size_t top;       /* --top; 0: the default of the mode */
    const char *base; /* --base: another job, or its results */
    const char *parallel_types;
    bool excludes_op_name;
    bool is_all_modes; /* -m all-modes: that a mode has no data is not reported as a loss */
};

struct job_report; /* verdicts.h */
struct job;        /* job.h: the ranks that there are, and how to read them */

struct mode;
struct mode_context {
    const struct mode *mode;
    const struct cluster_options *options;
    struct job *job;
    const struct rank
        *rank; /* the one that add() gets the summary of, as far as it was read; NULL: only a summary is there */
    unsigned rank_parts; /* what was read of it */
    struct names *names;
    struct arena *mem;             /* of the mode: what lives until the tables are written */
    struct arena *scratch;         /* of one add(): freed when it returns */
    struct results_writer *writer; /* for tables that are larger than memory: their rows may go there as they come */
    struct job_report *report;     /* for the modes verdicts and overview; it outlives the modes */
    struct error *e;               /* why add() has failed, unless memory ran out */
};

struct mode {
    const char *name;       /* "slow_rank" */
    const char *class_name; /* folder of its csv files: "SlowRankAnalysis" */
    const char *about;
    unsigned needs;                         /* enum rank_part: ranks without it are left out, and reported */
    unsigned uses;                          /* enum rank_part: read if the rank has it */
    void *(*begin)(struct mode_context *c); /* the state; NULL: no memory */
    bool (*add)(void *state, struct mode_context *c, const struct rank_summary *s);
    bool (*finish)(void *state, struct mode_context *c, struct results *out, struct error *e);
    unsigned single;  /* enum rank_part: what add() asks rank_reload() for */
    unsigned variant; /* for functions that serve several modes */
    bool streams;     /* add() writes rows, so that the mode cannot be postponed and begin again */
    bool is_part;     /* another mode has all of its results: all-modes leaves it out */
    bool is_base;     /* it removes the results of an earlier run first */
};

extern const struct mode *const modes[]; /* a row for each; NULL behind the last */

const struct mode *mode_find(const char *name, size_t len); /* NULL: there is none */

/* Every mode, in the order of the help. ROW(NAME) is mode_NAME of cluster/modes/mode_NAME.c, or of the file that stands
 * behind it; the first comment of that file describes it. */
#define MODES(ROW)                                                                                                     \
    ROW(all) /* mode_base.c */                                                                                         \
    ROW(verdicts)                                                                                                      \
    ROW(communication_time)      /* mode_base.c */                                                                     \
    ROW(communication_matrix)    /* mode_base.c */                                                                     \
    ROW(communication_group_map) /* mode_base.c */                                                                     \
    ROW(cluster_time_summary)                                                                                          \
    ROW(cluster_time_compare_summary) /* mode_cluster_time_summary.c */                                                \
    ROW(slow_rank)                                                                                                     \
    ROW(slow_link)                                                                                                     \
    ROW(free_analysis)                                                                                                 \
    ROW(communication_bottleneck)                                                                                      \
    ROW(compute_op_sum)                                                                                                \
    ROW(hccl_sum)                                                                                                      \
    ROW(cann_api_sum)                                                                                                  \
    ROW(mstx_sum)                                                                                                      \
    ROW(freq_analysis)                                                                                                 \
    ROW(computational_op_masking)                                                                                      \
    ROW(p2p_pairing)                                                                                                   \
    ROW(pp_chart)                                                                                                      \
    ROW(mstx2commop)                                                                                                   \
    ROW(ep_load_balance)                                                                                               \
    ROW(module_statistic)                                                                                              \
    ROW(operator_mfu)                                                                                                  \
    ROW(export_summary)                                                                                                \
    ROW(communication_time_sum)   /* mode_base.c */                                                                    \
    ROW(communication_matrix_sum) /* mode_base.c */

#define MODE_DECLARE(name) extern const struct mode mode_##name;
MODES(MODE_DECLARE)
#undef MODE_DECLARE

#endif
