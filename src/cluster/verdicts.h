/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h - what is wrong with a job, a sentence with its numbers for each: for the screen and for JSON.
 *
 * A verdict is given only where the numbers carry it; docs/cluster.md has the limits. A healthy job has none.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_H
#define ASCOPE_CLUSTER_VERDICTS_H

#include "base/arena.h"

#include <stdint.h>

enum verdict_kind {
    VERDICT_COLLECTIVES, /* the ranks' collectives do not match */
    VERDICT_STEPS,       /* their steps do not */
    VERDICT_CLOCK,       /* a clock is ahead or behind */
    VERDICT_SLOW_RANK,   /* computes longer than its peers */
    VERDICT_LATE_HOST,   /* its device has nothing to do for longer */
    VERDICT_SLOW_STEP,   /* in all ranks */
    VERDICT_SLOW_LINK,
    VERDICT_STAGES, /* of a pipeline: one computes longer than the others */
    VERDICT_KINDS
};
extern const char *const verdict_names[VERDICT_KINDS]; /* "slow_rank" */

/* Where to see it: the collective that a rank comes last to and for which another one waits longest, on the common clock. */
struct verdict_place {
    const char *collective; /* NULL: there is none */
    int64_t begin_ns, end_ns;
    int64_t waiting; /* the rank that waits longest */
};

struct verdict {
    enum verdict_kind kind;
    const char *text;
    int64_t rank, other; /* of a link: both ends; -1: none */
    const char *step;    /* NULL: all of them */
    double ratio;        /* to what is usual; 0: none */
    struct verdict_place place;
    double ms; /* what it costs in a step, or the error of a clock; 0: unknown */
};

enum path_kind { PATH_COMPUTING, PATH_FREE, PATH_COMMUNICATION, PATH_KINDS };
extern const char *const path_names[PATH_KINDS];

/* Equal parts of the critical path together: operators of a rank, free time of a rank, collectives of a group. */
struct path_part {
    enum path_kind kind;
    int64_t rank;           /* of communication: that came last, if always the same; else -1 */
    const char *name;       /* the operators that take most of it, the kind of collective; "" for free time */
    const char *group;      /* of a collective, else NULL */
    const char *group_name; /* what the job calls it: "tp"; "": nothing */
    uint32_t n;             /* segments */
    int64_t ns;
    int64_t saved_ns; /* by so much the step would be shorter if it took no time */
};

/* How far the clock of a rank is ahead of most, by the ends of its collectives. */
struct job_clock {
    int64_t rank, ahead_ns;
};

struct job_overview; /* job_overview.h */

struct job_report {
    bool is_judged;                /* else nobody has asked */
    LIST(struct verdict) verdicts; /* in the order of kinds */
    bool has_path;
    const char *path_step; /* NULL: there are no steps */
    int64_t path_ns;       /* from the begin of the step to its last end on any rank */
    uint32_t path_segments, path_ranks;
    LIST(struct path_part) parts;  /* the longest first; the rest is path_ns minus their sum */
    LIST(struct job_clock) clocks; /* of all ranks */
    struct job_overview *overview; /* of the mode overview; NULL: nobody has asked */
    struct arena *mem;
};

/* False: no memory. The text is copied. */
bool verdict_add(struct job_report *r, const struct verdict *v);

#endif
