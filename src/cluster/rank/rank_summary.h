/* SPDX-License-Identifier: Apache-2.0 */
/* rank_summary.h - what the questions about a job need of one rank: some 50 kB for 20,000 kernels, exact.
 *
 * The unit of work over many machines: rank_summarise() makes it where the data of a rank lies, a file carries it
 * (summary_file.h), and the modes of `ascope cluster` read nothing else, one rank after the other. What is kept whole
 * is what is compared between ranks: steps, collectives, the tables of communication, marks. Of everything else there
 * are sums and sorted durations by name and step, from which counts, sums and quantiles over any set of ranks are
 * exact.
 */
#ifndef ASCOPE_CLUSTER_RANK_RANK_SUMMARY_H
#define ASCOPE_CLUSTER_RANK_RANK_SUMMARY_H

#include "cluster/rank/rank.h"

/* Durations of kernels, grouped by name, type, shapes and step; ascending in each group. */
struct summary_runs {
    size_t n; /* groups, sorted by their texts, then by step */
    name_id *name, *op_type, *task_type, *input_shapes;
    uint32_t *step; /* row of steps; NO_ROW: in none */
    size_t *first;  /* n + 1 positions in ns */
    int64_t *ns;
};

/* The collectives of the rank, by begin, with what happened before and during each. */
struct summary_collectives {
    struct rank_collectives ops; /* rows as there */
    uint32_t *step;              /* row of steps, by the begin of its launch; NO_ROW: in none */
    int64_t *exposed_ns;         /* the part of its time in which no kernel ran */
    /* What the device did between the end of the previous collective (or the begin of the step) and the begin of this
     * one. */
    int64_t *computing_ns, *copying_ns, *free_ns;
    name_id *longest; /* the name of the operators that took most of it; NAME_EMPTY: none */
    int64_t *longest_ns;
};

/* Sums for each step, and for what is in no step. */
struct summary_step_sums {
    size_t n;                           /* rows as in steps, then one for what is in no step */
    int64_t *copy_ns, *copy_exposed_ns; /* see summary_copies.h */
    int64_t *last_collective_end_ns, *tail_computing_ns,
        *tail_free_ns; /* tail: after the last collective of the step */
};

struct summary_calls { /* by (name, step); for each name also a row with NO_ROW, for the whole recording */
    size_t n;
    name_id *name;
    uint32_t *step;
    int64_t *count, *total_ns, *min_ns, *max_ns;
    double *q1_ns, *median_ns, *q3_ns, *stdev_ns; /* stdev of all, not of a sample */
};

enum gap_reason { GAP_TASKS, GAP_NO_NEIGHBOUR, GAP_NO_OPERATOR, GAP_FRAMEWORK, GAP_BETWEEN_LAUNCHES, GAP_LAUNCH };
enum { SUMMARY_GAPS = 100 };
struct
    summary_gaps { /* the longest during which nothing ran, the longest first: at most SUMMARY_GAPS in all and in each
                      step */
    size_t n;
    uint32_t *step;
    int64_t *begin_ns, *end_ns, *framework_idle_ns, *runtime_idle_ns; /* INT64_MIN: not known */
    enum gap_reason *reason;
    int64_t *reason_ns;
    name_id *tasks; /* GAP_TASKS: "2 MEMCPY_ASYNC, 1 …" */
};

struct summary_marks { /* with the time of the task and of the operator of the same connection; INT64_MIN: none */
    struct rank_marks marks;
    int64_t *device_begin_ns, *device_end_ns;
    int64_t *framework_ns; /* begin of the operator */
};

/* Intervals in which collectives ran and no kernel did, ascending and apart from each other. The exposed time of any
 * set of collectives is what it has in common with these. */
struct summary_exposed {
    size_t n;
    int64_t *begin_ns, *end_ns;
};

struct rank_summary {
    struct rank_identity identity;
    unsigned has;  /* enum rank_part of what it was made of */
    int exit_code; /* of the analysis of the rank */
    struct rank_steps steps;
    struct rank_step_trace step_trace;
    struct rank_step_trace
        own_steps; /* divided by our rule (analyse/framework/steps/step_bounds.h); none: its tasks or steps are not
                      known */
    struct rank_comm_time comm_time;
    struct rank_comm_bandwidth comm_bandwidth;
    struct rank_comm_matrix comm_matrix;
    struct summary_collectives collectives;
    struct summary_runs kernels;
    struct summary_step_sums sums;
    struct summary_calls calls;
    struct summary_gaps gaps;
    struct summary_marks marks;
    struct summary_exposed exposed;
    size_t n_mhz;
    int64_t *mhz; /* distinct clocks of the cores, ascending */
    struct names *names;
    struct arena *mem;
};

/* The times of the steps by which ranks and steps are judged: ours, or where only text results are known those of the
 * vendor. */
static inline const struct rank_step_trace *summary_step_times(const struct rank_summary *s)
{
    return s->own_steps.n > 0 ? &s->own_steps : &s->step_trace;
}

#endif
