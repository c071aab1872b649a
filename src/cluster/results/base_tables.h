/* SPDX-License-Identifier: Apache-2.0 */
/* base_tables.h - registry: the tables that the modes of the reference write, each for all ranks. */
#ifndef ASCOPE_CLUSTER_RESULTS_BASE_TABLES_H
#define ASCOPE_CLUSTER_RESULTS_BASE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/files/out.h"
#include "base/memory/arena.h"
#include "base/memory/tuples.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/rank_summary.h"
#include "cluster/results/results.h"

/* cluster_comm.c: ClusterCommunicationTime and ClusterCommunicationBandwidth: the operators of all ranks, and their
 * sums.
 *
 * Rows of a rank are written when it comes, and not kept. */

struct cluster_comm {
    struct table_sink *time, *band; /* NULL until there is a row */
    struct results_writer *writer;
    const char *class_name;
};

/* False: see e, or no memory. */
bool cluster_comm_add(struct cluster_comm *c, const struct rank_summary *s, const struct comm_totals *totals,
                      struct error *e);

/* cluster_comm.c: CommunicationGroupMapping and communication_group.json: the groups of a job and their ranks. */

bool cluster_groups_table(const struct groups *g, struct results *out, bool is_always_db); /* false: no memory */
void cluster_groups_json(const struct groups *g, struct out *o); /* no memory: that of g->mem has failed */

/* rank_sets.c: JSON that is nested by sets of ranks, steps and operators: {"(0, 1)": {"step0": {"name@group": …}}}.
 *
 * Groups of the same ranks share a set. Entries may be added in any order; sets_write() sorts them by set, step and
 * operator. */

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

/* cluster_comm_json.c: cluster_communication.json: the operators of all ranks, by the set of ranks of their group,
 * step and operator.
 *
 * The file has what lies in one rank in many places, and which ranks a group has is known behind the last: all rows
 * are kept. */

struct comm_json_rank; /* the rows of one */
struct comm_json {
    LIST(struct comm_json_rank *) ranks;
    struct names *names;
    struct arena *mem;
};

bool comm_json_add(struct comm_json *j, const struct rank_summary *s,
                   const struct comm_totals *totals);                                         /* false: no memory */
bool comm_json_write(const struct comm_json *j, const struct rank_sets *sets, struct out *o); /* false: no memory */

/* cluster_matrix.c: ClusterCommunicationMatrix and cluster_communication_matrix.json: what each link carried, between
 * ranks of the job.
 *
 * A rank reports links by numbers within the group. They become ranks of the job by what the job noted of the group,
 * or else by the rank that reports a link to itself; links with an end that is unknown are left out and counted. */

struct link {
    double mb, ms;
    name_id transport, op_name;
    bool is_p2p;
};

struct cluster_matrix {
    struct tuples keys; /* step, operator, group, both ends within it */
    LIST(struct link) links;
    struct names *names;
    struct arena *mem;
};

/* A link of the job behind the last rank: sums of all operators of a group in a step. */
struct job_link {
    name_id step, group, transport, op, op_name;
    int64_t src, dst;
    double mb, ms;
    bool is_total, is_p2p;
};
struct job_links {
    const struct cluster_matrix *matrix;
    const struct groups *groups;
    LIST(struct job_link) totals;
    size_t n; /* of operators, then totals */
    size_t n_unmapped;
};

bool cluster_matrix_add(struct cluster_matrix *m, const struct rank_summary *s); /* false: no memory */
bool cluster_matrix_links(const struct cluster_matrix *m, const struct groups *g, struct job_links *out);
bool cluster_matrix_table(const struct job_links *l, struct results_writer *w, const char *class_name, struct error *e);
bool cluster_matrix_json(const struct job_links *l, const struct rank_sets *sets, struct out *o, struct arena *mem);

/* cluster_steps.c: cluster_step_trace_time: the steps of all ranks, the stages of a pipeline, and where each rank is
 * in the parallel layout of the job; and who the ranks are. */

struct step_row {
    int64_t rank;
    name_id step;
    double us[STEP_COLUMNS];
};

struct rank_row_of {
    int64_t rank, device;
    bool has_device;
    const char *host_uid, *host_name, *path;
};

struct cluster_steps {
    LIST(struct step_row) rows; /* by rank */
    LIST(struct rank_row_of) ranks;
    const char *distributed_args; /* of the first rank that has them; NULL: none */
    struct names *names;
    struct arena *mem;
};

bool cluster_steps_add(struct cluster_steps *c, const struct rank_summary *s); /* false: no memory */
/* Tables of steps, hosts, devices and of the layout; lines about what is missing. */
bool cluster_steps_tables(struct cluster_steps *c, const struct groups *g, struct results *out);

/* How many ranks the job says it has; 0: unknown. */
int64_t world_size(const char *distributed_args);

/* gathered.c: ranks in the order in which a set of Python holds them.
 *
 * msprof-analyze keeps the ranks of a group in a set and writes it as it is: (8, 2), but (0, 1). Such a text is the
 * key of a group in cluster_communication.json, by which other programs look it up. It is the order of a hash table to
 * which the ranks were added in ascending order; up to rank 7 it is ascending. */

/* `rank` is ascending, and is returned itself where there is no memory. */
const int64_t *set_order(const int64_t *rank, size_t n, struct arena *mem);

/* gathered.c: the collectives of all ranks, to be compared with each other: those of one group and name, and of one
 * step if that is asked for, belong together.
 *
 * Ranks are added in ascending order; 32 bytes are kept of each use. */

struct gathered_use {
    uint32_t op;  /* number of (group, name[, step]) in order of first appearance */
    uint32_t row; /* whatever the mode has of it */
    int64_t rank, begin_ns, ns;
};

struct gathered {
    struct tuples ops; /* (group, name, step); steps by their number here */
    LIST(struct gathered_use) uses;
    uint32_t *order; /* of uses by op, behind gathered_sort() */
    struct arena *mem;
};

enum { GATHERED_GROUP, GATHERED_NAME, GATHERED_STEP, GATHERED_PARTS };

/* `step` is any number that is equal for equal steps. False: no memory. */
bool gathered_add(struct gathered *g, const struct rank_collectives *ops, size_t i, int64_t rank, uint32_t step,
                  uint32_t row);
bool gathered_sort(struct gathered *g);
/* The end of the uses of one operator that begin at a place of the order. */
size_t gathered_end(const struct gathered *g, size_t from);
void gathered_parts(const struct gathered *g, uint32_t op, uint32_t part[GATHERED_PARTS]);

/* When a collective was launched, which decides its step; INT64_MIN: its call is not known, and the recipes leave it
 * out. Where no call is known at all, it is its begin. */
int64_t collective_launch_ns(const struct rank_summary *s, size_t i);

bool is_send_or_receive(const struct names *names, name_id op); /* by its name, as the recipes recognise it */

#endif
