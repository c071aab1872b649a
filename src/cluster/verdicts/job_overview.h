/* SPDX-License-Identifier: Apache-2.0 */
/* job_overview.h - a job at one glance, for the viewer: what each rank did in each step, its groups, and what each link
 * carried.
 *
 * A mode that writes no tables: it leaves its result in the report of the job.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_JOB_OVERVIEW_H
#define ASCOPE_CLUSTER_VERDICTS_JOB_OVERVIEW_H

#include "cluster/modes.h"

enum overview_part { OVERVIEW_COMPUTING, OVERVIEW_COMMUNICATION, OVERVIEW_FREE, OVERVIEW_PARTS };

/* A step on a rank; communication is what is not hidden behind computing. Times are those of the rank's own clock. */
struct overview_cell {
    int64_t rank;
    uint32_t step; /* row of steps */
    double us[OVERVIEW_PARTS];
    bool has_range;
    int64_t begin_ns, end_ns;
};

struct overview_group {
    const char *name; /* as the job calls it: "tp" */
    size_t n;
    int64_t *rank;
};

/* What went from one rank to another over one kind of link, in all steps. */
struct overview_link {
    const char *transport;
    int64_t src, dst;
    double mb, ms;
};

struct job_overview {
    LIST(const char *) steps; /* names, in order of first appearance */
    LIST(int64_t) ranks;      /* ascending */
    LIST(struct overview_cell) cells;
    LIST(struct overview_group) groups;
    LIST(struct overview_link) links;
};

extern const struct mode mode_overview;

#endif
