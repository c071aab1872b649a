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

/* mode_base.c: steps and communication of all ranks: the modes all, communication_time and communication_matrix, and
 * the recipes that write some of their tables. */
extern const struct mode mode_all, mode_communication_time, mode_communication_matrix, mode_communication_group_map,
    mode_communication_time_sum, mode_communication_matrix_sum;

/* mode_cann_api_sum.c: durations of the calls of the runtime by name, on each rank and over all of them. */
extern const struct mode mode_cann_api_sum;

/* mode_cluster_time_summary.c: what the time of each step of each rank was spent on, and the same against another job. */
extern const struct mode mode_cluster_time_summary, mode_cluster_time_compare_summary;

/* mode_communication_bottleneck.c: why the longest collectives of a rank took so long: which rank came late to them,
 * and what it did longer than the one that waited most. */
extern const struct mode mode_communication_bottleneck;

/* mode_computational_op_masking.c: how much of the communication of each kind of group is hidden behind kernels. */
extern const struct mode mode_computational_op_masking;

/* mode_compute_op_sum.c: durations of computing operators by type over all ranks, and by type and name on each. */
extern const struct mode mode_compute_op_sum;

/* mode_ep_load_balance.c: tokens that each rank of a group of experts computed. */
extern const struct mode mode_ep_load_balance;

/* mode_export_summary.c: calls of the runtime and kernels of all ranks as text, for databases whose collections are
 * gone. */
extern const struct mode mode_export_summary;

/* mode_free_analysis.c: the longest times during which a rank neither computed nor communicated, and why. */
extern const struct mode mode_free_analysis;

/* mode_freq_analysis.c: ranks whose cores did not run at their usual clock. */
extern const struct mode mode_freq_analysis;

/* mode_hccl_sum.c: durations of collectives by type, over all ranks and on each, the longest ones, and who is in which
 * group. */
extern const struct mode mode_hccl_sum;

/* mode_module_statistic.c: operators and kernels of the modules of the network, on each rank. */
extern const struct mode mode_module_statistic;

/* mode_mstx2commop.c: communication operators from the ranges that the framework marks around them, for ranks without
 * collectives. */
extern const struct mode mode_mstx2commop;

/* mode_mstx_sum.c: durations of marks and ranges of the program: on the host, in the runtime and on the device. */
extern const struct mode mode_mstx_sum;

/* mode_operator_mfu.c: the share of the peak of their device that kernels reach with the operations that they have to
 * do. */
extern const struct mode mode_operator_mfu;

/* mode_pp_chart.c: forward and backward passes of the stages of a pipeline, for a chart. */
extern const struct mode mode_pp_chart;

/* mode_slow_link.c: collectives whose transfer took conspicuously long, and links that are slower than others of their
 * kind. */
extern const struct mode mode_slow_link;

/* mode_slow_rank.c: ranks that come late to collectives: those whose part of one is conspicuously short. */
extern const struct mode mode_slow_rank;

/* mode_verdicts.c: what is wrong with a job, and its critical path: tables, and the first screen of `ascope cluster`. */
extern const struct mode mode_verdicts;

#endif
