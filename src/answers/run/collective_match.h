/* SPDX-License-Identifier: Apache-2.0 */
/* collective_match.h - which collectives of the ranks are the same one, who lacks some, and how far the ranks' clocks
 * are apart.
 *
 * A collective is identified by its group, its name, its step, and its sequence number among those of that name in that
 * step on its rank; a send and its receive by their group, both ends, and their sequence number between the two. Names
 * and sequence numbers count from the begin of a recording, which may be another one on each rank; steps do not. Only a
 * few numbers are kept of each collective, however many members it has. Ranks are added one after the other, in
 * ascending order.
 *
 * All members of a collective end together. So the shortest one joined last, whatever the clocks say, and the median
 * difference between the ends on two ranks is the difference of their clocks. That is not true of a collective with a
 * root (broadcast, reduce, gather, scatter) nor of a send: a member may end before another one has begun. Clocks are
 * not computed from these.
 *
 * How long a member waits, and how long it transfers: collective_waits.h.
 */
#ifndef ASCOPE_ANSWERS_RUN_COLLECTIVE_MATCH_H
#define ASCOPE_ANSWERS_RUN_COLLECTIVE_MATCH_H

#include "base/memory/names.h"
#include "base/memory/tuples.h"

/* The collectives of a rank, by begin. Lent. */
struct match_calls {
    size_t n;
    const name_id *group, *name;
    const int64_t *begin_ns, *end_ns;
    const int64_t *exposed_ns; /* without kernels at the same time; NULL: nobody asks */
    const int64_t *step;       /* a number of the step that launched it; INT64_MIN: none. NULL: there are no steps */
    const bool *is_p2p;        /* NULL: none is */
    const int64_t *src, *dst;  /* of those: ranks within the group; -1: not known */
};

struct matched {
    name_id group, name; /* name: of its first member */
    bool is_p2p, has_root;
    uint32_t n;                              /* members that have it */
    uint32_t first;                          /* rank: number in the order of adding */
    int64_t first_end_ns;                    /* on the clock of that rank */
    int64_t step;                            /* INT64_MIN: in none */
    int64_t least_ns;                        /* the shortest member, which came last */
    uint32_t last;                           /* the rank of the shortest member */
    int64_t last_exposed_ns, sum_exposed_ns; /* without kernels at the same time: of that member, of all */
    int64_t most_ns;                         /* the longest member, which waited longest */
    uint32_t longest;                        /* the rank of the longest member */
    uint32_t latest;                         /* the rank that begins last by the clocks */
    int64_t latest_begin_ns;                 /* on the clock of that rank */
    bool is_apart;                           /* nothing links the clocks of its members: `latest` means nothing */
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

struct group_size {
    uint32_t n_seen;  /* ranks that have collectives of it */
    uint32_t n_noted; /* ranks that it has, as the job recorded it; 0: unknown */
};

struct collective_match {
    struct tuples keys; /* (group, name or none, from, to, step, sequence number) */
    struct keys steps;
    LIST(struct matched) list;
    LIST(int64_t) rank; /* of the job, by number */
    LIST(struct rank_clock_error) clock;
    struct keys groups;            /* names of groups that have collectives, or whose size is known */
    LIST(struct group_size) sizes; /* by groups */
    struct tuples member_key;
    LIST(struct member) members;
    struct names *names;
    struct arena *mem;
};

/* Adds a rank: its number in the job. id[i] becomes the place of its i-th collective in `list`, or NO_ROW for a send or
 * receive whose peer is unknown. False: no memory. */
bool match_add(struct collective_match *m, int64_t rank, const struct match_calls *calls, uint32_t *id);
/* The number of what matched collectives of one step differ in only by their sequence numbers. */
uint32_t match_series(const struct collective_match *m, uint32_t id);

/* A group has so many ranks, as a rank or the job recorded it: then members that were not read are missed. At any time
 * before match_finish(). False: no memory. */
bool match_group_size(struct collective_match *m, name_id group, uint32_t n);

/* Once, after the last rank. False: no memory. */
bool match_finish(struct collective_match *m);

/* Calls `report` with a line for each member that lacks collectives of its group; it returns false if there is no
 * memory. */
typedef bool mismatch_taker(void *context, int64_t rank, const char *text);
bool match_report(const struct collective_match *m, mismatch_taker *report, void *context);

#endif
