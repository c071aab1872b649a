/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - whether new runs may replace those they are compared with: nothing takes more than is allowed.
 *
 * A measure has regressed if it grew by more than is allowed, and by more than chance explains. It passes if it did not
 * grow by more than is allowed, and chance explains less than that. Anything else is inconclusive: more steps or runs
 * are needed. Runs that are too different to be compared are inconclusive, whatever their times are.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_GATE_H
#define ASCOPE_ANSWERS_JUDGE_GATE_H

#include "answers/judge/compare.h"

enum gate_measure {
    GATE_STEP, /* the parts of a usual step, as enum run_part */
    GATE_COMPUTING,
    GATE_COMMUNICATION,
    GATE_FREE,
    GATE_SLOW, /* what slow steps take more than usual ones, divided by all steps; allowed is a part of a usual step */
    GATE_MEMORY, /* the peak of allocated memory, or else of reserved memory, in bytes */
    GATE_MEASURES
};

enum gate_verdict { GATE_PASS, GATE_INCONCLUSIVE, GATE_REGRESSED };

struct gate_row {
    double a, b;
    double noise;     /* what chance explains of the difference; NAN: unknown */
    double allowed;   /* as a part of A; NAN: the measure is only shown */
    bool is_recorded; /* on both sides */
    size_t events[2]; /* of GATE_SLOW: slow steps of A and B, consecutive ones are one */
    size_t for_steps; /* steps in each run that would make it conclusive, about; 0: unknown, or it is conclusive */
    size_t for_runs;  /* the same in runs on each side */
    enum gate_verdict verdict;
};

/* Why the runs cannot be compared. */
enum gate_doubt { DOUBT_NONE, DOUBT_LOSSES, DOUBT_DEVICES, DOUBT_STEPS, DOUBT_RANKS, GATE_DOUBTS };

struct gate {
    enum gate_verdict verdict;
    enum gate_doubt doubt;   /* with GATE_INCONCLUSIVE; DOUBT_NONE: a measure is inconclusive */
    enum gate_measure first; /* the one that decides */
    size_t n_steps;          /* usual steps of a run, the mean over the runs */
    struct gate_row row[GATE_MEASURES];
    enum run_part grown;              /* the part of a step that grew most */
    const struct compared_row *cause; /* what grew most in that part, beyond chance; NULL: nothing known */
};

/* `allowed`: parts of A by measure, NAN: not judged. has_losses: something could not be read. */
void gate_judge(struct gate *out, const struct comparison *c, const double allowed[GATE_MEASURES], bool has_losses);

#endif
