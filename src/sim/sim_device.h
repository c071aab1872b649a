/* SPDX-License-Identifier: Apache-2.0 */
/* sim_device.h - a simulated device: its streams, tasks and log. */
#ifndef ASCOPE_SIM_SIM_DEVICE_H
#define ASCOPE_SIM_SIM_DEVICE_H

#include "sim/sim_run.h"

void device_open(struct sim_process *p, uint32_t index);
void device_close(struct sim_device *d);
uint64_t device_tick(const struct sim_device *d, uint64_t host_tick);
uint64_t device_host_tick(const struct sim_device *d, uint64_t tick); /* not before the tick */
uint16_t stream_issue(struct sim_device *d, enum sim_stream s, uint32_t thread, uint64_t host_tick); /* a task id */
struct span stream_run(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l,
                       uint64_t host_tick, uint64_t duration, uint64_t not_before);
struct span stream_run_on_device(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l,
                                 uint64_t tick, uint64_t duration); /* launched by the device itself */
void stream_run_at(struct sim_device *d, enum sim_stream s, uint16_t task, const struct launch *l, uint64_t host_tick,
                   struct span when);                  /* at that time, or as soon as possible after it */
void device_log(struct sim_device *d, uint64_t until); /* logs all tasks up to this tick */
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

#endif
