/* SPDX-License-Identifier: Apache-2.0 */
/* device_tasks.h - registry: the tasks of a device: begin and end records of its log paired, and joined with the host's tasks. */
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

/* device_tasks.c: the streams of tasks on chips whose records have ids of 32 bits only. */

/* Rows of the tasks that the host launched on a device, by (task, stream). */
struct task_streams {
    const struct host_tasks *tasks;
    size_t n;
    uint32_t *row;
};

enum { UNKNOWN_STREAM = UINT16_MAX };

bool task_streams_take(const struct host_tasks *t, unsigned device, struct arena *mem, struct task_streams *out);
/* The stream on which the host launched a task, or UNKNOWN_STREAM. */
uint16_t task_streams_find(const struct task_streams *s, uint32_t id);

/* hwts_log.c: the task log of chips without STARS: pairs begin and end records into tasks. */

/* Fills d->log from its edges, which are given back; its flips are sorted. False: no memory. */
bool hwts_log_pair(struct profile *p, struct device *d, struct error *e);

/* Pairs each end with the last begin of the same id before it, in the order of `order`, which is sorted by id here.
 * Appends the pairs to the log and counts the records without a partner. False: no memory. */
bool edges_pair(struct device_log *log, const struct edges *edges, uint32_t *order, uint64_t *unpaired);

/* stars_log.c: the task log of STARS: pairs begin and end records into tasks. */

/* Fills d->log; its flips are sorted. False: no memory. */
bool stars_log_pair(struct profile *p, struct device *d, struct error *e);

/* device_tasks.c: the tasks of a GPU as rows of the device's log. A record of CUPTI has begin and end, so that there is
 * nothing to pair. */

bool cuda_log_take(struct profile *p, struct device *d, struct error *e); /* false: no memory */
void cuda_copies(struct device *d); /* after tasks_analyse(): fills copy_bytes and copy_kind of tasks */

/* ts_copies.c: memory copies of the task scheduler itself, from its records of request, begin and end. */

/* Fills d->log.copies from its copy_states, and joins them to the host's tasks that tasks_analyse() has found no others
 * for. Copies of which a state is missing, and those from before the collection, are counted. False: no memory. */
bool ts_copies_analyse(struct profile *p, struct device *d, struct error *e);

/* blocks.c: the number of blocks of operators for which the device, not the host, determined it. */

/* Replaces the host's numbers in p->host.ops by those of the device. After device_log_analyse(). False: no memory. */
bool blocks_analyse(struct profile *p, struct device *d, struct error *e);

/* fused_parts.c: parts of fused tasks, of which a task log of short records has the begins and ends. */

/* Fills d->log.fused, as long as the log's events are there: the first begin of a task is paired with its first end,
 * the second with the second. False: no memory. */
bool fused_parts_analyse(struct profile *p, struct device *d, struct error *e);

/* task_join.c: matches tasks of the host with tasks of the device.
 *
 * Where ids are unique in the whole collection, they decide. Older drivers and chips reuse a task id without a flip
 * record: there the first task that the host launched with an id is the first that ran with it, and so on. */

/* Rows of device_log in the order of (key, context, begin), with the host task of each, or NO_ROW when the host says
 * nothing. */
struct joined {
    size_t n;
    uint32_t *row, *host;
    bool *is_hidden; /* the caller's */
};

/* Everything that ran during the collection; what is left out is counted in the losses of the device. Memory is taken
 * from `mem`. False: there is none. */
bool tasks_join(struct profile *p, struct device *d, struct arena *mem, struct joined *out);

#endif
