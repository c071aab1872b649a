/* SPDX-License-Identifier: Apache-2.0 */
/* comm_events.h - the tasks of one collective, by plane. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_EVENTS_H
#define ASCOPE_ANALYSE_COMM_COMM_EVENTS_H

#include "base/memory/keys.h"
#include "profile/profile.h"

struct comm_event {
    const struct device *device;
    uint32_t row; /* of the device's comm.tasks */
};

/* Times as the reference computes them: monotonic nanoseconds with three decimals, as doubles; a duration is a
 * difference of two. With a counter of 50 MHz this is exact. With 48 MHz the last digits are rounding errors, and are
 * reproduced here. */
struct event_time {
    double begin_ns, dur_ns;
};
struct event_time event_time(const struct comm_event *e);

/* A sum, and whether anything was added: reports show 0 if nothing was, and 0.0 for a sum that is zero. */
struct amount {
    double value;
    bool is_set;
};

static inline void amount_add(struct amount *to, struct amount more)
{
    to->value += more.value;
    to->is_set |= more.is_set;
}

/* Sorts events by plane, and planes in the order of their first events. One sorter is used for many collectives; it has
 * room for the largest one. */
struct comm_sorter {
    struct comm_event *spare;
    uint32_t *plane;
    struct keys planes;
    LIST(uint32_t) first; /* of each plane, and behind the last one */
    name_id copy, reduce, wait;
    struct arena *mem;
};
bool comm_sorter_init(struct comm_sorter *s, const struct profile *p, size_t most_events, struct arena *mem);
bool comm_sort(struct comm_sorter *s, struct comm_event *events, size_t n); /* false only without memory */

/* Copies between ranks that the collective itself makes. */
bool event_is_copy(const struct comm_sorter *s, const struct comm_event *e);
static inline double event_ms(const struct comm_event *e)
{
    return event_time(e).dur_ns / 1e6;
}
static inline const struct comm_tasks *event_tasks(const struct comm_event *e)
{
    return &e->device->comm.tasks;
}

/* An RDMA payload ends with a task that follows its last piece. Returns the number of tasks from the last piece to that
 * task, including both: it depends on whether the collective ends with a barrier. */
size_t comm_closing(const char *op_name);

/* The payload whose first piece is an event. */
struct payload {
    bool is_closed; /* false: the task that ends it is missing, and size and time are not known */
    size_t next;    /* the first event after the payload */
    double size_mb, time_ms;
};
bool event_is_payload(const struct comm_event *e);
struct payload payload_at(const struct comm_event *events, size_t n, size_t at, size_t closing);

#endif
