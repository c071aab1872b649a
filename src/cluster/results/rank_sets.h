/* SPDX-License-Identifier: Apache-2.0 */
/* rank_sets.h - JSON that is nested by sets of ranks, steps and operators: {"(0, 1)": {"step0": {"name@group": …}}}.
 *
 * Groups of the same ranks share a set. Entries may be added in any order; sets_write() sorts them by set, step and
 * operator.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_RANK_SETS_H
#define ASCOPE_CLUSTER_RESULTS_RANK_SETS_H

#include "base/files/out.h"
#include "cluster/rank/rank_groups.h"

struct rank_sets {
    LIST(const char *) text; /* "(0, 1)", ranks by set_order(), in order of first appearance */
    uint32_t *of_group;      /* by row of groups->list */
    const struct groups *groups;
};
bool rank_sets_init(struct rank_sets *s, const struct groups *g); /* false: no memory */
uint32_t rank_set_of(const struct rank_sets *s, name_id group, bool is_p2p);

/* Entries to be written, each below one operator of one step. */
struct set_entries {
    size_t n, cap;
    uint32_t *set, *step,
        *op; /* set: row of rank_sets; step, op: in the order of first appearance, sums after all other operators */
    name_id *step_name, *op_name, *group;
    uint32_t *rank, *row; /* for put(): where its values are */
    struct keys steps;
    struct keys ops[2];
    struct arena *mem;
};
struct set_entry {
    uint32_t set;
    name_id step, op, group;
    bool is_total;
    uint32_t rank, row;
};
bool set_entries_add(struct set_entries *e, const struct set_entry *new); /* false: no memory */

/* Writes the nesting, and calls put() for what belongs to one operator: the entries order[0] … order[n - 1]. False: no
 * memory. */
typedef void sets_put(const void *context, const struct set_entries *e, const uint32_t *order, size_t n, struct out *o);
bool sets_write(const struct rank_sets *s, const struct set_entries *e, struct out *o, sets_put *put,
                const void *context);

#endif
