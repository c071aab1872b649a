/* SPDX-License-Identifier: Apache-2.0 */
/* comm_analysis.h - registry: the parts of the analysis of collectives, in the order in which they run. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_ANALYSIS_H
#define ASCOPE_ANALYSE_COMM_COMM_ANALYSIS_H

#include <string.h>

#include "analyse/comm/comm_events.h"
#include "base/memory/arena.h"
#include "profile/comm.h"
#include "profile/profile.h"

/* aicpu_tasks.c: the tasks of collectives that an AI CPU scheduled, matched with the tasks that ran.
 *
 * The AI CPU assigns task ids and counts their wrap-arounds itself, so that a task is identified by (stream, round,
 * id); flip records define the round. The group of a task follows from its stream. */

struct aicpu_tasks { /* by (group, end) */
    size_t n;
    uint32_t *task;  /* row of the device's tasks */
    uint32_t *entry; /* row of aicpu_comm.tasks; NO_ROW when nothing was reported but that it ran, as at level 0 */
    uint64_t *group; /* hash */
    bool *is_head;   /* marked as the first one of its operator */
};

/* First and last tasks of operators, by (stream of the AI CPU, time). */
struct aicpu_marks {
    size_t n;
    uint16_t *stream;
    uint64_t *tick;
    uint32_t *task; /* row of the device's tasks */
    bool *is_head;
};

/* Turns the ids in aicpu_comm into those that the host uses. Once for each device. */
void aicpu_ids_unpack(const struct profile *p, struct device *d);

/* False: out of memory. The results are in `mem`. */
bool aicpu_tasks_find(const struct profile *p, struct device *d, struct arena *mem, struct aicpu_tasks *tasks,
                      struct aicpu_marks *marks);

/* aicpu_ops.c: the AI CPU tasks of a device that schedule communication.
 *
 * Their names and groups, when they really began and ended, and which collective of the host each carries out. */

struct aicpu_op {
    uint32_t task;       /* row of the device's tasks: the AI CPU's own */
    uint32_t info;       /* row of aicpu_comm.ops, or NO_ROW */
    uint32_t collective; /* row of comm.ops that it carries out, or NO_ROW */
    uint32_t big;        /* row of the host's requests that it carries out, or NO_ROW */
    uint32_t iteration;  /* how often the same task has run */
    uint64_t begin, end; /* ticks; from its first to its last small task where those were marked */
    uint64_t group;      /* hash */
    bool has_group;
    bool is_collective; /* false: it computes too (MC2) */
    name_id name;       /* with its suffix */
    name_id group_name; /* as tracks show it; that of an operator that also computes ends with "Aicpu" */
};

struct aicpu_ops { /* by (group, begin) */
    struct aicpu_op *at;
    size_t n;
};

/* False only without memory. */
bool aicpu_ops_find(const struct profile *p, const struct device *d, const struct aicpu_marks *marks, struct arena *mem,
                    struct aicpu_ops *out);

/* aicpu_collectives.c: collectives whose tasks are scheduled by an AI CPU of the device instead of the host.
 *
 * For the host such an operator is one AI CPU task. The tasks that run meanwhile belong to it. If the host launched a
 * collective, they are added to the tasks of this collective. An operator that computes and communicates (MC2) has its
 * own rows. */

/* After comm_analyse(). */
bool aicpu_comm_analyse(struct profile *p, struct device *d, struct error *e);

/* nccl_collectives.c: collectives on GPUs: each kernel of NCCL is one.
 *
 * What the name of a kernel does not contain (collective, group, type and number of elements) is taken from the range
 * of the domain "communication" (ascope/mark.h) that was open on the launching thread, or else from the last report of
 * the framework's backend on this thread (ascope_collective_launch()), if it matches the kernel. A collective on a GPU
 * has no tasks, so that transfers and waits inside it are not known. */

bool nccl_collectives_analyse(struct profile *p, struct device *d, struct error *e);

/* comm_operators.c: collectives as they ran: their tasks on the device, gathered into operators. */

/* After tasks_analyse(). */
bool comm_analyse(struct profile *p, struct device *d, struct error *e);

/* "hcom_allReduce__483_1_1": the name, the last digits of the group's hash (NULL: no group), and two counts. */
name_id comm_op_name(const struct profile *p, name_id base, const uint64_t *group, int64_t count, uint32_t iteration);

/* comm_links.c: bytes and times of a collective from rank to rank. One struct is used for many collectives and cleared
 * in between. */

struct comm_link {
    const char *transport; /* NULL: none that reports have a name for */
    double size_mb, time_ms;
};

struct comm_links {
    struct keys pairs; /* source << 32 | destination, in the order in which they were first used */
    LIST(struct comm_link) link;
    struct arena *mem;
};

static inline uint32_t link_source(const struct comm_links *l, size_t i)
{
    return (uint32_t)(l->pairs.key.at[i] >> 32);
}

static inline uint32_t link_destination(const struct comm_links *l, size_t i)
{
    return (uint32_t)l->pairs.key.at[i];
}

struct amount link_gbs(const struct comm_link *l);

/* As comm_cost_fill(). */
bool comm_links_fill(struct comm_links *l, struct comm_sorter *s, struct comm_event *events, size_t n, size_t closing);
bool comm_links_add(struct comm_links *total, const struct comm_links *l);
void comm_links_clear(struct comm_links *l);

/* comm_links.c: the bandwidth of each task of a collective: the bytes that it moved and the time that this took. */

/* Fills moved_bytes, moved_ns and is_piece of all tasks. False: no memory. */
bool comm_bandwidths(const struct profile *p, struct communication *c, struct arena *mem);

/* comm_cost.c: the cost of a collective: transit, wait and idle time; bytes by kind of link and packet size.
 *
 * A cost is used for one collective after the other and cleared in between. Its memory is its arena's. */

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

/* comm_tables.c: allocates and sorts the tables of collectives. */

/* Changes the number of rows to n, which is not smaller than before; new rows are zeroed. False: no memory, and the
 * table is unchanged. */
bool comm_ops_resize(struct comm_ops *o, size_t n, struct arena *mem);
bool comm_tasks_resize(struct comm_tasks *t, size_t n, struct arena *mem);

/* By begin; equal ones stay in their order. */
bool comm_tasks_sort(struct comm_tasks *t, struct arena *scratch);

#endif
