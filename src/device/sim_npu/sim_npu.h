/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu.h - the simulated NPU that runs in a program: the inside of ascope/sim.h, for the files sim_npu*.c.
 *
 * A process has one simulator: devices with streams, and one thread that works them off. Launching threads put tasks into
 * queues; the thread goes through what happens on each device in the order of its time, up to now. A task begins when it has
 * arrived, its stream is free, and what it waits for has happened; so when things happen does not depend on when the thread
 * gets to them, and a thread that oversleeps delays only those who wait for it.
 *
 * A device counts ticks of its own counter: another zero than the host's clocks, and a little faster or slower. One lock guards
 * everything but what is atomic; records go into rings while it is held, which never waits.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "ascope/record.h"
#include "ascope/sim.h"
#include "collect/streams.h"
#include "device/device.h"
#include "device/sim_npu/sim_cost.h"
#include "sim/sim_records.h"

extern const struct device_kind sim_npu_kind;

enum { NPU_MHZ = 50, NPU_NS_PER_TICK = 1000 / NPU_MHZ };
enum { NPU_DEVICES_MOST = 16, NPU_QUEUE_TASKS = 1024, NPU_STREAMS_MOST = 1024, NPU_PLANES = 3 };
static const uint64_t NEVER = UINT64_MAX; /* of times: not yet known */

/* ---- clock ---- */
struct npu_clock {
    uint64_t host_ns, tick, mono_ns; /* one instant: CLOCK_MONOTONIC_RAW, the counter, the device's own clock */
    uint32_t speed;                  /* counted in the time of a million ticks of an exact counter */
};
uint64_t npu_clock_tick(const struct npu_clock *c, uint64_t host_ns);
uint64_t npu_clock_ns(const struct npu_clock *c, uint64_t tick); /* of the host; not before the tick */

/* ---- tasks ---- */

/* Something that happens once, or so many times; tasks of any stream wait for it. */
struct npu_point {
    uint64_t ns; /* of the host, when it happened the last time; NEVER: not yet */
    uint64_t latest_ns;
    uint32_t n_left, n_refs;
    struct npu_point *next; /* among those that nobody uses */
};

/* A collective: ranks meet. See sim_npu_job.h for how they hear of each other. */
struct npu_meeting {
    uint64_t group, number; /* hash of the group's name; its collectives are counted */
    uint64_t came_ns;       /* when this rank did; NEVER: not yet */
    uint64_t all_ns;        /* when the last rank did */
    uint32_t n_refs;
    char what[96]; /* for messages */
};

enum npu_iteration_task { NPU_ITERATION_NONE, NPU_ITERATION_BEGINS, NPU_ITERATION_ENDS };
enum npu_point_bit { NPU_POINT_FP = 1, NPU_POINT_BP = 2, NPU_POINT_GET_NEXT = 4 };

struct npu_task {
    struct sim_work work;
    uint64_t arrived, begin, end;      /* ticks; end is NEVER while nobody knows */
    struct npu_point *after;           /* begins not before this */
    struct npu_point *until;           /* ends not before this */
    struct npu_point *happens;         /* its end is one of these */
    struct npu_meeting *comes, *meets; /* its begin is when this rank comes; it ends when all have */
    uint64_t mark;                     /* stamped when it begins; 0: none */
    uint32_t session, what;            /* that records it, 0: none; enum npu_what */
    uint32_t model;                    /* of an iteration */
    uint32_t reduce;                   /* a task of this all-reduce; 0: of none */
    uint16_t n_reduce;                 /* so many tasks has it */
    uint16_t id, batch;
    uint8_t iteration, points; /* enum npu_iteration_task; enum npu_point_bit */
    bool is_flip;              /* the numbers of tasks began again with it */
};

struct ascope_sim_stream { /* given back, it waits for the next who wants one: numbers of its tasks go on */
    struct npu_device *of;
    struct npu_task *queue; /* NPU_QUEUE_TASKS, a ring */
    struct npu_point *tail; /* the next task begins after this: the other streams of a collective */
    struct ascope_sim_stream *plane[NPU_PLANES - 1]; /* made for its first collective */
    uint64_t free_at;                                /* tick */
    uint64_t n_launched, n_done;
    uint32_t head, n, active_at;
    uint16_t id, next_task, batch;
    bool is_full_turn, is_free;
    bool is_aside; /* may wait for the host: who waits for the whole device does not wait for it */
    uint8_t stage;
};

struct ascope_sim_event {
    struct npu_point *point; /* of the last time that it was recorded; NULL: never */
};

struct npu_extent {
    uint64_t at, bytes;
};
struct npu_pool {
    struct npu_extent *gap, *block; /* by address; blocks in a table by hash of the address */
    size_t n_gaps, gaps_room, n_blocks, blocks_room;
    uint64_t allocated, reserved;
};

