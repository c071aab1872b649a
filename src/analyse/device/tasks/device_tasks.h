/* SPDX-License-Identifier: Apache-2.0 */
/* device_tasks.h - the tasks of a device: begin and end records of its log paired, and joined with the host's tasks. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_DEVICE_TASKS_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_DEVICE_TASKS_H

#include "profile/profile.h"

/* Pairs the begin and end records of the scheduler's log into the tasks of device_log. The log of some chips has no
 * streams: it is paired by the second function, after operators_analyse(), with the streams of the host's tasks. */
bool device_log_analyse(struct profile *p, struct device *d, struct error *e);
bool device_log_with_host(struct profile *p, struct device *d, struct error *e);
/* After operators_analyse(): joins the host's tasks and device_log's by (stream, batch, task, context). */
bool tasks_analyse(struct profile *p, struct device *d, struct error *e);

/* The type of a task in the device's log: AI_CORE, PCIE_DMA_SQE, … */
name_id task_device_type(const struct profile *p, const struct tasks *t, size_t row);

/* Turns the raw stream and task id of a scheduler record into the ids that the host uses. */
struct stream_task {
    uint16_t stream, task;
};
struct stream_task stream_task_unpack(uint16_t raw_stream, uint16_t raw_task, unsigned sqe_type, bool expanded);

/* Room for so many tasks in d->log. */
bool device_log_take(struct device *d, size_t n);

/* Releases the begin and end records, once they are paired. */
void device_events_drop(struct device *d);

/* Numbers the batches of rows that are ordered by (stream, time), by the flips that the device recorded. */
void device_batches(const struct device *d, const uint32_t *order, size_t n, const uint16_t *stream,
                    const uint64_t *time, const uint32_t *task, uint16_t *batch);

#endif
