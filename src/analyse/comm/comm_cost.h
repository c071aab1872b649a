/* SPDX-License-Identifier: Apache-2.0 */
/* comm_cost.h - the cost of a collective: transit, wait and idle time; bytes by kind of link and packet size.
 *
 * A cost is used for one collective after the other and cleared in between. Its memory is its arena's.
 */
#ifndef ASCOPE_ANALYSE_COMM_COMM_COST_H
#define ASCOPE_ANALYSE_COMM_COMM_COST_H

#include <string.h>

#include "analyse/comm/comm_events.h"

enum link_kind { LINK_RDMA, LINK_HCCS, LINK_PCIE, LINK_SDMA, LINK_SIO, LINK_KINDS }; /* as reports list them */

struct packets { /* of one size */
    uint64_t n;
    double time_ms;
};

struct link_cost {
    struct amount size_mb, time_ms, gbs, large_ratio;
    struct keys sizes; /* in MB: the bits of doubles */
    LIST(struct packets) packets;
};

struct comm_cost {
    bool has_master; /* false: none of its tasks ran on the master stream, and its times are not known */
    double begin_ns; /* of the first task on the master stream, monotonic: see event_time() */
    struct amount elapse_ms, transit_ms, wait_ms, sync_ms, idle_ms, wait_ratio, sync_ratio;
    struct link_cost link[LINK_KINDS]; /* SDMA: HCCS, PCIE, SIO and unknown links together */
    struct arena *mem;
};

/* Sorts `events` by plane, planes in the order of their first events. False only without memory. */
bool comm_cost_fill(struct comm_cost *c, struct comm_sorter *s, struct comm_event *events, size_t n, size_t closing);
/* The cost of a collective that is one kernel: all of its time counts as transit, including waits for other ranks.
 * bytes: 0: unknown. */
bool comm_cost_whole(struct comm_cost *c, double begin_ns, double dur_ns, uint64_t bytes);
void comm_cost_clear(struct comm_cost *c);

/* Sums over all collectives: added one by one, finished once. */
bool comm_cost_add(struct comm_cost *total, const struct comm_cost *c);
void comm_cost_finish(struct comm_cost *total);

static inline double packet_size_mb(const struct link_cost *l, size_t i)
{
    double mb;
    memcpy(&mb, &l->sizes.key.at[i], sizeof mb);
    return mb;
}

#endif
