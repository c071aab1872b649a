/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - what to change to make a job faster: a table of checks, each with evidence and an estimated gain.
 *
 * A check examines one rank, whatever recorded it (rank_spans.h), and estimates by how much a step could become
 * shorter: its gain. Checks are rows of `advise_checks`. A gain below the least share of a row is not reported. If the
 * data that a check needs was not recorded, the report says how to record it. Several gains may concern the same time,
 * so they do not add up.
 *
 * Texts are copied into `mem`: findings outlive the recording that they are about.
 */
#ifndef ASCOPE_ANSWERS_CHECKS_ADVISE_H
#define ASCOPE_ANSWERS_CHECKS_ADVISE_H

#include "answers/checks/checked_rank.h"
#include "answers/judge/job_steps.h"
#include "answers/run/step_use.h"
#include "answers/judge/why.h"

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
    const char *text; /* may contain names from the recording, which are not trusted */
    double ns;        /* what it contributes to the gain */
    struct why_place place;
};

struct finding {
    enum check_state state;
    double gain_ns;   /* per step, as a mean over those that it is about */
    double of_ns;     /* the mean of these steps */
    size_t n_of;      /* how many they are: the usual ones; all, of what is lost in some */
    double free_ns;   /* of the gain, time in which the device waits for the host; of CHECK_OF_FREE all of it */
    double *step_ns;  /* by row of the series: in which steps the time is lost; NULL: evenly. Of the spare arena */
    const char *once; /* the step in which nearly all of it is lost; NULL: there are several */
    const char
        *where; /* "once, in step 8", "in steps 11 and 19": nearly all of it is lost there; NULL: all over the run */
    bool is_verdict;   /* the judge finds these steps, or this rank, slow */
    double more_ns;    /* beside the gain in each step: lost in slow steps, in all */
    const char *more;  /* and where that is; NULL: nothing */
    const char *found; /* one sentence with numbers */
    size_t n;
    struct evidence evidence[EVIDENCE_MOST]; /* the largest first */
};

/* What a check is about. */
enum check_flags {
    CHECK_OF_HOST = 1,   /* it also applies to recordings without a device */
    CHECK_OF_FREE = 2,   /* it names a cause of the device's free time */
    CHECK_NO_TIME = 4,   /* it is about memory or settings: a finding needs no gain */
    CHECK_SMALL = 8,     /* a plain mistake: a hundredth of a step is worth the change */
    CHECK_OF_COMM = 16,  /* it names a cause of communication that nothing overlaps */
    CHECK_ALL_RANKS = 32 /* a finding must be one of all ranks: they wait for each other, and one may be late */
};

/* What it costs in the run. */
static inline double finding_lost_ns(const struct finding *f)
{
    return f->gain_ns * (double)f->n_of + f->more_ns;
}

struct advice;
struct advise_rank;
typedef bool check_of_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);

struct check {
    const char *key, *title;
    const char *needs[2];  /* on an NPU, on a GPU: how to record what it needs */
    const char *change[2]; /* what to do there; NULL: the check does not apply to it */
    unsigned flags;        /* enum check_flags */
    /* One of both. Fills the finding; the caller compares the gain with the least share. */
    enum check_state (*run)(const struct checked_rank *s, struct finding *out);
    check_of_job *run_job; /* of the job as a whole; decides all. False: no memory */
};
extern const struct check advise_checks[];
extern const size_t n_advise_checks;

/* How long operators take on the host of a rank, by name. */
struct host_speed {
    size_t n;
    struct host_operator {
        const char *name;
        double median_ns;
    } * at;
};

/* One rank with the findings of all checks. */
struct advise_rank {
    struct run_member rank;
    struct finding *finding;     /* one for each check; step_ns is NULL */
    double step_ns;              /* the mean of the steps that count: without those that are slow once */
    const bool *counts;          /* by step, as many as rank.n; NULL: all behind the start-up */
    double part_ns[SPENT_KINDS]; /* of the mean step */
    double requests_ns;          /* of them: the host of a server waited for requests */
    struct step_use use;         /* of a usual step */
    size_t n_steps, n_startup;   /* steps that count, and those that do not */
    double *comm_ns; /* by row of the series: collectives that nothing overlaps, without exchanges of two ranks */
    double *gc_ns;   /* by step: garbage collections; as many as rank.n; NULL: unknown */
    struct host_speed host;
    bool is_gpu, has_device, has_collectives;
    enum check_state without_collectives; /* what a check of collectives answers without any */
};

/* Runs all checks on one rank: fills out->finding, which has room for all of them, and all but `rank`. False: no
 * memory. */
bool advise_look_at(struct advise_rank *out, const struct run_rank *rank, struct arena *mem);

/* The result of a check for the whole job: the finding of the rank with the largest gain. */
struct advice {
    const struct check *check;
    struct finding finding;
    uint32_t rank;  /* row of that rank; NO_ROW: no rank has a finding */
    size_t n_ranks; /* ranks that have a finding */
    double share;   /* of a step of that rank; of the run, of what is lost in some steps; 0 to 1 */
    bool is_gpu;    /* which of the texts of the check apply */
};

/* Fills n_advise_checks results in the order of the report: findings by gain, then the others in the order of the
 * table. False: no memory. */
bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);

#endif
