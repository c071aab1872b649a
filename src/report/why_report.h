/* SPDX-License-Identifier: Apache-2.0 */
/* why_report.h - the answer of `ascope why` as text and as JSON. */
#ifndef ASCOPE_REPORT_WHY_REPORT_H
#define ASCOPE_REPORT_WHY_REPORT_H

#include <jansson.h>

#include "answers/judge/job_steps.h"
#include "answers/judge/why.h"
#include "answers/serving/request_causes.h"
#include "report/advise_report.h"
#include "report/term.h"

/* A finding of the judge with its causes. */
struct why_finding {
    const struct slow *of; /* NULL: a step that was asked for, or the only one */
    uint32_t rank;         /* row of the rank on which it is explained */
    bool is_explained;
    struct why_answer answer;
    const struct step_profile *other; /* of a slow rank: what the usual step of the other one is spent on */
};

/* Of an inference engine: nothing of others. */
struct serving_answer {
    struct engine_use engine;
    struct requests requests;
    const struct request *request; /* that was asked for; NULL: none was, or it is not in this recording */
    struct request_causes causes;  /* of it */
};

struct why_report {
    const struct run_member *rank;
    size_t n_ranks, top;
    const struct job_choice *choice;
    const struct why_finding *finding; /* the largest, in the order of the judge */
    size_t n;
    const struct step_use *use;           /* of the rank that is explained, as is the advice */
    const struct serving_answer *serving; /* of that rank */
    const struct advise_report *advice;
    struct arena *mem; /* for sentences */
};

/* "longer runs"; is_host: there is no device */
const char *why_cause_words(enum step_cause cause, bool is_host, bool knows_waits);
void why_print(const struct term *t, const struct why_report *r);
json_t *why_json(const struct why_report *r); /* NULL: no memory */

#endif
