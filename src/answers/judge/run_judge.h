/* SPDX-License-Identifier: Apache-2.0 */
/* run_judge.h - the steps of a run, joined over its ranks, what the judge finds in them, and each finding as a
 * sentence.
 *
 * The only way from steps to a verdict: analyse, export, why, advise, compare, cluster and the viewer call it, so that
 * they say the same of the same steps. Steps of different ranks belong together by name; where a rank has a name
 * several times, by the count of it. Everything is in `mem`; names are lent.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_RUN_JUDGE_H
#define ASCOPE_ANSWERS_JUDGE_RUN_JUDGE_H

#include "analyse/framework/steps/judge.h"
#include "analyse/framework/steps/step_layers.h"
#include "analyse/framework/steps/step_series.h"

/* Parts of a step that are judged by themselves. */
enum judged_part {
    JUDGED_COMPUTING, /* on the host alone: operators */
    JUDGED_EXPOSED,   /* communication that nothing overlaps: it may be waiting, and says nothing about the rank */
    JUDGED_FREE,      /* the rest: the device has nothing to do, or copies; on the host alone: outside operators */
    JUDGED_PARTS
};

struct rank_step {
    const char *name;
    int64_t begin_ns; /* only orders names that are no numbers */
    int64_t time_ns, part_ns[JUDGED_PARTS];
    bool is_catch_up;           /* step_series.h */
    struct iteration iteration; /* ITERATION_OTHER: no iteration of an inference engine */
};

/* What a rank does without the others: its step without communication. */
static inline int64_t rank_step_own_ns(const struct rank_step *s)
{
    return s->time_ns - s->part_ns[JUDGED_EXPOSED];
}

struct judged_rank {
    const char *name; /* "rank 3" */
    size_t n;
    const struct rank_step *step;
    uint32_t peers; /* ranks with the same number do the same work, and are compared */
};

struct judged_run {
    size_t n_ranks, n; /* steps: by number, others by begin */
    const struct judged_rank *rank;
    const char **step;           /* their names */
    struct iteration *iteration; /* of steps; NULL: none is one of an inference engine */
    const struct rank_step **at; /* [rank * n + step]; NULL: the rank does not have it */
    struct judgement of;         /* rows of ranks and steps are those of this struct */
    bool is_host;                /* no rank has a device */
    const char *word;            /* "step", "iteration" */
};

/* `word` and `is_host` are for the sentences. False: no memory. */
bool run_judge(struct judged_run *out, const struct judged_rank *rank, size_t n, const char *word, bool is_host,
               struct arena *mem);

/* The only step of a rank, in a series: with the names of `names`. */
bool run_judge_series(struct judged_run *out, const struct step_series *s, const struct names *names,
                      struct arena *mem);
/* The steps of a series, in `mem`; NULL: no memory. */
struct rank_step *rank_steps_of(const struct step_series *s, const struct names *names, struct arena *mem);

/* "rank 2 is slow in each step: …", with numbers. NULL: no memory. */
const char *run_finding_text(const struct judged_run *r, const struct slow *f, struct arena *mem);
/* If there is no finding besides the start-up: why nothing is called slow. NULL: no memory. */
const char *run_nothing_text(const struct judged_run *r, struct arena *mem);
/* "step 14", "steps 12-19", "every 6th step from 3", "each step": where a finding is. */
const char *run_finding_where(const struct judged_run *r, const struct slow *f, struct arena *mem);

/* "decode": of its steps, in the run of an inference engine; NULL: it is about no class. */
const char *run_finding_class(const struct judged_run *r, const struct slow *f);

/* The rows of a rank's steps that a finding is about, at most `most`; of a drift the later half, against the earlier
 * one. Returns their number. */
size_t run_finding_rows(const struct judged_run *r, uint32_t rank, const struct slow *f, uint32_t *row, size_t most);
/* Kinds of time that are not compared (bits of spent_kind): a drift of one part may be small beside what the others
 * vary by. */
unsigned run_finding_without(const struct slow *f);

extern const char *const slow_shape_keys[SLOW_SHAPES]; /* "once": for JSON */
extern const char *const judged_part_keys[JUDGED_PARTS];

/* The findings that are no start-up. */
size_t run_findings(const struct judged_run *r);

#endif
