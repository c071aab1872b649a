/* SPDX-License-Identifier: Apache-2.0 */
/* sim_run.h - the state of a simulation; used only by the parts of the simulator.
 *
 * A process has host files and devices. Host time is counted in ticks of the host's counter (10 ns), device time in
 * ticks of the device's. Every device has its own dice and its own host threads, so that one more device does not
 * change the others.
 *
 * Memory is bounded: the host launches in order of time, and a task is logged as soon as the host's time has passed it,
 * because nothing that is launched later can start earlier. Only tasks that the device has not reached are kept, and a
 * full queue makes the host wait, as on a real device.
 */
#ifndef ASCOPE_SIM_JOB_SIM_RUN_H
#define ASCOPE_SIM_JOB_SIM_RUN_H

#include "sim/job/dice.h"
#include "collect/write/prof_writer.h"
#include "raw/core_events.h"
#include "sim/job/sim_job.h"
#include "sim/device/sim_records.h"

enum { HOST_MHZ = 100, NS_PER_HOST_TICK = 1000 / HOST_MHZ };
enum { RANKS = 8, PLANES = 3 };
enum { GRAPH_OPERATORS = 6, CAPTURED_OPERATORS = 4 };
static const uint32_t MODEL_NONE = UINT32_MAX;

enum host_file {
    HOST_CALL,
    HOST_CALL_ONCE, /* "once": what belongs to loading, in the unaging twin of the file */
    HOST_NODE,
    HOST_NODE_ONCE,
    HOST_ATTR,
    HOST_TRACK,
    HOST_TRACK_ONCE,
    HOST_MEMCPY,
    HOST_HCCL_OP,
    HOST_CAPTURE_ONCE,
    HOST_CAPTURED_ONCE,
    HOST_TENSOR,
    HOST_TENSOR_ONCE,
    HOST_CONTEXT,
    HOST_HCCL,
    HOST_MC2,
    HOST_MARK,
    HOST_MEMORY,
    HOST_THREADS,
    HOST_FUSION_ONCE,
    HOST_GRAPH_ONCE,
    HOST_STATIC_MEMORY_ONCE,
    HOST_LOGIC_ONCE,
    HOST_NAMES,
    HOST_TYPES,
    HOST_FILES
};

enum device_file {
    DEVICE_LOG,
    DEVICE_PMU,
    DEVICE_TRACK,
    DEVICE_AICPU,
    DEVICE_L2,
    DEVICE_SMMU,
    DEVICE_VECTOR_LOG, /* of vector cores that have files of their own */
    DEVICE_VECTOR_PMU,
    DEVICE_FILES
};

struct sim_thread {
    uint32_t id;
    uint64_t now; /* host ticks */
};

struct device_task {
    uint64_t begin, end; /* device ticks */
    uint16_t id, blocks;
    uint8_t kind;
};

enum { STREAMS_OF_GROUP = 3 };
enum sim_stream {
    STREAM_MAIN,
    STREAM_SIDE,
    STREAM_COPY,
    STREAM_GRAPH,
    STREAM_CAPTURED,
    STREAM_COMM, /* one for each plane */
    STREAM_CONTROL = STREAM_COMM + PLANES,
    STREAM_KFC, /* a kernel of the AI CPU, and the streams that it fills */
    STREAM_MC2 = STREAM_KFC + STREAMS_OF_GROUP + 1,
    STREAM_JOB = STREAM_MC2 + STREAMS_OF_GROUP + 1, /* of a job: a plane each for every channel */
    STREAMS = STREAM_JOB + CHANNELS * JOB_PLANES
};

enum { QUEUE_TASKS = 1024, LIVE_BLOCKS = 32, OPERATORS_MOST = 32 };
struct device_stream {
    uint16_t id;
    uint16_t next_task, batch;
    bool is_full_turn;         /* the last task had the last id: a flip precedes the next one */
    uint64_t free_at;          /* end of the last task */
    struct device_task *queue; /* QUEUE_TASKS, a ring: not yet logged */
    uint32_t head, n;
    uint8_t stage; /* how many records of the head are in the log */
};

struct graph_task {
    enum task_kind kind;
    uint16_t blocks, us_min, us_max;
};

struct sim_block { /* of device memory */
    uint64_t address, bytes, name;
};

struct sim_device {
    struct sim_process *of;
    int id;
    uint32_t rank;
    struct dice dice, counters, samples; /* for the schedule, the counters, the samplers */
    struct slices out[DEVICE_FILES];
    uint64_t mono_ns, tick0, device_mono_ns; /* one instant: host clock, device counter, device clock */
    uint64_t host_cnt, host_cnt_diff;        /* the same instant as host_start.log reports it */
    uint64_t now;                            /* host ticks; nothing will be launched earlier */
    uint64_t logged;                         /* device ticks; everything before is in the log */
    struct sim_thread main, backward, comm;
    struct device_stream stream[STREAMS];
    uint32_t n_log, n_pmu, n_soc; /* running counts, of which records carry the low bits */
    uint32_t graph_model, captured_model;
    struct graph_task graph[GRAPH_OPERATORS], captured[CAPTURED_OPERATORS];
    struct sim_block live[LIVE_BLOCKS];
    uint32_t n_live;
    uint64_t allocated, next_address;
    uint64_t n_kernels;
    struct job_walk walk;
};

struct sim_process {
    const struct sim_options *o;
    const struct chip *chip;
    const struct core_events *metrics;
    uint32_t index, pid;
    struct sim_job *job; /* NULL: this process is alone; lent, and not changed */
    uint64_t job_begin;  /* host ticks */
    struct dice dice;
    struct prof_writer writer;
    struct slices host[HOST_FILES];
    uint64_t mono_ns, cnt, wall_us; /* one instant: the beginning of the collection */
    uint64_t end;                   /* host ticks: the end of it */
    struct {
        uint64_t call, name, type, kernel; /* hashes of its texts */
    } operator_name[OPERATORS_MOST];
    uint64_t kfc_name[2]; /* of the kernels of the AI CPU that run collectives */
    uint64_t small_name[SMALL_KINDS], group_name, kfc_group_name, alg_name, axis_name[AXES], domain_name, attr_name[2];
    uint64_t n_collectives;
    struct sim_front *front;   /* NULL: nothing but the device is recorded */
    struct sim_device *device; /* o->devices */
};

/* The device of a framework's process, by its number on the host: that of its device_N directory. */
static inline uint32_t sim_device_number(const struct sim_process *p)
{
    return p->job ? p->index % p->job->host_ranks : p->index;
}

struct sim_span {
    uint64_t begin, end; /* device ticks */
};
struct planned { /* a kernel of a job */
    size_t which;
    struct sim_span when;
};

/* sim_comm.c: collectives that the host runs. */
struct small_task {
    enum small what;
    unsigned plane;
    uint64_t group, tag; /* hashes of the group's name and of the collective's */
    uint64_t bytes;
    uint64_t begin; /* of the call, host ticks */
};

/* sim_samplers.c: what a device samples while it works; sim_usage.c: the operating systems, and what writes text. */
struct sim_moment {
    uint64_t ns;     /* since the device's clock was read; 0 before the first */
    uint64_t tick;   /* of the device's counter */
    uint64_t number; /* from 0 */
};

/* sim_step.c: one training step on one device. */
struct moments { /* of the host, ticks */
    uint64_t begin, forward, backward, launched, end;
};

#endif
