/* SPDX-License-Identifier: Apache-2.0 */
/* comm_events.h - the tasks of one collective, by plane. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_EVENTS_H
#define ASCOPE_ANALYSE_COMM_COMM_EVENTS_H

#include "base/keys.h"
#include "profile/profile.h"

struct comm_event {
    const struct device *device;
    uint32_t row; /* of the device's comm.tasks */
};

/* Times as the reference adds them up: doubles of monotonic nanoseconds with three decimals, from which a duration is a
 * difference. Of a counter of 50 MHz that is exact; of one of 48 MHz the last digits are noise, and the same noise here. */
struct event_time {
    double begin_ns, dur_ns;
};
struct event_time event_time(const struct comm_event *e);

/* A number that knows whether it was ever set: reports show 0 for never, and 0.0 for nothing. */
struct amount {
    double value;
    bool is_set;
};

static inline void amount_add(struct amount *to, struct amount more)
{
    to->value += more.value;
    to->is_set |= more.is_set;
}

/* Puts events in the order of their planes, and planes in the order of their first events. One sorter serves many
 * collectives; it needs room for the largest. */
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

/* A payload is on its way until a task behind its last piece: how many behind, with both of them counted, depends on the
 * collective. Those that end with a barrier take longer than sending and receiving do. */
size_t comm_closing(const char *op_name);

/* A payload that begins with an event: what was sent in pieces, until the task that closes it. */
struct payload {
    bool is_closed; /* false: that task is missing, and size and time are not known */
    size_t next;    /* the event after it */
    double size_mb, time_ms;
};
bool event_is_payload(const struct comm_event *e);
struct payload payload_at(const struct comm_event *events, size_t n, size_t at, size_t closing);

#endif
