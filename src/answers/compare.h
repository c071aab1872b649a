/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two runs against each other: what changed, by how much, where, and whether that is more than noise.
 *
 * The runs are compared rank by rank: a rank of A with the rank of B of the same number, or in order where they have none. A
 * value of the whole is the mean over the pairs of ranks. Values are those of a usual step, and their noise comes from the spread
 * over the usual steps of both sides: a difference is real if it is beyond what chance explains in one of 10,000 comparisons
 * (Welch's t-test), and a hundredth of the larger value at least. With fewer than three usual steps on a side the noise is
 * unknown, and nothing is called real.
 */
#ifndef ASCOPE_ANSWERS_COMPARE_H
#define ASCOPE_ANSWERS_COMPARE_H

#include "answers/run_measures.h"
#include "base/error.h"

enum difference_state { DIFFERENCE_UNKNOWN, DIFFERENCE_NOISE, DIFFERENCE_REAL };

struct difference {
    double a, b;     /* per step */
    double noise_ns; /* what chance explains of b - a; with DIFFERENCE_UNKNOWN 0 */
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
    uint32_t pair;  /* where it changed most */
    double pair_ns; /* and by how much there */
    double runs_ns; /* of the difference: because of more or fewer runs; the rest because each took longer or shorter */
};

/* A step of a pair of ranks: the longest over the ranks. */
struct compared_step {
    name_id a, b; /* NAME_EMPTY: there is none */
    int64_t a_ns, b_ns;
    bool a_is_slow, b_is_slow;
};

struct compared_pair {
    const struct run_rank *a, *b;
    struct difference part[RUN_PARTS];
};

struct comparison {
    size_t n_pairs;
    struct compared_pair *pair;
    size_t n_alone_a, n_alone_b; /* ranks without a partner */
    bool is_across; /* of devices of different kinds: kernels have other names, and operators are compared instead */
    bool is_noise_known;
    struct difference part[RUN_PARTS];
    int64_t memory_a[2], memory_b[2]; /* allocated, reserved: the most over the ranks; -1: not recorded */
    size_t n;                         /* by kind; in a kind real ones first, then the largest difference first */
    struct compared_row *row;
    size_t first[MEASURE_KINDS + 1], n_real[MEASURE_KINDS];
    size_t n_steps;
    struct compared_step *step;
    struct names *names;
};

/* False: no memory, or nothing in common, with the reason in e. The ranks must outlive it. */
bool compare_runs(struct comparison *out, struct run_rank *a, size_t n_a, struct run_rank *b, size_t n_b,
                  struct names *names, struct arena *mem, struct error *e);

/* What changed, over the kinds that answer it: rows, those that are real (or, where noise is unknown, all that differ), the
 * largest difference first. *n of them, in mem; NULL: no memory. */
const struct compared_row **compare_changes(const struct comparison *c, size_t *n, struct arena *mem);

#endif
