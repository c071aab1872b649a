/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two runs against each other: what changed, by how much, where, and whether that is more than noise.
 *
 * The runs are compared rank by rank: a rank of A with the rank of B that has the same number, or in order if there are no numbers. A value of
 * the whole run is the mean over the pairs of ranks. Values are those of a usual step. Their noise is computed from the spread over the
 * usual steps of both sides. A difference is called real if chance exceeds it in at most one of 10,000 comparisons (Welch's t-test), and
 * if it is at least a hundredth of the larger value. With fewer than three usual steps on a side the noise is unknown, and nothing is
 * called real.
 */
#ifndef ASCOPE_ANSWERS_COMPARE_H
#define ASCOPE_ANSWERS_COMPARE_H

#include "answers/run_measures.h"
#include "base/error.h"

enum difference_state { DIFFERENCE_UNKNOWN, DIFFERENCE_NOISE, DIFFERENCE_REAL };

struct difference {
    double a, b;     /* per step */
    double noise_ns; /* the part of b - a that chance can explain; 0 with DIFFERENCE_UNKNOWN */
    enum difference_state state;
};

/* Sums over all ranks of a side, and over the whole recording. */
struct compared_side {
    uint64_t n;
    double total_ns, min_ns, max_ns, runs; /* runs: in a step, mean over the ranks */
};

struct compared_row {
    enum measure_kind kind;
    name_id name, detail;
    struct compared_side a, b;
    struct difference difference;
    uint32_t pair;  /* the pair of ranks on which it changed most */
    double pair_ns; /* the change on that pair */
    double runs_ns; /* part of the difference that is due to more or fewer runs; the rest: longer or shorter runs */
};

/* A step of A and the one at the same position in B, each on the rank that takes longest for it. */
struct compared_step {
    name_id a, b; /* NAME_EMPTY: there is none */
    int64_t a_ns, b_ns;
    bool a_is_slow, b_is_slow;
};

struct compared_pair {
    const struct measured_rank *a, *b;
    struct difference part[RUN_PARTS];
};

struct comparison {
    size_t n_pairs;
    struct compared_pair *pair;
    size_t n_alone_a, n_alone_b; /* ranks without a partner */
    bool is_across; /* devices of different kinds, whose kernels have different names: operators are compared instead */
    bool is_noise_known;
    struct difference part[RUN_PARTS];
    int64_t memory_a[2], memory_b[2]; /* allocated, reserved: the most over the ranks; -1: not recorded */
    size_t n;                         /* rows, sorted by kind; in a kind real ones first, then by falling difference */
    struct compared_row *row;
    size_t first[MEASURE_KINDS + 1], n_real[MEASURE_KINDS];
    size_t n_steps;
    struct compared_step *step;
    struct names *names;
};

/* False: no memory, or nothing in common, with the reason in e. The ranks must outlive it. */
bool compare_runs(struct comparison *out, struct measured_rank *a, size_t n_a, struct measured_rank *b, size_t n_b,
                  struct names *names, struct arena *mem, struct error *e);

/* The answer to what changed: *n rows of the kinds that explain a step, by falling difference. Only real differences, or, if the noise is
 * unknown, all of them. The list is in mem; NULL: no memory. */
const struct compared_row **compare_changes(const struct comparison *c, size_t *n, struct arena *mem);

#endif
