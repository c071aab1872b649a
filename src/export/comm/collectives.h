/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.h - iterates over the collectives of all devices, with the cost of each.
 *
 * For `ascope communication`, and for the same files of a collection of a framework.
 */
#ifndef ASCOPE_EXPORT_COMM_COLLECTIVES_H
#define ASCOPE_EXPORT_COMM_COLLECTIVES_H

#include "analyse/comm/comm_cost.h"
#include "analyse/comm/comm_links.h"

struct collective {
    name_id name, group;         /* group: its digits */
    const struct device *device; /* the last one that ran it */
    size_t first, n_all, n_own;  /* its events; those of the device are the last ones */
};

struct collectives {
    LIST(struct collective) list; /* in the order of their first events */
    struct comm_event *event;     /* by collective */
    size_t most_events;           /* of one collective */
    bool are_kernels;             /* of a GPU: each has one event, a row of the device's comm.ops */
    struct names *names;
    struct comm_sorter sorter;
    struct comm_event *copy; /* of one collective's events, to be sorted */
    struct arena *mem;
};

extern const char *const link_kind_name[LINK_KINDS];

/* Everything is allocated in `mem`. False: out of memory; the next two likewise. */
bool collectives_find(struct collectives *c, const struct profile *p, struct arena *mem);
bool collective_cost(struct collectives *c, const struct collective *of, struct comm_cost *cost);
bool collective_links(struct collectives *c, const struct collective *of, struct comm_links *links);

/* Only the begin of its cost. False: it has no task on the master stream, and nothing of its time is known. */
bool collective_begin(const struct collectives *c, const struct collective *of, double *begin_ns);
double collective_start_us(const struct collective *of, double begin_ns); /* wall clock, as it is shown */

#endif
