/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu.h - the simulated NPU that runs in a program: the implementation of ascope/sim.h, for the files sim_npu*.c.
 *
 * A process has one simulator: devices with streams, and one thread that executes their tasks. Launching threads put
 * tasks into queues; the simulator's thread processes the events of each device in the order of simulated time, up to
 * now. A task begins when it has arrived, its stream is free, and what it waits for has happened. Simulated times
 * therefore do not depend on when the thread runs; a thread that runs late delays only those who wait for it.
 *
 * A device has a tick counter of its own, with another zero than the host's clocks, and a little faster or slower. One
 * lock guards everything that is not atomic. Records are put into rings while the lock is held: that never blocks.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "ascope/record.h"
#include "ascope/sim.h"
#include "collect/write/streams.h"
#include "device/device.h"
#include "device/sim_npu/sim_cost.h"
#include "sim/device/sim_records.h"

extern const struct device_kind sim_npu_kind;

enum { NPU_MHZ = 50, NPU_NS_PER_TICK = 1000 / NPU_MHZ };
enum { NPU_DEVICES_MOST = 16, NPU_QUEUE_TASKS = 1024, NPU_STREAMS_MOST = 1024, NPU_PLANES = 3 };
static const uint64_t NEVER = UINT64_MAX; /* a time that is not known yet */

/* ---- clock ---- */
struct npu_clock {
    uint64_t host_ns, tick,
        mono_ns;    /* the same instant in CLOCK_MONOTONIC_RAW, in ticks, and in the device's own clock */
    uint32_t speed; /* ticks in the time in which an exact counter counts a million */
};
uint64_t npu_clock_tick(const struct npu_clock *c, uint64_t host_ns);
uint64_t npu_clock_ns(const struct npu_clock *c, uint64_t tick); /* time of the host, rounded up */

/* ---- tasks ---- */

/* A point in time that tasks of any stream can wait for. It is reached when npu_point_happens() was called n_times. */
struct npu_point {
    uint64_t ns; /* host time at which it was reached; NEVER: not yet */
    uint64_t latest_ns;
    uint32_t n_left, n_refs;
    struct npu_point *next; /* in the list of unused points */
};

/* The synchronisation of all ranks in a collective. See sim_npu_job.c for how they exchange their times. */
struct npu_meeting {
    uint64_t group, number; /* hash of the group's name; number of the collective in the group, from 0 */
    uint64_t came_ns;       /* when this rank arrived; NEVER: not yet */
    uint64_t all_ns;        /* when the last rank arrived; NEVER: not yet known */
    uint32_t n_refs;
    char what[96]; /* for messages */
};

enum npu_iteration_task { NPU_ITERATION_NONE, NPU_ITERATION_BEGINS, NPU_ITERATION_ENDS };
enum npu_point_bit { NPU_POINT_FP = 1, NPU_POINT_BP = 2, NPU_POINT_GET_NEXT = 4 };

struct npu_task {
    struct sim_work work;
    uint64_t arrived, begin, end; /* ticks; end is NEVER while it is unknown */
    struct npu_point *after;      /* the task begins after this point; NULL: it does not wait */
    struct npu_point *until;      /* the task ends after this point */
    struct npu_point *happens;    /* the end of the task is passed to npu_point_happens() of this point */
    struct npu_meeting *comes,
        *meets;             /* comes: its begin is this rank's arrival; meets: it ends when all ranks have arrived */
    uint64_t mark;          /* id of a mark that is stamped when it begins; 0: none */
    uint32_t session, what; /* the session that records it, 0: none; enum npu_what */
    uint32_t model;         /* of a task that begins or ends an iteration */
    uint32_t reduce;        /* number of the all-reduce that it is a task of; 0: none */
    uint16_t n_reduce;      /* number of tasks of that all-reduce */
    uint16_t id, batch;
    uint8_t iteration, points; /* enum npu_iteration_task; enum npu_point_bit */
    bool is_flip;              /* task ids started again at 0 with this task */
};

