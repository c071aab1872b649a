/* sim_run.h - a simulation in progress; shared by the parts of the simulator, and by nobody else.
 *
 * A process has host files and devices. Host time is counted in ticks of the host's counter (10 ns), device time in
 * ticks of the device's. Every device has its own dice and its own host threads, so that one more device does not
 * change the others.
 *
 * How it stays small: the host launches in the order of its time, and a task is logged as soon as the host's time has
 * passed it, because nothing that is launched later can start earlier. Only what the host is ahead of the device is
 * kept, and a queue that is full makes the host wait, as it does in life.
 */
#ifndef ASCOPE_SIM_SIM_RUN_H
#define ASCOPE_SIM_SIM_RUN_H

#include "sim/dice.h"
#include "collect/prof_writer.h"
#include "raw/core_events.h"
#include "sim/sim_job.h"
#include "device/sim_npu/sim_records.h"

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
    bool is_full_turn;         /* the last task had the last id: a flip comes before the next */
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
    struct dice dice, counters, samples; /* the schedule; what the counters say; what the samplers see */
    struct slices out[DEVICE_FILES];
    uint64_t mono_ns, tick0, device_mono_ns; /* one instant: host clock, device counter, device clock */
    uint64_t host_cnt, host_cnt_diff;        /* the same instant as host_start.log tells it */
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
    struct sim_torch *torch;   /* NULL: nothing but the device is recorded */
    struct sim_device *device; /* o->devices */
};

/* sim_host.c: records of the host. */
uint64_t host_name(struct sim_process *p, const char *text); /* its hash; goes into the dictionary: call once a text */
void host_open(struct sim_process *p);
void host_close(struct sim_process *p);
void host_call(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread, uint64_t begin,
               uint64_t end, uint64_t item);
void host_event(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                uint32_t request, uint64_t time, uint64_t item);
uint8_t *host_record(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time);
uint8_t *host_record_of(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time, size_t bytes);
void host_track(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, enum sim_stream stream,
                uint16_t task, const struct launch *l);
void host_put32(uint8_t *at, uint32_t value);

uint64_t sim_share(uint64_t all, uint64_t parts, uint64_t which); /* as even as whole numbers can be */

/* sim_operator.c: one operator, from the calls to the device. */
struct sim_thread *launcher(struct sim_device *d, struct sim_thread *t); /* t, or who does it for t */
void memory_release(struct sim_device *d);
struct span {
    uint64_t begin, end; /* device ticks */
};
struct planned { /* a kernel of a job */
    size_t which;
    struct span when;
};
void operator_launch(struct sim_device *d, struct sim_thread *t, const struct planned *plan); /* NULL: at will */
size_t operator_pick(struct dice *d);
void node_records(struct sim_device *d, bool is_static, uint32_t thread, uint64_t time, const struct node *n,
                  const struct sim_operator *op);
void captured_record(struct sim_device *d, uint64_t time, uint16_t task, size_t which, const struct launch *launch);
uint16_t operator_blocks(struct sim_device *d, enum task_kind kind);

/* sim_device.c: the device, its streams and what it logs. */
void device_open(struct sim_process *p, uint32_t index);
void device_close(struct sim_device *d);
uint64_t device_tick(const struct sim_device *d, uint64_t host_tick);
uint64_t device_host_tick(const struct sim_device *d, uint64_t tick); /* not before the tick */
uint16_t stream_issue(struct sim_device *d, enum sim_stream s, uint32_t thread, uint64_t host_tick); /* a task id */
struct span stream_run(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l,
                       uint64_t host_tick, uint64_t duration, uint64_t not_before);
struct span stream_run_on_device(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l,
                                 uint64_t tick, uint64_t duration); /* the device itself has launched it */
void stream_run_at(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l, uint64_t host_tick,
                   struct span when);                  /* then, or as soon as it can */
void device_log(struct sim_device *d, uint64_t until); /* everything up to this tick */
void device_stamp(struct sim_device *d, uint64_t tick, uint64_t index, uint32_t model, enum sim_stream s, uint16_t task,
                  uint16_t tag);
uint64_t device_us(const struct sim_device *d, uint64_t us); /* in ticks */
uint32_t track_task(const struct sim_device *d, enum sim_stream s,
                    uint16_t task); /* as the host and stamps number it */
uint8_t *track_record(struct sim_device *d, const struct layout *l, unsigned time_field, uint64_t tick);

/* sim_hwts.c: what chips without STARS write instead. */
bool chip_is_hwts(const struct sim_process *p);
void hwts_write(struct sim_device *d, uint16_t stream, const struct device_task *t, bool is_end);
void hwts_pmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t, uint64_t cycles,
                    const uint64_t *event);

/* sim_counters.c: what the cores counted. */
void counters_write(struct sim_device *d, uint16_t stream, const struct device_task *t);
void counters_sample(struct sim_device *d, uint64_t end); /* sample based: the whole collection at once */

/* sim_comm.c: collectives that the host runs. */
struct small_task {
    enum small what;
    unsigned plane;
    uint64_t group, tag; /* hashes of the group's name and of the collective's */
    uint64_t bytes;
    uint64_t begin; /* of the call, host ticks */
};
void collective_run(struct sim_device *d, uint64_t not_before);
void comm_info(struct sim_device *d, const struct small_task *s, uint64_t time);
void comm_op(struct sim_device *d, uint64_t time, uint64_t group, uint32_t data_type, uint64_t count);
uint64_t comm_name(struct sim_process *p, const char *node, uint64_t group); /* a new name; its hash */

/* sim_kfc.c: collectives that the AI CPU runs. */
void kfc_open(struct sim_device *d);
void kfc_run(struct sim_device *d);

/* sim_graph.c */
void graph_load(struct sim_device *d);
void graph_capture(struct sim_device *d);
void graphs_run(struct sim_device *d, uint32_t step);
void graphs_end(struct sim_device *d);

/* sim_samplers.c: what a device samples while it works; sim_usage.c: the operating systems, and what writes text. */
struct sim_moment {
    uint64_t ns;     /* since the device's clock was read; 0 before the first */
    uint64_t tick;   /* of the device's counter */
    uint64_t number; /* from 0 */
};
uint64_t samplers_span_ns(const struct sim_device *d);
bool moment_next(const struct sim_device *d, uint64_t span_ns, uint32_t every_us, struct sim_moment *at);
void samplers_write(struct sim_device *d);
void usage_of_device(struct sim_device *d);
void usage_of_host(struct sim_process *p);

/* sim_step.c: one training step on one device. */
struct moments { /* of the host, ticks */
    uint64_t begin, forward, backward, launched, end;
};
void step_run(struct sim_device *d, uint32_t step, uint64_t kernels);

/* sim_job_run.c: what a rank of a job does in a step, as planned. */
uint64_t job_step_start(struct sim_device *d, uint32_t step, uint64_t earliest); /* when the host begins with it */
void job_step_run(struct sim_device *d, struct moments *at);
void job_clocks_set(struct sim_process *p);
void job_names_write(struct sim_process *p);

/* sim_info.c: info.json and its kin. */
void info_write(struct sim_process *p);
void info_date(char *text, size_t size, const char *format, uint64_t wall_us); /* as strftime(), in UTC */

#endif
