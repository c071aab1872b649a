/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "base/memory/sort.h"
#include "raw/device_records.h"

/* The log while it is being paired: one row for each beginning or end. */
struct stars_log_events {
    size_t n;
    bool has_contexts;
    uint64_t *tick;
    uint64_t *group; /* stream, task, context and begin-or-end in one number: see group_of() */
    uint32_t *task;
    uint16_t *stream, *batch;
    uint8_t *type;
};

/* Contexts have 16 bits on the device; the bit above them marks a task as a whole. */
static uint64_t group_of(uint16_t stream, uint16_t task, bool is_context, uint16_t context, bool is_end)
{
    return (uint64_t)stream << 34 | (uint64_t)task << 18 | (is_context ? (uint64_t)context << 1 : (uint64_t)1 << 17) |
           is_end;
}

/* The same for ids of 32 bits, which have no contexts. */
static uint64_t group_of_id(uint16_t stream, uint32_t id, bool is_end)
{
    return (uint64_t)stream << 33 | (uint64_t)id << 1 | is_end;
}

static bool group_is_end(uint64_t group)
{
    return group & 1;
}

static bool group_is_context(uint64_t group)
{
    return !(group >> 17 & 1);
}

/* Kinds of records in the same stream that are read elsewhere. */
enum { FUNC_ACC_PMU = 26 };

static bool events_take(struct stars_log_events *ev, uint64_t *tick, size_t n, struct arena *mem)
{
    *ev = (struct stars_log_events){ .tick = tick,
                                     .group = arena_take(mem, n, sizeof *ev->group),
                                     .task = arena_take(mem, n, sizeof *ev->task),
                                     .stream = arena_take(mem, n, sizeof *ev->stream),
                                     .batch = arena_take(mem, n, sizeof *ev->batch),
                                     .type = arena_take(mem, n, sizeof *ev->type) };
    return !arena_failed(mem);
}

static bool read_short_events(struct profile *p, struct device *d, struct arena *mem, struct stars_log_events *ev)
{
    const struct task_events *in = &d->log.events;
    struct task_streams streams;
    if (!events_take(ev, in->tick, in->n, mem) || !task_streams_take(&p->host.tasks, d->source.device, mem, &streams))
        return false;
    const uint16_t *head = in->head;
    const uint32_t *id = in->id;
    for (size_t i = 0; i < in->n; i++) {
        const unsigned func = head[i] & STARS_FUNC_MASK;
        if (func != STARS_ACSQ_BEGIN && func != STARS_ACSQ_END) {
            const bool is_part = func == STARS_PART_BEGIN || func == STARS_PART_END; /* see fused_parts.c */
            losses_add(&d->source.lost, LOSS_OTHER_KIND, !is_part, "stars_soc.data", i * stars_short_layout.size);
            continue;
        }
        const size_t k = ev->n++;
        ev->tick[k] = ev->tick[i];
        ev->task[k] = id[i];
        ev->stream[k] = task_streams_find(&streams, id[i]);
        ev->type[k] = (uint8_t)(head[i] >> 10);
        ev->group[k] = group_of_id(ev->stream[k], id[i], func == STARS_ACSQ_END);
    }
    return true;
}

static bool read_events(struct profile *p, struct device *d, struct arena *mem, struct stars_log_events *ev)
{
    const struct task_events *in = &d->log.events;
    if (!events_take(ev, in->tick, in->n, mem))
        return false;
    ev->has_contexts = true;
    const uint16_t *head = in->head, *stream = in->stream, *task = in->task, *context = in->context;
    const uint8_t *sub_type = in->sub_type;
    for (size_t i = 0; i < in->n; i++) {
        const unsigned func = head[i] & STARS_FUNC_MASK, sqe = head[i] >> 10;
        const bool is_context = func == STARS_FFTS_BEGIN || func == STARS_FFTS_END;
        if (!is_context && func != STARS_ACSQ_BEGIN && func != STARS_ACSQ_END) {
            losses_add(&d->source.lost, LOSS_OTHER_KIND, func != FUNC_ACC_PMU, "stars_soc.data", i * stars_layout.size);
            continue;
        }
        const struct stream_task id = stream_task_unpack(stream[i], task[i], sqe, p->host.records.streams_expanded);
        const size_t k = ev->n++;
        ev->tick[k] = ev->tick[i];
        ev->task[k] = id.task;
        ev->stream[k] = id.stream;
        ev->type[k] = (uint8_t)(is_context ? sub_type[i] : sqe);
        ev->group[k] =
            group_of(id.stream, id.task, is_context, context[i], func == STARS_ACSQ_END || func == STARS_FFTS_END);
    }
    return true;
}

