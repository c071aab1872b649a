/* SPDX-License-Identifier: Apache-2.0 */
/* mode_parts.h - registry: what several modes share. */
#ifndef ASCOPE_CLUSTER_MODES_MODE_PARTS_H
#define ASCOPE_CLUSTER_MODES_MODE_PARTS_H

#include <stdint.h>

#include "base/memory/arena.h"
#include "base/memory/names.h"
#include "base/text/table.h"
#include "cluster/modes.h"
#include "cluster/rank/rank.h"
#include "cluster/results/recipe.h"

/* dualpipe.c: what the passes of a stage of a DualPipeV schedule are, in their order: forward and backward passes of
 * micro-batches of both halves of a stage, some of them at the same time. */

struct dualpipe_pass {
    char name[32]; /* "3", "7b", "7w", "7F+13B", "logits" */
    int phase;     /* 0 warm-up … 6 cool-down */
};

struct dualpipe {
    LIST(struct dualpipe_pass) passes;
};

/* Of stage 0 … n_stages - 1; at least 2 n_stages micro-batches. False: no memory. */
bool dualpipe_stage(struct dualpipe *out, int64_t n_stages, int64_t n_batches, int64_t stage, struct arena *mem);

/* task_walk.c: the tasks of two ranks side by side, from the last backwards to where both were in step.
 *
 * Each task of the slow rank is paired with the next one of the same name on the fast rank, both going backwards. The
 * walk ends at the first pair that began within a millisecond; without such a pair the ranks never were in step. */

enum { WALK_IN_STEP_NS = 1000000 };

struct walk_task {
    int64_t begin_ns, ns;
    name_id name;
};

struct walk_tasks {
    LIST(struct walk_task) list;
};

struct walk_difference {
    name_id longest, latest; /* largest difference of durations, of begins */
    int64_t longest_ns, latest_ns;
};

/* shift_ns is added to times of the slow rank. Both lists are sorted. False: never in step, nothing to compare, or no
 * memory. */
bool task_walk(struct walk_tasks *slow, struct walk_tasks *fast, int64_t shift_ns, struct walk_difference *out,
               struct arena *mem);

/* mark_spans.c: what the marks of a rank measure: pairs of marks X_start and X_stop, and ranges.
 *
 * Marks of one thread and name pair up, the last start first. A range inside of another is called "outer::inner".
 * Pairs come first, in the order of their ends, then ranges in the order of their begins. */

struct mark_span {
    name_id name;
    int64_t begin_ns, end_ns;
    int64_t framework_ns; /* of a pair: between its operators; 0: unknown, or a range */
    int64_t device_ns;    /* of a range without a task: INT64_MIN; of a pair that has not both: 0 */
};

struct mark_spans {
    LIST(struct mark_span) list;
    size_t n_unpaired;
};

bool mark_spans_find(struct mark_spans *out, const struct rank_summary *r, const struct chosen_step *step,
                     struct arena *mem); /* false: no memory */

/* The step in which a mark begins: the row, or NO_ROW. */
uint32_t mark_step(const struct rank_summary *r, int64_t begin_ns);

/* us_text.c: microseconds as recipes print them inside of texts. */

/* A point of time, exact: "1717211066001392.62", "1717211066001392". NULL: no memory. */
const char *us_decimal(struct arena *mem, int64_t ns);

/* A duration as Python prints a number: "12.0", "-1.024". */
enum { US_TEXT = 32 };
void us_real_text(char to[US_TEXT], int64_t ns);

/* module_tree.c: operators and kernels of a rank by the modules of the network in which they ran.
 *
 * Modules are ranges of the domain "Module". Those of the backward pass are made up from the operators that belong to
 * operators of the forward pass. An operator belongs to the innermost module that contains it; kernels belong to the
 * operator that launched them. */

/* An operator of a module: the same one in the same place, with the same kernels, over all runs of the module. */
struct module_stat {
    name_id parent, module, op, kernels; /* "encoder/layer", "[Backward]attention", "aten::mm", "MatMul, Add" */
    uint32_t place;                      /* in its module */
    uint32_t sequence;                   /* which sequence of operators the module ran */
    uint64_t count;
    int64_t total_ns, begin_ns;   /* of kernels; of the first operator */
    size_t first_value, n_values; /* rows of values: one for each of its kernels */
};

/* The mean of what is above 0, of the kernel in one place over all runs. */
struct module_value {
    double sum;
    uint64_t n;
};

struct module_stats {
    LIST(struct module_stat) list; /* by begin */
    LIST(struct module_value) values;
};

/* value: one for each task of the rank, or NULL. False: no memory. */
bool module_stats_find(struct module_stats *out, const struct rank *r, const double *value, struct arena *mem);

/* mode_p2p_pairing.c: which send belongs to which receive.
 *
 * Both get the same id: the last digits of the group, sender and receiver as ranks in the group, and the sequence
 * number between these two. */

/* One send or receive of a rank. */
struct p2p_op {
    size_t row;         /* of its collectives */
    const char *digits; /* of its group in its name, lent */
    size_t n_digits;
    bool is_send;
    int64_t from, to; /* ranks in the group; below 0: unknown */
    uint32_t n;       /* how many of that direction came before it in the group */
};

struct p2p_ops {
    LIST(struct p2p_op) list; /* by begin */
};

bool p2p_find(struct p2p_ops *out, const struct mode_context *c, const struct rank_summary *r,
              struct arena *mem); /* false: no memory */

/* The table of all ranks; all zeros: empty. */
struct p2p_pairs {
    struct table_sink *sink;
    size_t n_unknown; /* operators whose peer is not known */
};
bool p2p_pairs_add(struct p2p_pairs *p, const struct mode_context *c,
                   const struct rank_summary *r); /* false: no memory, or see c->e */

#endif