/* A stream that the program has freed is reused for the next new one; its task ids continue. */
struct ascope_sim_stream {
    struct npu_device *of;
    struct npu_task *queue; /* a ring of NPU_QUEUE_TASKS */
    struct npu_point *tail; /* the next task begins after this point: the end of a collective on its other streams */
    struct ascope_sim_stream *plane[NPU_PLANES - 1]; /* further streams for collectives, created when needed */
    uint64_t free_at;                                /* tick at which the last task ended */
    uint64_t n_launched, n_done;
    uint32_t head, n, active_at; /* first task in the queue, number of tasks, index in the device's `active` */
    uint16_t id, next_task, batch;
    bool had_last_id; /* the last task had the highest id: the next one is a flip */
    bool is_free;     /* the program has freed it */
    bool is_aside;    /* its tasks may wait for the host: ascope_sim_synchronize(NULL) does not wait for them */
    uint8_t stage;    /* enum stage: what happens next to the first task */
};

struct ascope_sim_event {
    struct npu_point *point; /* when it was recorded last; NULL: never */
};

struct npu_extent {
    uint64_t at, bytes;
};
struct npu_pool {
    struct npu_extent *gap, *block; /* gaps are sorted by address; blocks are a hash table by address */
    size_t n_gaps, gaps_room, n_blocks, blocks_room;
    uint64_t allocated, reserved;
};

/* Samplers, each with its own rate: memory, ports to other machines, links to the host and to other chips, image
 * units. */
enum npu_sampler { SAMPLER_OF_MEMORY, SAMPLER_OF_PORTS, SAMPLER_OF_LINKS, SAMPLER_OF_IMAGES, NPU_SAMPLERS };
struct npu_traffic {        /* bytes since the device exists; chips and machines: in each of both directions */
    uint64_t read, written; /* of its memory */
    uint64_t from_host, to_host, chips, machines;
};

enum { NPU_STAMPED_MOST = 64 };
struct npu_stamped { /* an all-reduce or a GetNext, which have stamps before and after them */
    uint64_t begin, end;
    uint32_t number, n_left; /* of an all-reduce: its number, and how many of its tasks have not ended */
    uint16_t stream, task;
};

struct npu_iteration { /* the current iteration of a graph; ticks, 0: not seen */
    bool is_open;
    uint64_t index;
    uint32_t model;
    uint64_t begin, first, last, before_exchange, named_fp, named_bp;
    struct npu_stamped reduce[NPU_STAMPED_MOST], get_next[NPU_STAMPED_MOST];
    uint32_t n_reduces, n_get_nexts;
};

struct npu_device {
    unsigned index; /* in this process */
    unsigned id;    /* on this machine: device_N */
    struct npu_clock clock;
    uint64_t read_tick; /* when the recorder has read its clock; 0: not yet */
    struct ascope_sim_stream *stream[NPU_STREAMS_MOST], *active[NPU_STREAMS_MOST]; /* active: those with tasks */
    uint32_t n_streams, n_active;
    uint32_t n_log, n_pmu;
    struct npu_pool pool;
    uint64_t next_sample[NPU_SAMPLERS];          /* tick; NEVER: none */
    uint64_t last_sample[NPU_SAMPLERS];          /* tick */
    struct npu_traffic traffic, sampled;         /* sampled: the traffic at the last sample */
    bool is_headed;                              /* the line with the column names of hccs.data was recorded */
    uint64_t frequency_recorded;                 /* tick of the last record of the frequency; 0: none in this session */
    uint64_t window_end, busy_ticks, busy_until; /* of the window after which the frequency is decided */
    struct npu_iteration iteration;
    uint64_t n_iterations;
    uint32_t core_mhz, n_hot; /* n_hot: number of busy windows in a row */
};

