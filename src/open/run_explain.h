/* SPDX-License-Identifier: Apache-2.0 */
/* run_explain.h - the causes of what the judge found in a run: each finding is explained on the rank that it is about,
 * which is read again unless it is still open.
 */
#ifndef ASCOPE_OPEN_RUN_EXPLAIN_H
#define ASCOPE_OPEN_RUN_EXPLAIN_H

#include "answers/judge/causes.h"
#include "open/run_read.h"

struct explain_request {
    size_t top; /* findings that are explained, and items of each */
    /* Looks at the rank of the choice for more. False: no memory. NULL: nothing more is wanted. */
    bool (*look)(void *context, const struct run_rank *q);
    void *context;
};

/* Behind the findings there is the step that was asked for, or the only one. False: a rank could not be read, or no
 * memory; see e. */
bool run_explain(struct explained_run *out, struct run *run, const struct job_choice *c,
                 const struct explain_request *q, struct arena *mem, struct error *e);

#endif