/* Numbers the batches of begin records, of tasks and of contexts separately. `by_time`: the log in the order of
 * time. */
static bool number_begins(struct device *d, struct stars_log_events *ev, const uint32_t *by_time, struct arena *mem)
{
    uint32_t *order = arena_take(mem, ev->n, sizeof *order);
    if (!order)
        return false;
    for (int contexts = 0; contexts < 2; contexts++) {
        size_t n = 0;
        for (size_t i = 0; i < ev->n; i++)
            if (!group_is_end(ev->group[by_time[i]]) && group_is_context(ev->group[by_time[i]]) == contexts)
                order[n++] = by_time[i];
        if (!order_by_u16(order, n, ev->stream))
            return false;
        device_batches(d, order, n, ev->stream, ev->tick, ev->task, ev->batch);
    }
    return true;
}

static void add_pair(struct device_log *log, const struct stars_log_events *ev, uint32_t begin, uint32_t end)
{
    const uint64_t group = ev->group[begin];
    const size_t k = log->n++;
    log->stream[k] = ev->stream[begin];
    log->batch[k] = ev->batch[begin];
    log->task[k] = ev->task[begin];
    log->context[k] = ev->has_contexts && group_is_context(group) ? (uint32_t)(group >> 1 & 0xFFFF) : NO_CONTEXT;
    log->key[k] = task_key(log->stream[k], log->batch[k], log->task[k]);
    log->begin[k] = ev->tick[begin];
    log->end[k] = ev->tick[end];
    log->type[k] = ev->type[begin];
}

/* If there are as many begins as ends, they are paired one to one. Otherwise an end is paired with the last begin
 * before it, and records without a partner are left out. Returns the number of these. */
static size_t pair_group(struct device_log *log, const struct stars_log_events *ev, const uint32_t *begin,
                         size_t n_begins, const uint32_t *end, size_t n_ends)
{
    size_t paired = 0;
    for (size_t b = 0, e = 0; b < n_begins && e < n_ends;) {
        const bool after = ev->tick[end[e]] >= ev->tick[begin[b]];
        const bool before_next = b + 1 == n_begins || ev->tick[end[e]] < ev->tick[begin[b + 1]];
        if (n_begins == n_ends || (after && before_next)) {
            add_pair(log, ev, begin[b++], end[e++]);
            paired++;
        } else if (after) {
            b++;
        } else {
            e++;
        }
    }
    return n_begins + n_ends - 2 * paired;
}

static void pair_all(struct device *d, const struct stars_log_events *ev, const uint32_t *order)
{
    uint64_t unpaired = 0;
    for (size_t i = 0; i < ev->n;) {
        const uint64_t whole = ev->group[order[i]] | 1;
        size_t ends = i, last;
        while (ends < ev->n && ev->group[order[ends]] == whole - 1)
            ends++;
        for (last = ends; last < ev->n && ev->group[order[last]] == whole;)
            last++;
        unpaired += pair_group(&d->log, ev, order + i, ends - i, order + ends, last - ends);
        i = last;
    }
    losses_add(&d->source.lost, LOSS_UNPAIRED, unpaired, "stars_soc.data", 0);
}

bool stars_log_pair(struct profile *p, struct device *d, struct error *e)
{
    struct arena *scratch = arena_new();
    struct stars_log_events ev;
    const bool is_short = d->source.chip->task_log == TASK_LOG_SHORT;
    bool done = scratch && (is_short ? read_short_events : read_events)(p, d, scratch, &ev);
    uint32_t *order = done ? arena_take(scratch, ev.n, sizeof *order) : NULL;
    done = order != NULL;
    if (done) {
        order_fill(order, ev.n);
        done = order_by_u64(order, ev.n, ev.tick) && (is_short || number_begins(d, &ev, order, scratch)) &&
               order_by_u64(order, ev.n, ev.group) && device_log_take(d, ev.n / 2);
    }
    if (done)
        pair_all(d, &ev, order);
    arena_free(scratch);
    device_events_drop(d);
    return done || error_no_memory(e, d->source.path);
}
