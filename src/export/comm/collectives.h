/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.h - the collectives of all devices with their events, and the cost of each.
 *
 * For `ascope communication`, and for the communication files of a framework's collection. Everything is in the
 * caller's arena.
 */
#ifndef ASCOPE_EXPORT_COMM_COLLECTIVES_H
#define ASCOPE_EXPORT_COMM_COLLECTIVES_H

#include "analyse/comm/comm_analysis.h"

struct collective {
    name_id name, group;         /* group: the hash of its name as digits; of a GPU its name */
    const struct device *device; /* the last device that ran it: its events give the cost */
    size_t first, n_all, n_own;  /* its events in `event`; the last n_own are those of the device */
};

struct collectives {
    LIST(struct collective) list; /* in the order of their first events */
    struct comm_event *event;     /* sorted by collective */
    size_t most_events;           /* the greatest number of events of one collective */
    bool are_kernels;             /* they are kernels of a GPU: each has one event, a row of the device's comm.ops */
    struct names *names;
    struct comm_sorter sorter;
    struct comm_event *copy; /* room for the events of one collective while they are sorted */
    struct arena *mem;
};

extern const char *const link_kind_name[LINK_KINDS];

/* False: out of memory; also of the next two. */
bool collectives_find(struct collectives *c, const struct profile *p, struct arena *mem);
bool collective_cost(struct collectives *c, const struct collective *of, struct comm_cost *cost);
bool collective_links(struct collectives *c, const struct collective *of, struct comm_links *links);

/* Only the begin, in ns of the device's clock. False: no task ran on the master stream, so that its time is unknown. */
bool collective_begin(const struct collectives *c, const struct collective *of, double *begin_ns);
double collective_start_us(const struct collective *of,
                           double begin_ns); /* the same as wall-clock time, as files show it */

#endif
