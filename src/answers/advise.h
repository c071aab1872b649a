/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - what to change to make a job faster: a table of checks, each with evidence and an estimated gain.
 *
 * A check examines one device of a collection and estimates by how much a step could become shorter: its gain. A gain below three hundredths
 * of a step is not reported. Checks are rows of `advise_checks`. If the data that a check needs was not recorded, the report says how to
 * record it. Several gains may concern the same time, so they do not add up.
 *
 * Texts are copied into `mem`: findings outlive the collection that they are about.
 */
#ifndef ASCOPE_ANSWERS_ADVISE_H
#define ASCOPE_ANSWERS_ADVISE_H

#include "analyse/framework/step_division.h"
#include "answers/job_steps.h"
#include "answers/why.h"

/* The data that checks examine. */
struct advise_subject {
    const struct profile *p;
    const struct device *d; /* NULL: the host alone was recorded */
    const struct collection *collection;
    struct step_series series;
    size_t n_startup;         /* slow steps at the begin of the recording, which do not count */
    int64_t from_ns;          /* begin of the steps that count; INT64_MIN: the whole recording counts */
    struct step_profile mean; /* of the steps that count, slow or not */
    double step_ns;           /* duration of the mean step; without steps, of the whole recording */
    size_t n_steps;           /* that count; at least 1 */
    const char *per;          /* what times refer to: "a step", or "in all" that was recorded */
    bool is_gpu;
    double *alone_ns; /* by task: time in which no earlier operator computes; 0: it is not an operator, or in no step */
    struct arena *mem, *spare; /* for the findings; for temporary data of the checks */
};

enum check_state {
    CHECK_FOUND,
    CHECK_FINE,
    CHECK_UNRECORDED, /* what it needs was not recorded */
    CHECK_ELSEWHERE,  /* it does not apply to this kind of device, or to a single rank */
    CHECK_STATES
};
const char *check_state_key(enum check_state state); /* "found": for JSON */

enum { EVIDENCE_MOST = 5 };
struct evidence {
    const char *text; /* may contain names from the collection, which are not trusted */
    double ns;        /* what it contributes to the gain */
    struct why_place place;
};

struct finding {
    enum check_state state;
    double gain_ns;    /* per step */
    const char *found; /* one sentence with numbers */
    size_t n;
    struct evidence evidence[EVIDENCE_MOST]; /* the largest first */
};

struct check {
    const char *key, *title;
    const char *needs, *gpu_needs;   /* how to record what it needs; gpu_needs NULL: as `needs` */
    const char *change, *gpu_change; /* what to do; gpu_change NULL: the check does not apply to GPUs */
    bool is_of_host;                 /* the check also applies to recordings without a device */
    /* Fills the finding. The caller compares the gain with the least share. NULL: the check concerns the job as a whole. */
    enum check_state (*run)(const struct advise_subject *s, struct finding *out);
};
extern const struct check advise_checks[];
extern const size_t n_advise_checks;

/* One rank with the findings of all checks. */
struct advise_rank {
    struct job_rank rank;
    struct finding *finding; /* one for each check */
    double step_ns;
    size_t n_startup; /* steps that do not count */
    bool is_gpu;
};

/* Runs all checks on one device: fills out->finding, which has room for all of them, step_ns, n_startup and is_gpu. False: no memory. */
bool advise_device(struct advise_rank *out, const struct profile *p, const struct device *d,
                   const struct collection *collection, struct arena *mem);

/* The result of a check for the whole job: the finding of the rank with the largest gain. */
struct advice {
    const struct check *check;
    struct finding finding;
    uint32_t rank;  /* row of that rank; NO_ROW: no rank has a finding */
    size_t n_ranks; /* ranks that have a finding */
    double share;   /* of the step of that rank, 0 to 1 */
    bool is_gpu;    /* which of the texts of the check apply */
};

/* Fills n_advise_checks results in the order of the report: findings by gain, then the others in the order of the table. False: no memory. */
bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);

#endif
