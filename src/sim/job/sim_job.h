/* SPDX-License-Identifier: Apache-2.0 */
/* sim_job.h - a training job over several ranks: who belongs together, what is wrong with it, and what happens when.
 *
 * Ranks are counted as Megatron counts them: tensor parallel ranks are neighbours, then come the data parallel ones,
 * then the stages of the pipeline. All run the same network. A step is: micro-batches forward (receive, compute with
 * collectives of the tensor parallel group, send), the same backward, buckets of gradients over the data parallel group
 * while the last one computes, one collective of all ranks, the optimizer, the weights back to the data parallel group.
 *
 * The plan is made once, for all ranks together: a collective begins when its last member is there, so early ones wait
 * and the transfer takes the same time in all. Afterwards every rank walks through it alone, and is written by whoever
 * has time. Times are nanoseconds since the job began. Same options, same plan. All arithmetic is in integers.
 */
#ifndef ASCOPE_SIM_JOB_SIM_JOB_H
#define ASCOPE_SIM_JOB_SIM_JOB_H

#include "sim/job/dice.h"
#include "sim/job/generate.h"
#include "sim/device/sim_tables.h"

enum { JOB_RANKS_OF_HOST = 8, JOB_FAULTS_MOST = 64, JOB_PLANES = 3, JOB_OPERATORS_MOST = 32 };

/* ---- what is wrong: --slow-rank and the like ---- */
struct job_fault {
    uint32_t at, with; /* step or rank; the other end of a link; of a stall its rank, or JOB_EVERY_RANK */
    int64_t amount;    /* thousandths of a factor, or nanoseconds */
};
static const uint32_t JOB_EVERY_RANK = UINT32_MAX;
struct job_faults {
    struct job_fault of[SIM_TROUBLES][JOB_FAULTS_MOST];
    uint32_t n[SIM_TROUBLES];
};

/* ---- who belongs together ---- */
enum job_axis { AXIS_WORLD, AXIS_TP, AXIS_DP, AXIS_PP, AXES };
struct job_group { /* its members are first, first + stride, ... */
    uint32_t first, stride, size;
    uint32_t number; /* among all groups of the job */
    uint32_t place;  /* of the rank that was asked for */
};

/* The channels of a rank's collectives, each with its own order. What a stage sends is what the next one receives. */
enum job_channel {
    CHANNEL_TP,
    CHANNEL_DP,
    CHANNEL_WORLD,
    CHANNEL_FROM_PREVIOUS,
    CHANNEL_TO_NEXT,
    CHANNEL_FROM_NEXT,
    CHANNEL_TO_PREVIOUS,
    CHANNELS
};

/* ---- what is done: the same in every rank of a stage ---- */
enum job_work { WORK_KERNELS, WORK_EXCHANGE, WORK_JOIN }; /* join: the compute stream waits for the channel */
struct job_item {
    uint8_t work, channel, collective;
    bool blocks;       /* the compute stream waits for the end of the exchange */
    uint64_t first, n; /* kernels of the step */
};
struct job_program {
    struct job_item *item;
    size_t n, room;
    uint64_t kernels, forward, optimizer,
        chunk; /* of a step; from where on backward, optimizer; of one micro-batch forward */
};

/* One collective, or one transfer between two stages. */
struct job_exchange {
    uint64_t begin_ns, end_ns; /* the last member has arrived; it has ended in all members */
    uint32_t n_came; /* members that have arrived, while the plan is made; begin_ns is the latest arrival until then */
};
struct sim_job_line { /* all exchanges of a channel between the same ranks, in order */
    struct job_exchange *at;
    size_t n, room;
    uint32_t members;
    uint64_t cost_ns[COLLECTIVE_RECEIVE + 1]; /* by collective; 0: not yet known */
};

struct sim_job {
    size_t slow_operator; /* row of sim_operators; SIZE_MAX: none */
    uint64_t slow_factor; /* thousandths */
    const struct sim_options *o;
    const struct chip *chip;
    uint32_t ranks, size[AXES], host_ranks, micro_batches;
    uint64_t kernels; /* of one rank, over all steps */
    uint64_t unit_ns; /* a tick of the devices' counter, at least 20 */
    struct job_faults faults;
    struct job_program (*program)[2]; /* of a stage; the second one has a kernel more */
    struct sim_job_line *line;
    size_t n_lines;
    uint8_t forward[JOB_OPERATORS_MOST], reverse[JOB_OPERATORS_MOST]; /* operators, see operators_pair() */
};

struct job_group job_group(const struct sim_job *j, enum job_axis axis, uint32_t rank);
enum { JOB_GROUP_BYTES = 64 };
void job_group_id(const struct sim_job *j, const struct job_group *g, char out[JOB_GROUP_BYTES]); /* as HCCL calls it */
const char *job_group_name(enum job_axis axis);                                                   /* as PyTorch does */
enum job_axis job_axis_of(enum job_channel c);
bool job_links(const struct sim_job *j, uint32_t a, uint32_t b); /* some exchange moves data between these ranks */
uint32_t job_stage(const struct sim_job *j, uint32_t rank);

/* ---- the tasks of an exchange on one rank ---- */
enum { JOB_TASKS_MOST = 256 };
struct job_task {
    enum small what;
    unsigned plane;
    uint32_t remote, link; /* rank in the group */
    uint64_t bytes, begin_ns, end_ns;
};
struct job_times {
    uint64_t arrives_ns, begin_ns, end_ns; /* this rank arrives, the last rank has arrived, the end */
    uint64_t number;                       /* of the exchange in its line; UINT64_MAX: computes the longest time */
};
/* In the order of the host's calls. last_ns: when the last transfer ends; may be NULL, as may out. */
size_t job_tasks(const struct sim_job *j, uint32_t rank, const struct job_item *item, const struct job_times *t,
                 struct job_task *out, uint64_t *last_ns);
uint64_t job_bytes(enum job_channel c); /* of an exchange */

/* ---- a rank's way through the job ---- */
enum job_step_result { JOB_EVENT, JOB_WAITS, JOB_STEP_ENDS };
struct job_event {
    const struct job_item *item;
    uint64_t host_ns, stall_ns; /* when the host launches it; how long it stalls before */
    uint64_t begin_ns, end_ns;  /* of a kernel; of the time that the compute stream waits */
    uint64_t ready_ns;          /* of an exchange: the compute stream has come to it */
    struct job_times times;     /* of an exchange */
    uint64_t kernel;            /* its number in the step, */
    size_t which;               /* and its operator */
};
struct job_walk {
    struct sim_job *job;
    uint32_t rank, step;
    bool is_planning, has_come;
    uint64_t begin_ns, host_ns, device_ns; /* of the step; what comes next */
    size_t item;
    uint64_t in_item;
    const struct job_program *program;
    size_t posted[CHANNELS];
};

bool sim_is_job(const struct sim_options *o); /* false: a single process */

#endif
