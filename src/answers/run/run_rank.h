/* SPDX-License-Identifier: Apache-2.0 */
/* run_rank.h - one rank of a run: a device of a collection or of a PROF directory, or a trace of torch.profiler.
 *
 * Its steps, and what their time was spent on, have the same form whatever it is. A view: it owns nothing.
 */
#ifndef ASCOPE_ANSWERS_RUN_RUN_RANK_H
#define ASCOPE_ANSWERS_RUN_RUN_RANK_H

#include "analyse/framework/steps/step_division.h"
#include "profile/chrome_trace.h"

struct run_rank {
    const struct profile *profile;       /* NULL: a trace */
    const struct device *device;         /* NULL: the host alone */
    const struct collection *collection; /* NULL: a PROF directory, or a trace */
    const struct chrome_trace *trace;    /* NULL: no trace */
    struct names *names;                 /* of its steps: the profile's, or a set for the trace */
    const struct known_waits *waits;     /* in collectives, for other ranks; NULL: they were not looked for */
    int64_t begin_ns;                    /* of the recording; INT64_MAX: unknown */
};

struct run_rank run_rank_of(const struct profile *p, const struct device *d, const struct collection *collection);
struct run_rank run_rank_of_trace(const struct chrome_trace *t, struct names *names);

/* False only without memory. A trace without steps has none in its series, as a collection's host has. */
bool run_rank_series(struct step_series *s, const struct run_rank *q, struct arena *mem);
bool run_rank_division(struct step_division *out, const struct step_series *s, const struct run_rank *q,
                       const uint32_t *wanted, size_t n_wanted, struct arena *mem);
bool run_rank_number(const struct run_rank *q, int64_t *rank); /* false: it has none */
bool run_rank_knows_waits(const struct run_rank *q);           /* in collectives: false: they may be transfer as well */
size_t run_rank_kernels(const struct run_rank *q);             /* in the whole recording; 0: unknown */
bool run_rank_lacks_python(const struct run_rank *q); /* Python functions could have been recorded, and were not */

#endif
