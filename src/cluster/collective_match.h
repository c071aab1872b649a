/* SPDX-License-Identifier: Apache-2.0 */
/* collective_match.h - which collectives of the ranks are the same one, who lacks some, and how far the ranks' clocks are apart.
 *
 * A collective is identified by its group, its name, and its sequence number among those of that name on its rank; a send and its
 * receive by their group, both ends, and their sequence number between the two. Only a few numbers are kept of each collective,
 * however many members it has. Ranks are added one after the other, in ascending order.
 *
 * All members of a collective end together. So the shortest one joined last, whatever the clocks say, and the median difference
 * between the ends on two ranks is the difference of their clocks. Names and sequence numbers count from the begin of a recording:
 * where the same ones are in different steps on two ranks, these began to record at different steps. Such a match is two
 * collectives, and neither clocks nor waits are derived from it.
 */
#ifndef ASCOPE_CLUSTER_COLLECTIVE_MATCH_H
#define ASCOPE_CLUSTER_COLLECTIVE_MATCH_H

#include "cluster/rank_summary.h"
#include "cluster/tuples.h"

struct matched {
    name_id group, name; /* name: of its first member */
    bool is_p2p;
    uint32_t n;           /* members that have it */
    uint32_t first;       /* rank: number in the order of adding */
    int64_t first_end_ns; /* on the clock of that rank */
    int64_t step;         /* id, on its first member; INT64_MIN: in none */
    bool has_other_steps; /* another member has it in another step: their recordings do not begin together */
    int64_t least_ns;     /* the shortest member, which came last */
    uint32_t last;        /* the rank of the shortest member */
    int64_t last_exposed_ns, sum_exposed_ns; /* without kernels at the same time: of that member, of all */
    int64_t most_ns;                         /* the longest member, which waited longest */
    uint32_t longest;                        /* the rank of the longest member */
};

struct rank_clock_error {
    uint32_t above; /* the rank that `ahead_ns` is relative to; itself: it shares no collective with an earlier rank */
    int64_t ahead_ns; /* after match_finish(): relative to the median of all ranks that it is linked to */
    double spread_ns; /* deviation of the differences that it was computed from */
    uint32_t n;       /* number of these differences */
};

struct member {
    uint32_t group, rank; /* group: number in groups */
    uint32_t n;           /* collectives of that group on that rank */
};

struct collective_match {
    struct tuples keys; /* (group, name or none, from, to, sequence number) */
    LIST(struct matched) list;
    LIST(int64_t) rank; /* of the job, by number */
    LIST(struct rank_clock_error) clock;
    struct keys groups; /* names of groups that have collectives */
    struct tuples member_key;
    LIST(struct member) members;
    struct names *names;
    struct arena *mem;
};

/* Adds a rank. id[i] becomes the place of its i-th collective in `list`, or NO_ROW for a send or receive whose peer is unknown.
 * False: no memory. */
bool match_add(struct collective_match *m, const struct rank_summary *s, uint32_t *id);

/* Once, after the last rank. False: no memory. */
bool match_finish(struct collective_match *m);

/* Calls `report` with a line for each member that lacks collectives of its group; it returns false if there is no memory. */
typedef bool mismatch_taker(void *context, int64_t rank, const char *text);
bool match_report(const struct collective_match *m, mismatch_taker *report, void *context);

#endif
