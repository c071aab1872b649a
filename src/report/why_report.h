/* SPDX-License-Identifier: Apache-2.0 */
/* why_report.h - the answer of `ascope why` as text and as JSON. */
#ifndef ASCOPE_REPORT_WHY_REPORT_H
#define ASCOPE_REPORT_WHY_REPORT_H

#include <jansson.h>

#include "answers/judge/causes.h"
#include "answers/judge/job_steps.h"
#include "answers/serving/request_causes.h"
#include "report/advise_report.h"
#include "report/term.h"

/* Of an inference engine: nothing of others. */
struct serving_answer {
    struct engine_use engine;
    struct requests requests;
    const struct request *request;  /* that was asked for; NULL: none was, or it is not in this recording */
    struct request_causes causes;   /* of it */
    uint64_t n_replayed, n_unknown; /* kernels of replayed graphs; those whose capture nobody watched */
    double unknown_share;           /* of the time of such kernels */
};

struct why_report {
    const struct run_member *rank;
    size_t n_ranks, top;
    const struct job_choice *choice;
    const struct explained_run *explained; /* with the step that was asked for, or the only one */
    const struct step_use *use;            /* of the rank that is explained, as is the advice */
    const struct serving_answer *serving;  /* of that rank */
    const struct advise_report *advice;
    struct arena *mem; /* for sentences */
};

void why_print(const struct term *t, const struct why_report *r);
json_t *why_json(const struct why_report *r); /* NULL: no memory */

#endif
