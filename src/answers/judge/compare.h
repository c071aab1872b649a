/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two sides against each other: what changed, by how much, where, and whether that is more than noise.
 *
 * A side is one run or several: recordings of the same program. They are compared rank by rank: the ranks of all runs
 * that have the same number, or in order if there are no numbers. A value of a run is the mean over its ranks, a value
 * of a side the mean over its runs. Values are those of a usual step. What chance explains of a difference is in
 * difference.h. One is called real if chance exceeds it in at most one of 10,000 comparisons, or in one of a hundred in
 * which anything at all is called real, whichever is rarer; and if it is at least a hundredth of the larger value. With
 * fewer than three usual steps in a run, and fewer than two runs on each side, chance is unknown, and nothing is called
 * real.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_COMPARE_H
#define ASCOPE_ANSWERS_JUDGE_COMPARE_H

#include "answers/judge/difference.h"
#include "answers/run/run_measures.h"
#include "base/text/error.h"

/* A recording of all ranks. */
struct measured_run {
    const char *name; /* as given */
    size_t n;
    struct measured_rank *rank; /* sorted by compare_runs() */
};

/* Sums over all ranks and runs of a side, and over the whole recordings. */
struct compared_side {
    uint64_t n;
    double total_ns, min_ns, max_ns, runs; /* runs: in a step, mean over ranks and runs */
};

struct compared_row {
    enum measure_kind kind;
    name_id name, detail;
    struct compared_side a, b;
    struct difference difference;
    uint32_t pair;  /* the rank on which it changed most */
    double pair_ns; /* the change on that rank */
    double runs_ns; /* part of the difference that is due to more or fewer runs; the rest: longer or shorter runs */
};

/* A step of the first run of A and the one at the same position in that of B, each on the rank that takes longest for
 * it. */
struct compared_step {
    name_id a, b; /* NAME_EMPTY: there is none */
    int64_t a_ns, b_ns;
    bool a_is_slow, b_is_slow;
};

/* The same rank of all runs. */
struct compared_pair {
    const struct measured_rank *a, *b;   /* of the first run of each side */
    const struct measured_rank **of_run; /* by run: those of A, then those of B */
    struct difference part[RUN_PARTS];
};

/* A class of iterations on both sides, on the first rank of each run. */
struct compared_class {
    size_t n[2];
    double median_ns[2], tokens_per_s[2]; /* 0: unknown */
};

struct comparison {
    size_t n_a, n_b;                /* runs */
    const struct measured_run *run; /* those of A, then those of B */
    size_t n_pairs;
    struct compared_pair *pair;
    size_t n_alone_a, n_alone_b; /* ranks that are not in all runs, counted in each run */
    bool is_across; /* devices of different kinds, whose kernels have different names: operators are compared instead */
    enum iteration_class alike; /* the only iterations that count as usual: ITERATION_OTHER: all steps are alike */
    double alike_size;          /* and of this size; 0: of any */
    size_t n_alike;             /* of these, in the run that has fewest */
    struct compared_class of_class[ITERATION_CLASSES];
    bool is_noise_known;
    struct difference part[RUN_PARTS];
    struct chance part_chance[RUN_PARTS];
    int64_t memory_a[2], memory_b[2]; /* allocated, reserved: the most over ranks and runs; -1: not recorded */
    size_t n;                         /* rows, sorted by kind; in a kind real ones first, then by falling difference */
    struct compared_row *row;
    size_t first[MEASURE_KINDS + 1], n_real[MEASURE_KINDS];
    size_t n_steps;
    struct compared_step *step;
    struct names *names;
};

/* `run`: n_a runs of A, then n_b of B. False: no memory, or nothing in common, with the reason in e. The runs must
 * outlive it. */
bool compare_runs(struct comparison *out, struct measured_run *run, size_t n_a, size_t n_b, struct names *names,
                  struct arena *mem, struct error *e);

/* The answer to what changed: *n rows of the kinds that explain a step, by falling difference. Only real differences,
 * or, if the noise is unknown, all of them. The list is in mem; NULL: no memory. */
const struct compared_row **compare_changes(const struct comparison *c, size_t *n, struct arena *mem);

#endif
