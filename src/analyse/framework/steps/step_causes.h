/* SPDX-License-Identifier: Apache-2.0 */
/* step_causes.h - the causes of slow steps: what they had more of than the others.
 *
 * The time of a step and of the usual step (the mean of those that are not slow) is divided by what it was spent on
 * (step_division.h), and the difference is taken name by name. An operator that took more time ran more often, or ran
 * longer; and what it ran longer is due to a lower clock as far as the clock was lower. The differences and a rest,
 * which is what the usual step and the median differ by, add up to what the step took longer than the median.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_CAUSES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_CAUSES_H

#include "analyse/framework/steps/step_division.h"

enum step_cause {
    CAUSE_RUNS,     /* an operator of the device (of the host where there is no device) ran more often */
    CAUSE_LONGER,   /* or longer */
    CAUSE_CLOCK,    /* or at a lower clock */
    CAUSE_TRANSFER, /* of a collective */
    CAUSE_WAIT,     /* of a collective, for other ranks */
    CAUSE_DATA,     /* waiting for data */
    CAUSE_REQUESTS, /* of a server: waiting for requests */
    CAUSE_MEMORY,   /* copies, and allocations on the host */
    CAUSE_GC,       /* Python's garbage collection */
    CAUSE_HOST,     /* the device was free; the host was busy with this */
    CAUSES
};
const char *step_cause_key(enum step_cause cause); /* "longer", for machines */

/* What a name is of. */
enum step_named {
    NAMED_NOTHING,  /* there is none: nothing that was recorded grew by at least a fifth */
    NAMED_RANK,     /* for which a collective waits */
    NAMED_OPERATOR, /* of the device, or a collective; of the host with CAUSE_HOST and the like */
    NAMED_OUTSIDE,  /* the host was outside of operators, and no more is known */
    NAMED_PYTHON,   /* a Python function, without those that it called */
    NAMED_RANGE,    /* a range that the user marked */
    NAMEDS
};
const char *step_named_key(enum step_named named); /* "range", for machines; NULL: nothing */

/* One cause of one name. */
struct step_item {
    enum step_cause cause;
    enum step_named named;
    enum spent_kind kind;
    const char *name;
    double more_ns;                 /* below 0: less */
    double before_ns, after_ns;     /* all that was spent on the name: in the usual step, in this one */
    double before_runs, after_runs; /* 0: not counted */
    double before_mhz, after_mhz;   /* 0: unknown */
    struct spent_place place;       /* of the longest in this step, or in the usual ones if this step has none */
};

struct step_difference {
    double time_ns, usual_ns, more_ns; /* usual: of the median step */
    double cause_ns[CAUSES];           /* sums of the items */
    double rest_ns;                    /* more_ns without those */
    size_t n;                          /* the largest first; what became less comes last */
    struct step_item *item;
};

/* Without those kinds whose bit is in `without`. False only without memory. */
bool step_difference_find(struct step_difference *out, const struct step_profile *own, const struct step_profile *usual,
                          double time_ns, double usual_ns, unsigned without, struct arena *mem);

#endif
