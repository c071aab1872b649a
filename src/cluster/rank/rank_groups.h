/* SPDX-License-Identifier: Apache-2.0 */
/* rank_groups.h - which ranks communicate in which groups, and what the job calls them.
 *
 * A group is identified by a number computed from its id (group_number()). Collectives and point-to-point operators of
 * the same number are two groups, as in msprof-analyze. Members are the ranks that have operators of the group. What
 * the job recorded about its groups (parallel_group_info) adds the id, the name, and all ranks that the group should
 * have.
 */
#ifndef ASCOPE_CLUSTER_RANK_RANK_GROUPS_H
#define ASCOPE_CLUSTER_RANK_RANK_GROUPS_H

#include "base/memory/keys.h"
#include "cluster/rank/rank_summary.h"
#include "answers/judge/job_stages.h"

struct group {
    name_id name; /* its number, in decimal */
    bool is_p2p;
    LIST(int64_t) seen; /* ranks that have operators of it, ascending */
};

/* What the job recorded about a group. */
struct noted_group {
    name_id name;
    const char *id, *pg_name;
    size_t n_global;
    int64_t *global; /* ranks of the job by their number in the group */
};

struct groups {
    struct keys key;         /* (name, is_p2p) */
    LIST(struct group) list; /* in order of first appearance */
    struct keys noted_key;   /* names */
    LIST(struct noted_group) noted;
    struct keys local_key; /* (name, number in the group), from links of a rank to itself */
    LIST(int64_t) local;
    struct names *names;
    struct arena *mem;
};

/* Ranks are added in ascending order. False: no memory. */
bool groups_add(struct groups *g, const struct rank_summary *s);

bool is_p2p_op(const struct names *names, name_id type, name_id op);

const struct noted_group *groups_noted(const struct groups *g, name_id name); /* NULL: the job noted nothing */

/* The rank of the job that has the number `local` in a group; -1: unknown. */
int64_t groups_global(const struct groups *g, name_id name, int64_t local);

/* All ranks of a group, ascending: those that the job recorded, or else those that were seen. NULL: no memory. */
const int64_t *group_ranks(const struct groups *g, const struct group *of, size_t *n);

bool groups_stages(struct stages *s, const struct groups *g, struct arena *mem); /* false: no memory */
const char *stage_text(const struct stages *s, uint32_t stage, bool has_blanks,
                       struct arena *mem); /* "(0, 1)"; NULL: no memory */

/* "(0, 1)" or "(0,1)", in order; of one rank "(3,)" with blanks as Python prints it, else "(3)". NULL: no memory. */
const char *ranks_text(const int64_t *rank, size_t n, bool has_blanks, struct arena *mem);

#endif
