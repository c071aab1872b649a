/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_parts.h - registry: the parts of the simulated NPU. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_PARTS_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_PARTS_H

#include "device/sim_npu/sim_npu.h"
#include "device/sim_npu/sim_queue.h"

/* sim_npu_graph.c: the graph engine on the host: it loads graphs, and schedules their operators in phases. */

/* The times of the phases before and after the launch of an operator. They are recorded at the end, when it is known
 * that the operator is recorded. */
enum { NPU_PHASES_BEFORE = 4, NPU_PHASES_ALL = 5 };
struct npu_schedule {
    uint64_t what; /* enum npu_what; 0: phases are not recorded, or no iteration is open */
    uint64_t begin[NPU_PHASES_ALL], end[NPU_PHASES_ALL];
};
void npu_schedule_begin(struct npu_schedule *s, uint64_t what, bool is_graph, struct npu_times *times);
void npu_schedule_end(struct npu_schedule *s, struct npu_times *times, uint64_t name);

void npu_graph_types_name(void);

/* sim_npu_comm.c: collectives on the simulated device: each rank runs small tasks on several streams, which wait for
 * the others. */

void npu_collective_run(struct ascope_sim_stream *s, const struct npu_collective *x);

/* sim_npu_sample.c: samplers of a simulated device: memory, ports, links, image units. The caller holds the lock. */

void npu_samples_choose(const struct ascope_options *o);
uint64_t npu_samples_next(const struct npu_device *d); /* tick; NEVER: none */
void npu_samples_run(struct npu_device *d, uint64_t now);
void npu_samples_first(struct npu_device *d);
void npu_samples_last(struct npu_device *d);
void npu_samples_forget(struct npu_device *d);
void npu_traffic_add(struct npu_device *d, const struct sim_work *w);

/* sim_npu_iteration.c: iterations of a graph on the simulated NPU: the stamps that training_trace asks for.
 *
 * During an iteration the device notes where the forward pass began and the backward pass ended: at the operators that
 * fp_point and bp_point name, or at the first operator after GetNext and at the last one before the last all-reduce.
 * All-reduces and GetNext operators have stamps before and after them. As on a real device, an iteration in which
 * bp_point did not run has no stamps at all, and one in which fp_point did not run lacks only that stamp. */

/* The caller holds the lock. */
void npu_points_choose(const struct ascope_options *o); /* fp_point and bp_point of a new session */
/* Finds the operators of a loaded graph into which fp_point and bp_point were fused. */
void npu_points_fuse(const struct ascope_sim_node *nodes, uint32_t n);
uint8_t npu_points_of(const char *type, const char *name);                      /* enum npu_point_bit of a kernel */
void npu_iteration_task(struct ascope_sim_stream *s, const struct npu_task *t); /* a task has ended */

/* sim_npu_job.c: the ranks of a job on simulated devices: when each arrived at a collective. The caller holds the lock
 * of npu. */

struct npu_job npu_job(void);            /* joins the job at the first call; without one it is rank 0 of 1 */
uint64_t npu_job_number(uint64_t group); /* the number of the next collective of a group */
void npu_job_come(struct npu_meeting *m, uint64_t ns); /* this rank has arrived */
uint64_t npu_job_all(struct npu_meeting *m);           /* when the last rank arrived; NEVER: not yet */
void npu_job_forget(void);                             /* in a child process: it is not in the job */
void npu_meeting_drop(struct npu_meeting *m);          /* drops a reference; the last one frees it; NULL is fine */

/* sim_npu_host.c: the host's side of a launch on the simulated device: what the software above an NPU records of it. */

uint64_t npu_what(enum npu_what least); /* npu.what if it has one of these bits and this thread is recorded; else 0 */
uint64_t npu_now(struct npu_times *t);  /* the host's clock, but later than the last result for t */
uint64_t npu_name(const char *text);    /* records a name; returns its hash */
void npu_types_name(void);              /* registers the names of all types of calls */

/* Launches a task and records the launch, with this host time; 0: now. */
struct npu_issued npu_issue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what, uint64_t kernel,
                            struct npu_times *times, uint64_t time);
struct ascope_sim_stream *npu_stream_of(struct ascope_sim_stream *s); /* NULL: the first of the first device */
void npu_mark(void *stream, uint64_t id);
void *npu_mark_stream(void);
void npu_host_put(enum host_kind kind, const uint8_t *rec);

/* sim_npu_run.c: the thread that executes tasks on the simulated devices, their queues, and points. The caller holds
 * the lock. */

/* Points count their references. NULL is accepted everywhere: it stands for a point that nobody waits for. */
struct npu_point *npu_point_get(uint32_t n_times); /* a new point with one reference; NULL: no memory */
struct npu_point *npu_point_keep(struct npu_point *p);
void npu_point_drop(struct npu_point *p);
void npu_point_happens(struct npu_point *p, uint64_t ns); /* after n_times of these it is reached, at the latest ns */

void npu_forget(void); /* in a child process: drops all tasks; there is no thread */
bool npu_thread_start(void);
void npu_wake(void); /* wakes the thread if it would sleep for long */
void npu_wait(void); /* releases the lock until the thread has made progress, 1 s at most */
struct ascope_sim_stream *npu_stream_get(struct npu_device *d); /* NULL: too many, or no memory */

/* Appends a task to the queue of a stream and takes over its references. Waits for room, and releases the lock
 * meanwhile. */
struct npu_enqueued npu_enqueue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what);
void npu_device_put(struct npu_device *d, enum stream_id stream, const uint8_t *rec, size_t bytes);

/* sim_exchange.c: collectives that a framework executes itself (gloo, for example), shown on the simulated device. */

/* The caller holds the lock of npu. */
void npu_exchanges_release(void); /* open exchanges end now, without waiting for the host */
void npu_exchanges_forget(void);  /* in a child process: drops all of them */

/* For the thread of the queue: launches an exchange, and lets the stream of the operators wait for it. Unknown ids are
 * ignored. */
void sim_exchange_launch(uint64_t which);
void sim_exchange_join(uint64_t which);

#endif
