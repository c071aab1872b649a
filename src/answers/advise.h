/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - what to change to make a job faster: a table of checks, each with evidence and an estimated gain.
 *
 * A check looks at one device of a collection and gives a number: by how much a step would be shorter. What is below three hundredths
 * of a step is no finding. Checks are rows of `advise_checks`; what one needs and was not recorded is reported with the way to record
 * it. Gains of several checks may be about the same time: they do not add up.
 *
 * Texts are copied into `mem`: findings outlive the collection that they are about.
 */
#ifndef ASCOPE_ANSWERS_ADVISE_H
#define ASCOPE_ANSWERS_ADVISE_H

#include "analyse/framework/step_division.h"
#include "answers/job_steps.h"
#include "answers/why.h"

/* What checks look at. */
struct advise_subject {
    const struct profile *p;
    const struct device *d; /* NULL: the host alone was recorded */
    const struct collection *collection;
    struct step_series series;
    struct step_profile mean; /* of all steps, slow or not */
    double step_ns;           /* its time; without steps, all that was recorded */
    size_t n_steps;
    const char *per; /* what times are of: "a step", "in all" */
    bool is_gpu;
    double *alone_ns; /* by task: what it adds to the time in which the device computes; 0: it is no operator */
    struct arena *mem, *spare; /* of the findings, and of what a check needs meanwhile */
};

enum check_state {
    CHECK_FOUND,
    CHECK_FINE,
    CHECK_UNRECORDED, /* what it needs was not recorded */
    CHECK_ELSEWHERE,  /* not for this kind of device, or not for a single rank */
    CHECK_STATES
};
const char *check_state_key(enum check_state state); /* "found", for machines */

enum { EVIDENCE_MOST = 5 };
struct evidence {
    const char *text; /* may hold names out of the collection */
    double ns;        /* what it contributes to the gain */
    struct why_place place;
};

struct finding {
    enum check_state state;
    double gain_ns;    /* a step */
    const char *found; /* one sentence with numbers */
    size_t n;
    struct evidence evidence[EVIDENCE_MOST]; /* the largest first */
};

struct check {
    const char *key, *title;
    const char *needs, *gpu_needs;   /* how to record what it needs; NULL: as on other devices */
    const char *change, *gpu_change; /* what to do; NULL: it is not for such devices */
    /* Fills the finding; it is one only if the gain is large enough, which the caller looks at. NULL: of the job as a whole. */
    enum check_state (*run)(const struct advise_subject *s, struct finding *out);
};
extern const struct check advise_checks[];
extern const size_t n_advise_checks;

/* What is known of one rank. */
struct advise_rank {
    struct job_rank rank;
    struct finding *finding; /* of each check */
    double step_ns;
    bool is_gpu;
};

/* All checks of one device: fills the findings, for which there is room, and step_ns and is_gpu. False only without memory. */
bool advise_device(struct advise_rank *out, const struct profile *p, const struct device *d,
                   const struct collection *collection, struct arena *mem);

/* The findings of a job: of each check the one with the largest gain. */
struct advice {
    const struct check *check;
    struct finding finding;
    uint32_t rank;  /* row of the ranks; NO_ROW: none has it */
    size_t n_ranks; /* that have it */
    double share;   /* of the step of that rank; 1 is all of it */
    bool is_gpu;    /* the words for its device */
};

/* In the order of the report: findings by gain, then the others as in the table. False only without memory. */
bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);

#endif
