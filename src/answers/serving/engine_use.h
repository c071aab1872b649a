/* SPDX-License-Identifier: Apache-2.0 */
/* engine_use.h - what the iterations of an inference engine do on a rank: how many of each class, how long, tokens; how
 * regularly tokens are generated, which decodes wait behind a prompt, and what fills the time in which no iteration runs.
 *
 * Texts are in `mem`: the answer outlives the recording.
 */
#ifndef ASCOPE_ANSWERS_SERVING_ENGINE_USE_H
#define ASCOPE_ANSWERS_SERVING_ENGINE_USE_H

#include "answers/run/run_rank.h"

/* Numbers in ascending order: at least a share p of them is at most `at[p]`. */
struct quantiles {
    size_t n; /* 0: the others are 0 */
    double p50, p90, p99, most;
};
struct quantiles quantiles_of(double *v, size_t n); /* reorders them */

struct engine_class_use {
    size_t n;
    int64_t median_ns;
    double time_ns,
        share; /* of all of them; of the time from the begin of the first iteration to the end of the last one */
    double computing_share; /* of their time; on the host alone: in operators */
    uint64_t requests;      /* the median of those that tell; 0: none tells */
    uint64_t tokens;        /* in all */
    double tokens_per_s;    /* over the time of those that tell; 0: none tells */
};

/* Some time, by what the engine did in it. */
struct engine_phases {
    double ns; /* of all */
    size_t n;  /* the largest of them first; few */
    struct engine_phase {
        const char *name; /* phases.h */
        double ns;
    } * at;
};

struct engine_use {
    size_t n; /* 0: there are no such iterations, and nothing else is set */
    bool is_host;
    double span_ns;
    struct engine_class_use of[ITERATION_CLASSES];
    double between_ns; /* in which no iteration runs */
    int64_t median_between_ns;
    struct engine_phases between, idle; /* idle: of decodes and mixed iterations, in which the device does nothing; on
                                           the host alone outside of operators */
    struct quantiles interval; /* between decodes: from the end of one to that of the next one that goes on with its
                                  requests; ns */
    size_t n_behind;           /* of the intervals, those with a prompt in them */
    double behind_ns;          /* by how much these are longer than the others' median, in all */
    double longest_behind_ns;  /* the longest of them as a whole */
};

/* False: no memory. */
bool engine_use_find(struct engine_use *out, const struct step_series *s, const struct run_rank *q, struct arena *mem);

#endif