/* What is sampled, each at a rate of its own: memory, ports to other machines, links to the host and to other chips, image units. */
enum npu_sampler { SAMPLER_OF_MEMORY, SAMPLER_OF_PORTS, SAMPLER_OF_LINKS, SAMPLER_OF_IMAGES, NPU_SAMPLERS };
struct npu_traffic {        /* bytes since the device is there; between chips and machines as many come as go */
    uint64_t read, written; /* of its memory */
    uint64_t from_host, to_host, chips, machines;
};

enum { NPU_STAMPED_MOST = 64 };
struct npu_stamped { /* something with stamps before and after it */
    uint64_t begin, end;
    uint32_t number, n_left; /* of the all-reduce; tasks of it that have not ended */
    uint16_t stream, task;
};

struct npu_iteration { /* of a graph, while it runs; ticks are 0 where nothing was seen */
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
    uint64_t read_tick; /* when the collector has read it; 0: not yet */
    struct ascope_sim_stream *stream[NPU_STREAMS_MOST], *active[NPU_STREAMS_MOST]; /* active: have tasks */
    uint32_t n_streams, n_active;
    uint32_t n_log, n_pmu;
    struct npu_pool pool;
    uint64_t next_sample[NPU_SAMPLERS];          /* tick; NEVER: none */
    uint64_t last_sample[NPU_SAMPLERS];          /* tick */
    struct npu_traffic traffic, sampled;         /* sampled: at the last sample of its sampler */
    bool is_headed;                              /* text that names the columns is there */
    uint64_t frequency_recorded;                 /* tick of the last record of it; 0: none in this session */
    uint64_t window_end, busy_ticks, busy_until; /* of the time that the frequency is decided for */
    struct npu_iteration iteration;
    uint64_t n_iterations;
    uint32_t core_mhz, n_hot; /* n_hot: windows that it was busy in, one after the other */
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
    NPU_GRAPH = 8192,   /* how the graph engine schedules an operator, in its main phases */
    NPU_PHASES = 16384, /* and in all others */
    /* what a launch may leave */
    NPU_LAUNCHES = NPU_TASKS | NPU_COMM | NPU_CALLS | NPU_AICPU | NPU_ACL | NPU_STEPS | NPU_GRAPH,
};
enum { NPU_SESSION_SHIFT = 32 };
enum { NPU_TYPE_MALLOC = 0x30101, NPU_TYPE_FREE }; /* calls that the other simulator does not make */

struct npu {
    pthread_mutex_t lock;
    pthread_cond_t work, progress; /* for the thread; for those who wait for it */
    bool has_thread, is_prepared;
    uint64_t sleeps_until_ns; /* the thread; 0: it is awake */
    unsigned n_waiting;
    struct npu_device *device[NPU_DEVICES_MOST];
    unsigned n_devices;
    struct npu_point *free_points;

    _Atomic uint64_t what; /* for launches: enum npu_what, and above them the session; 0: nothing is recorded */
    uint32_t session, n_sessions, recorded; /* until the last task is recorded; enum npu_what */
    uint64_t n_recorded;                    /* tasks that the session still waits for */
    uint16_t event[2][PMU_COUNTERS];        /* of the metrics: cube, vector */
    unsigned n_events[2];
    bool counts_writes;                  /* of the last-level cache, instead of reads */
    uint64_t point[2];                   /* hashes of fp_point, bp_point; 0: found automatically */
    uint64_t fused_point[2];             /* of the operators that they were fused into; 0: none */
    uint32_t n_open;                     /* iterations that the host has begun and not ended */
    uint32_t n_reduces;                  /* all-reduces so far */
    uint64_t sample_ticks[NPU_SAMPLERS]; /* between two samples; 0: none */
    bool keeps;                          /* what is recorded: no warm-up */
    char message[240];                   /* of the thread, reported when it does not hold the lock */
};
extern struct npu npu;

extern __thread bool npu_is_inside __attribute__((tls_model("initial-exec"))); /* this thread holds the lock */
void npu_lock(void); /* and everything is there that has to be: clocks, the thread */
void npu_unlock(void);
struct npu_device *npu_device_get(unsigned index); /* makes it with the first use; NULL: more than there can be */

/* Numbers that the environment sets: ASCOPE_SIM_* and those of a job's launcher. */
long npu_setting(const char *name, long least, long most, long otherwise);

struct npu_enqueued {
    uint16_t stream, task, batch;
    bool is_flip, is_recorded;
};

struct npu_times { /* each later than the one before, whatever the clock's steps are */
    uint64_t last;
};
struct npu_issued {
    bool is_recorded;
    uint64_t time; /* of the launch */
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
    struct npu_job who;    /* in the group; of 0 ranks: as in the job */
    int peer;              /* the only other one; -1: all are */
    struct npu_point *met; /* when they have met; NULL: found out in the job */
};

#endif
