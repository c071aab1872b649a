/* SPDX-License-Identifier: Apache-2.0 */
/* sim_device.h - registry: a simulated device: its streams, tasks and log. */
#ifndef ASCOPE_SIM_DEVICE_SIM_DEVICE_H
#define ASCOPE_SIM_DEVICE_SIM_DEVICE_H

#include "sim/job/sim_front.h"
#include "sim/job/sim_job.h"
#include "sim/job/sim_run.h"

void device_open(struct sim_process *p, uint32_t index);
void device_close(struct sim_device *d);
uint64_t device_tick(const struct sim_device *d, uint64_t host_tick);
uint64_t device_host_tick(const struct sim_device *d, uint64_t tick); /* not before the tick */
uint16_t stream_issue(struct sim_device *d, enum sim_stream s, uint32_t thread, uint64_t host_tick); /* a task id */
struct sim_span stream_run(struct sim_device *d, enum sim_stream s, uint16_t task, const struct sim_launch *l,
                           uint64_t host_tick, uint64_t duration, uint64_t not_before);
struct sim_span stream_run_on_device(struct sim_device *d, enum sim_stream s, uint16_t task, const struct sim_launch *l,
                                     uint64_t tick, uint64_t duration); /* launched by the device itself */
void stream_run_at(struct sim_device *d, enum sim_stream s, uint16_t task, const struct sim_launch *l,
                   uint64_t host_tick, struct sim_span when); /* at that time, or as soon as possible after it */
void device_log(struct sim_device *d, uint64_t until);        /* logs all tasks up to this tick */
void device_stamp(struct sim_device *d, uint64_t tick, uint64_t index, uint32_t model, enum sim_stream s, uint16_t task,
                  uint16_t tag);
uint64_t device_us(const struct sim_device *d, uint64_t us); /* in ticks */
/* One number for stream and task, on chips whose ids have 32 bits. */
static inline uint32_t wide_id(uint16_t stream, uint16_t task)
{
    return (uint32_t)task << 16 | stream;
}
uint32_t track_task(const struct sim_device *d, enum sim_stream s,
                    uint16_t task); /* the id in records of the host and in stamps */
uint8_t *track_record(struct sim_device *d, const struct layout *l, unsigned time_field, uint64_t tick);

/* sim_counters.c: what the cores of a simulated device counted. */
void counters_write(struct sim_device *d, uint16_t stream, const struct device_task *t);
void counters_sample(struct sim_device *d, uint64_t end); /* sample based: the whole collection at once */

/* sim_samplers.c: what a simulated device samples while it works. */
uint64_t samplers_span_ns(const struct sim_device *d);
bool moment_next(const struct sim_device *d, uint64_t span_ns, uint32_t every_us, struct sim_moment *at);
void samplers_write(struct sim_device *d);

/* sim_usage.c: what is sampled as text: ports, links and CPUs of a device, operating systems. */
void usage_of_device(struct sim_device *d);
void usage_of_host(struct sim_process *p);

/* sim_step.c: one training step on one simulated device. */
void step_run(struct sim_device *d, uint32_t step, uint64_t kernels);

/* sim_hwts.c: what chips without STARS write instead. */
bool chip_is_hwts(const struct sim_process *p);
void hwts_write(struct sim_device *d, uint16_t stream, const struct device_task *t, bool is_end);
void hwts_pmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t, uint64_t cycles,
                    const uint64_t *event);

/* sim_kfc.c: collectives that the AI CPU runs. */
uint8_t *aicpu_record(struct sim_device *d, const struct layout *l, uint32_t data_len, uint64_t time);
void kfc_open(struct sim_device *d);
void kfc_run(struct sim_device *d);

/* sim_graph.c: graphs of a simulated process: loaded models and captured streams. */

void graph_load(struct sim_device *d);
void graph_capture(struct sim_device *d);
void graphs_run(struct sim_device *d, uint32_t step);
void graphs_end(struct sim_device *d);

/* sim_comm.c: collectives that the host runs. */

void collective_run(struct sim_device *d, uint64_t not_before);
void comm_info(struct sim_device *d, const struct small_task *s, uint64_t time);
void comm_op(struct sim_device *d, uint64_t time, uint64_t group, uint32_t data_type, uint64_t count);
uint64_t comm_name(struct sim_process *p, const char *node, uint64_t group); /* a new name; its hash */

struct front_task comm_begin(struct sim_device *d, size_t which);
void comm_end(struct sim_device *d, const struct front_task *task, uint64_t begin);

/* sim_operator.c: operators of a simulated network: which one is next, what its launch records. */

void operators_pair(uint8_t *forward,
                    uint8_t *reverse); /* what runs backward for an operator, and the other way round */
uint64_t network_position(uint64_t forward, uint64_t done);
uint64_t network_layer(uint64_t position, uint64_t chunk);
struct dice network_dice(uint64_t seed, uint64_t layer);
size_t network_operator(const uint8_t *forward, const uint8_t *reverse, uint64_t seed, uint64_t layer, bool is_forward);

struct sim_thread *launcher(struct sim_device *d, struct sim_thread *t); /* t, or the thread that launches for it */
void memory_release(struct sim_device *d);
void operator_launch(struct sim_device *d, struct sim_thread *t, const struct planned *plan); /* NULL: no plan */
size_t operator_pick(struct dice *d);
void node_records(struct sim_device *d, bool is_static, uint32_t thread, uint64_t time, const struct node *n,
                  const struct sim_operator *op);
void captured_record(struct sim_device *d, uint64_t time, uint16_t task, size_t which, const struct sim_launch *launch);

/* sim_host.c: the files of the simulated host: calls, names, records beside them. */

/* Adds a text to the dictionary and returns its hash. Call it once per text. */
uint64_t host_name(struct sim_process *p, const char *text);
void host_open(struct sim_process *p);
void host_close(struct sim_process *p);
void host_call(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread, uint64_t begin,
               uint64_t end, uint64_t item);
void host_event(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                uint32_t request, uint64_t time, uint64_t item);
uint8_t *host_record(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time);
uint8_t *host_record_of(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time, size_t bytes);
void host_track(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, enum sim_stream stream,
                uint16_t task, const struct sim_launch *l);
void host_put32(uint8_t *at, uint32_t value);

#endif
