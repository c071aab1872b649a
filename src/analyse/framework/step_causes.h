/* SPDX-License-Identifier: Apache-2.0 */
/* step_causes.h - the causes of slow steps: what they had more of than the others.
 *
 * The additional time of a slow step is divided as the step is: computing, communication, free. In each part that grew, the
 * name that grew most is searched, against the mean of the steps that are not slow: an operator of the device; a collective
 * that waited for other ranks, or that transferred its data more slowly; and where the device was idle, what the host did
 * instead.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEP_CAUSES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEP_CAUSES_H

#include "analyse/framework/step_series.h"

enum step_cause {
    CAUSE_OPERATOR, /* of the device; of the host where there is no device */
    CAUSE_TRANSFER, /* of a collective */
    CAUSE_WAIT,     /* of a collective, for other ranks */
    CAUSE_HOST,     /* the device was free; the host was busy with this */
    CAUSES
};
const char *step_cause_key(enum step_cause cause); /* "operator", for machines */

/* What a name is of. */
enum step_named {
    NAMED_NOTHING,  /* there is none: nothing that was recorded grew by at least a fifth */
    NAMED_OPERATOR, /* of the device, or a collective; of the host with CAUSE_HOST */
    NAMED_OUTSIDE,  /* the host was outside of operators, and no more is known */
    NAMED_PYTHON,   /* a Python function, without those that it called */
    NAMED_RANGE,    /* a range that the user marked */
    NAMEDS
};
const char *step_named_key(enum step_named named); /* "range", for machines; NULL: nothing */

struct step_more {
    enum step_cause cause;
    int64_t more_ns; /* in this part of the step, than in the median step */
    enum step_named named;
    name_id name;    /* of an operator, a function or a range */
    int64_t name_ns; /* by how much it grew */
};

enum { MORES = 3 };
struct step_mores {
    uint32_t step; /* row of the series */
    size_t n;
    struct step_more at[MORES]; /* the largest first */
};

/* Of the slowest `most` slow steps, the slowest first: *n of them, in mem. `collection` is NULL of a PROF directory. False only
 * without memory. */
bool step_causes_find(const struct step_series *s, const struct profile *p, const struct device *d,
                      const struct collection *collection, size_t most, struct arena *mem, struct step_mores **out,
                      size_t *n);

#endif
