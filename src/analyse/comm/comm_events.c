/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_events.h"

#include <string.h>

#include "raw/enums.h"

bool comm_sorter_init(struct comm_sorter *s, const struct profile *p, size_t most_events, struct arena *mem)
{
    *s = (struct comm_sorter){ .spare = arena_take(mem, most_events, sizeof *s->spare),
                               .plane = arena_take(mem, most_events, sizeof *s->plane),
                               .copy = names_addz(p->names, "Memcpy"),
                               .reduce = names_addz(p->names, "Reduce_Inline"),
                               .wait = names_addz(p->names, "Notify_Wait"),
                               .mem = mem };
    return s->spare && s->plane;
}

bool comm_sort(struct comm_sorter *s, struct comm_event *events, size_t n)
{
    keys_clear(&s->planes);
    s->first.n = 0;
    for (size_t i = 0; i < n; i++) {
        s->plane[i] = keys_add(&s->planes, (uint32_t)event_tasks(&events[i])->plane[events[i].row], s->mem);
        if (s->plane[i] == KEYS_NO_MEMORY)
            return false;
    }
    for (size_t k = 0; k <= s->planes.key.n; k++) {
        uint32_t *first = list_add(&s->first, s->mem);
        if (!first)
            return false;
        *first = 0;
    }
    uint32_t *first =
        s->first.at; /* counts events per plane, then is the next free position, then the first position */
    for (size_t i = 0; i < n; i++)
        first[s->plane[i] + 1]++;
    for (size_t k = 1; k < s->first.n; k++)
        first[k] += first[k - 1];
    for (size_t i = 0; i < n; i++)
        s->spare[first[s->plane[i]]++] = events[i];
    for (size_t k = s->first.n - 1; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    if (n > 0)
        memcpy(events, s->spare, n * sizeof *events);
    return true;
}

/* Rounded to three decimals. */
static double monotonic_ns(const struct clock *c, uint64_t tick)
{
    const __int128 scaled = ((__int128)tick - (__int128)c->cnt) * (__int128)c->tick.num * 1000, den = c->tick.den;
    const __int128 rounded = (2 * scaled + den) / (2 * den);
    return (double)((__int128)c->ns * 1000 + rounded) / 1000;
}

struct event_time event_time(const struct comm_event *e)
{
    const struct tasks *t = &e->device->tasks;
    const uint32_t row = event_tasks(e)->task_row[e->row];
    const double begin = monotonic_ns(&e->device->source.device_clock, t->begin_tick[row]);
    return (struct event_time){ begin, monotonic_ns(&e->device->source.device_clock, t->end_tick[row]) - begin };
}

bool event_is_copy(const struct comm_sorter *s, const struct comm_event *e)
{
    const name_id name = event_tasks(e)->name[e->row];
    return (name == s->copy || name == s->reduce) && event_tasks(e)->transport[e->row] == TRANSPORT_SDMA;
}

size_t comm_closing(const char *op_name)
{
    enum { OF_PAIRS = 3, WITH_BARRIER = 5 };
    return strcasestr(op_name, "send") || strcasestr(op_name, "receive") ? OF_PAIRS : WITH_BARRIER;
}

bool event_is_payload(const struct comm_event *e)
{
    return event_tasks(e)->rdma[e->row] == RDMA_SEND_PAYLOAD;
}

struct payload payload_at(const struct comm_event *events, size_t n, size_t at, size_t closing)
{
    struct payload p = { .next = at };
    uint64_t bytes = 0;
    for (; p.next < n && event_is_payload(&events[p.next]); p.next++)
        bytes += event_tasks(&events[p.next])->size[events[p.next].row];
    const size_t last = p.next + closing - 2;
    if (last >= n)
        return p;
    const struct event_time first = event_time(&events[at]), close = event_time(&events[last]);
    const double ns = close.dur_ns + close.begin_ns - first.begin_ns;
    return (struct payload){ true, p.next + closing - 1, (double)bytes / 1e6, ns / 1e6 };
}
