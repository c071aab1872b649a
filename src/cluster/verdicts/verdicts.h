/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h - what is wrong with a job: one sentence with its numbers for each problem, for the screen and for JSON.
 *
 * A verdict is given only where the numbers carry it; docs/cluster.md has the limits. A healthy job has none.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_VERDICTS_H
#define ASCOPE_CLUSTER_VERDICTS_VERDICTS_H

#include "base/memory/arena.h"

#include <stdint.h>

enum verdict_kind {
    VERDICT_COLLECTIVES, /* the ranks' collectives do not match */
    VERDICT_STEPS,       /* the ranks' steps do not match */
    VERDICT_CLOCK,       /* the clock of a rank is ahead or behind */
    VERDICT_SLOW_RANK,   /* a rank takes longer than its peers, in each step or in some */
    VERDICT_LATE_HOST,   /* the same, and most of it is time in which its device has nothing to do */
    VERDICT_SLOW_STEP,   /* steps are slow, and no single rank is the reason */
    VERDICT_UNEVEN,      /* in each step another rank takes longest */
    VERDICT_SLOW_LINK,   /* a link carries less than others of its kind */
    VERDICT_STAGES,      /* one stage of a pipeline computes longer than the others */
    VERDICT_KINDS
};
extern const char *const verdict_names[VERDICT_KINDS]; /* "slow_rank" */

/* Where to see a verdict about a rank: of the collectives that the rank joins last, the one in which another member
 * waits longest. Times are on the common clock. */
struct verdict_place {
    const char *collective; /* NULL: there is no such collective */
    int64_t begin_ns, end_ns;
    int64_t waiting; /* the rank that waits longest */
};

struct verdict {
    enum verdict_kind kind;
    const char *text;
    int64_t rank, other; /* of a link: both ends; -1: none */
    const char *step;    /* the first one that it is about; NULL: all steps */
    const char *shape;   /* of a finding of the judge: "once"; NULL: it is none. Lent, as it is constant */
    double ratio;        /* to what is usual; 0: unknown */
    struct verdict_place place;
    double ms; /* what it costs in a step, or the error of a clock; 0: unknown */
};

enum path_kind { PATH_COMPUTING, PATH_FREE, PATH_COMMUNICATION, PATH_KINDS };
extern const char *const path_names[PATH_KINDS];

/* Segments of the critical path that belong together: operators of a rank, free time of a rank, or collectives of a
 * group. */
struct path_part {
    enum path_kind kind;
    int64_t rank;           /* of communication: the rank that joined last, if it is always the same, else -1 */
    const char *name;       /* the operator that takes most of the time, or the kind of collective; "" for free time */
    const char *group;      /* of communication: the id of the group, else NULL */
    const char *group_name; /* the name that the job gives to the group: "tp"; "": none */
    uint32_t n;             /* number of segments */
    int64_t ns;
    int64_t saved_ns; /* by how much the step would be shorter if this part took no time */
};

/* How far the clock of a rank is ahead of the median clock, computed from the ends of its collectives. */
struct job_clock {
    int64_t rank, ahead_ns;
};

struct job_overview; /* job_overview.h */

struct job_report {
    bool is_judged;       /* the mode verdicts ran */
    bool has_compared;    /* false: there was nothing to compare, so that no verdict means nothing */
    const char *start_up; /* the steps that are left out of verdicts, and what they cost; NULL: there are none */
    const char *nothing;  /* why no step and no rank is called slow; NULL: one is, or nothing was compared */
    LIST(struct verdict) verdicts; /* in the order of kinds */
    bool has_path;
    const char *path_step; /* NULL: there are no steps */
    int64_t path_ns;       /* from the begin of the step to its last end on any rank */
    uint32_t path_segments, path_ranks;
    LIST(struct path_part) parts;  /* the longest first; the rest is path_ns minus their sum */
    LIST(struct job_clock) clocks; /* of all ranks */
    struct job_overview *overview; /* of the mode overview; NULL: the mode did not run */
    struct arena *mem;
};

/* False: no memory. The text is copied. */
bool verdict_add(struct job_report *r, const struct verdict *v);

#endif
