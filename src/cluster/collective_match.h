/* SPDX-License-Identifier: Apache-2.0 */
/* collective_match.h - which collectives of the ranks are the same one, who lacks some, and how far the ranks' clocks are apart.
 *
 * A collective is identified by its group, its name, and its sequence number among those of that name on its rank; a send and its
 * receive by their group, both ends, and their sequence number between the two. Only a few numbers are kept of each collective,
 * however many members it has. Ranks are added one after the other, in ascending order.
 *
 * All members of a collective end together. So the shortest one joined last, whatever the clocks say, and the median difference
 * between the ends on two ranks is the difference of their clocks.
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
    int64_t least_ns;     /* the shortest member, which came last */
    int64_t sum_ns;       /* of all durations */
    uint32_t last;        /* that rank */
    int64_t most_ns;      /* the longest member, which waited longest */
    uint32_t longest;     /* that rank */
};

struct rank_clock_error {
    uint32_t above;   /* another rank to which `ahead_ns` refers; itself: nothing links it to an earlier one */
    int64_t ahead_ns; /* behind match_finish(): of the median of all ranks that it shares collectives with */
    double spread_ns; /* deviation of what it was computed from */
    uint32_t n;       /* collectives that it was computed from */
};

struct member {
    uint32_t group, rank; /* group: number in groups */
    uint32_t n;           /* its collectives of that group */
};

struct collective_match {
    struct tuples keys; /* (group, name or none, from, to, sequence number) */
    LIST(struct matched) list;
    LIST(int64_t) rank; /* of the job, by number */
    LIST(struct rank_clock_error) clock;
    struct keys groups; /* texts of groups that have collectives */
    struct tuples member_key;
    LIST(struct member) members;
    struct names *names;
    struct arena *mem;
};

/* The number of each collective of the rank in list, NO_ROW for a send or receive whose peer is unknown: `id` has room for all of them.
 * False: no memory. */
bool match_add(struct collective_match *m, const struct rank_summary *s, uint32_t *id);

/* Once, behind the last rank. */
bool match_finish(struct collective_match *m);

/* A line for what does not match: members that lack collectives. `report` gets each; false of it: no memory. */
typedef bool mismatch_taker(void *context, int64_t rank, const char *text);
bool match_report(const struct collective_match *m, mismatch_taker *report, void *context);

#endif