/* ---- what is recorded ---- */
enum npu_what {
    NPU_TASKS = 1, /* launches, task log, calls of nodes */
    NPU_NODES = 2, /* operators */
    NPU_TENSORS = 4,
    NPU_COMM = 8,
    NPU_CALLS = 16, /* runtime calls and copies */
    NPU_AICPU = 32,
    NPU_COUNTERS = 64,
    NPU_L2 = 128,
    NPU_MEMORY = 256,
    NPU_MARKS = 512,
    NPU_ACL = 1024,
    NPU_ATTRIBUTES = 2048,
    NPU_STEPS = 4096,   /* stamps of iterations */
    NPU_GRAPH = 8192,   /* main phases in which the graph engine schedules an operator */
    NPU_PHASES = 16384, /* all other phases */
    /* everything that a launch may record */
    NPU_LAUNCHES = NPU_TASKS | NPU_COMM | NPU_CALLS | NPU_AICPU | NPU_ACL | NPU_STEPS | NPU_GRAPH,
};
enum { NPU_SESSION_SHIFT = 32 };
enum { NPU_TYPE_MALLOC = 0x30101, NPU_TYPE_FREE }; /* types of calls that src/sim does not have */

struct npu {
    pthread_mutex_t lock;
    pthread_cond_t work, progress; /* work: wakes the thread; progress: wakes those who wait for it */
    bool has_thread, is_prepared;
    uint64_t sleeps_until_ns; /* of the thread; 0: it is awake */
    unsigned n_waiting;
    struct npu_device *device[NPU_DEVICES_MOST];
    unsigned n_devices;
    struct npu_point *free_points;

    _Atomic uint64_t what; /* read by launches: enum npu_what and, above it, the session; 0: nothing is recorded */
    uint32_t session, n_sessions,
        recorded;                    /* session and recorded (enum npu_what) stay set until its last task has ended */
    uint64_t n_recorded;             /* tasks of the session that have not ended */
    uint16_t event[2][PMU_COUNTERS]; /* the events that are counted, of cube and of vector cores */
    unsigned n_events[2];
    bool counts_writes;                  /* the last-level cache counts writes, not reads */
    uint64_t point[2];                   /* hashes of fp_point and bp_point; 0: found automatically */
    uint64_t fused_point[2];             /* hashes of the operators into which those were fused; 0: none */
    uint32_t n_open;                     /* iterations that the host has begun and not ended */
    uint32_t n_reduces;                  /* all-reduces so far */
    uint64_t sample_ticks[NPU_SAMPLERS]; /* between two samples; 0: none */
    bool keeps;                          /* records are kept: the warm-up is over */
    char message[240]; /* a warning that the thread reports after it has released the lock; "": none */
};
extern struct npu npu;

extern __thread bool npu_is_inside __attribute__((tls_model("initial-exec"))); /* this thread holds the lock */
void npu_lock(void); /* the first call also starts the thread */
void npu_unlock(void);
struct npu_device *npu_device_get(
    unsigned index); /* created when it is first used; NULL: no memory, or index too high */

/* A number from the environment: ASCOPE_SIM_*, or a variable of a job's launcher. `otherwise` if it is not set or out
 * of range. */
long npu_setting(const char *name, long least, long most, long otherwise);

struct npu_enqueued {
    uint16_t stream, task, batch;
    bool is_flip, is_recorded;
};

struct npu_times { /* times of one call: each is later than the one before, even if the clock did not advance */
    uint64_t last;
};
struct npu_issued {
    bool is_recorded;
    uint64_t time; /* host time of the launch */
};

/* sim_npu_job.c: ranks of a job. */
struct npu_job {
    uint32_t rank, ranks;
};

/* sim_npu_comm.c: what ranks do together. */
struct npu_collective {
    const char *name, *group;
    uint64_t bytes;
    enum ascope_sim_type type;
    struct npu_job who; /* rank and size in the group; ranks 0: as in the job */
    int peer;           /* the only other rank of a send or receive; -1: all ranks take part */
    struct npu_point
        *met; /* reached when all ranks have arrived; NULL: the simulated ranks of the job synchronise themselves */
};

#endif
