/* SPDX-License-Identifier: Apache-2.0 */
/* iteration_use.h - what the iterations of an inference engine do on a rank: how many of each class, how long, tokens,
 * and what lies between. */
#ifndef ASCOPE_ANSWERS_JUDGE_ITERATION_USE_H
#define ASCOPE_ANSWERS_JUDGE_ITERATION_USE_H

#include "answers/judge/run_judge.h"

struct iteration_class_use {
    size_t n;
    int64_t median_ns;
    double time_ns,
        share; /* of all of them; of the time from the begin of the first iteration to the end of the last one */
    uint64_t requests;   /* the median of those that tell; 0: none tells */
    uint64_t tokens;     /* in all */
    double tokens_per_s; /* over the time of those that tell; 0: none tells */
};

struct iteration_use {
    size_t n; /* 0: there are no such iterations, and nothing else is set */
    double span_ns;
    struct iteration_class_use of[ITERATION_CLASSES];
    double between_ns; /* in which no iteration runs */
    int64_t median_between_ns;
};

/* False: no memory. */
bool iteration_use_find(struct iteration_use *out, const struct rank_step *step, size_t n, struct arena *mem);

#endif
