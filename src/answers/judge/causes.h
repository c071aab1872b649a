/* SPDX-License-Identifier: Apache-2.0 */
/* causes.h - the findings about a run with their causes, in numbers and in words.
 *
 * The only way from a finding to its cause: analyse, export, why, advise and the viewer call it, so that they give the
 * same reason for the same steps, in the same words.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_CAUSES_H
#define ASCOPE_ANSWERS_JUDGE_CAUSES_H

#include "answers/judge/run_judge.h"
#include "answers/judge/why.h"

struct explained {
    const struct slow *of;            /* NULL: a step that was asked for, or the only one */
    uint32_t rank;                    /* row of the rank on which it is explained */
    uint32_t step;                    /* if `of` is NULL: row of the step in the series of that rank, or NO_ROW */
    const struct step_profile *other; /* of a slow rank: what the usual step of the other one is spent on */
    bool is_explained;
    struct why_answer answer;
};

/* A run that was judged: the first findings, in the order of the judge, with their causes. */
struct explained_run {
    const struct judged_run *run;
    struct explained *finding;
    size_t n;
};

/* Explains those of `rank`, whose steps are `s`; each with the largest `most` items. False: no memory. */
bool causes_find(struct explained_run *x, uint32_t rank, const struct step_series *s, const struct run_rank *q,
                 size_t most, struct arena *mem);

/* The same of a run of one rank: judges its steps, and explains the first findings, at most `most`. `run` is filled.
 * False: no memory. */
bool causes_of_series(struct explained_run *out, struct judged_run *run, const struct step_series *s,
                      const struct run_rank *q, size_t most, struct arena *mem);

/* The explanation of a finding; NULL: it was not explained. */
const struct explained *causes_of(const struct explained_run *x, const struct slow *f);
/* "waiting for data +18.897 ms (100 %): next": its largest causes in a line, each with what most of it is. NULL: it was
 * not explained, or there is no large one. */
const char *causes_text(const struct explained_run *x, const struct slow *f);

#endif
