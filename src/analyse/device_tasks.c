#include "analyse/device_tasks.h"

#include <string.h>

#include "analyse/batch.h"
#include "base/sort.h"
#include "load/records.h"
#include "raw/device.h"
#include "raw/enums.h"

/* When a stream has more tasks in flight than its id field can tell, bits move from one field to the other. */
struct stream_task stream_task_unpack(uint16_t raw_stream, uint16_t raw_task, unsigned sqe_type, bool expanded)
{
    enum { STREAMS = 2048 };
    if (expanded) {
        if ((raw_stream & 0x8000) && sqe_type != SQE_PLACE_HOLDER && sqe_type != SQE_EVENT_RECORD)
            return (struct stream_task){ raw_task & 0x7FFF, (uint16_t)((raw_task & 0x8000) | (raw_stream & 0x7FFF)) };
        return (struct stream_task){ raw_stream & 0x7FFF, raw_task };
    }
    if (raw_stream & 0x1000)
        return (struct stream_task){ raw_stream % STREAMS, (uint16_t)((raw_task & 0x1FFF) | (raw_stream & 0xE000)) };
    if (raw_stream & 0x2000)
        return (struct stream_task){ (raw_task & 0x0FFF) % STREAMS,
                                     (uint16_t)((raw_stream & 0x0FFF) | (raw_task & 0xF000)) };
    return (struct stream_task){ raw_stream % STREAMS, raw_task };
}

/* The log while it is being paired: one row for each beginning or end. */
struct events {
    size_t n;
    uint64_t *tick;
    uint64_t *group; /* stream, task, context and begin-or-end in one number: see group_of() */
    uint32_t *task;
    uint16_t *batch;
    uint8_t *type;
};

/* Contexts have 16 bits on the device; the bit above them marks a task as a whole. */
static uint64_t group_of(uint16_t stream, uint16_t task, bool is_context, uint16_t context, bool is_end)
{
    return (uint64_t)stream << 34 | (uint64_t)task << 18 | (is_context ? (uint64_t)context << 1 : (uint64_t)1 << 17) |
           is_end;
}

static uint16_t group_stream(uint64_t group)
{
    return (uint16_t)(group >> 34);
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

static bool load_events(struct profile *p, struct device *d, struct arena *mem, struct events *ev, struct error *e)
{
    struct records r;
    if (!records_load(&d->source, "stars_soc.data", &stars_layout, false, &r, e))
        return false;
    *ev = (struct events){ .tick = r.column[STARS_TICK],
                           .group = arena_take(mem, r.n, sizeof *ev->group),
                           .task = arena_take(mem, r.n, sizeof *ev->task),
                           .batch = arena_take(mem, r.n, sizeof *ev->batch),
                           .type = arena_take(mem, r.n, sizeof *ev->type) };
    if (arena_failed(mem))
        return error_set(e, FAULT_LIMIT, "%s: no memory for its task log", d->source.path);
    const uint16_t *head = r.column[STARS_HEAD], *stream = r.column[STARS_STREAM], *task = r.column[STARS_TASK],
                   *context = r.column[STARS_CONTEXT];
    const uint8_t *sub_type = r.column[STARS_SUB_TYPE];
    for (size_t i = 0; i < r.n; i++) {
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
        ev->type[k] = (uint8_t)(is_context ? sub_type[i] : sqe);
        ev->group[k] =
            group_of(id.stream, id.task, is_context, context[i], func == STARS_ACSQ_END || func == STARS_FFTS_END);
    }
    return true;
}

static bool sort_flips(struct device *d, struct arena *mem)
{
    struct device_log *log = &d->log;
    const size_t n = log->flips.n;
    uint32_t *order = arena_take(mem, n, sizeof *order);
    void *moved = arena_take(mem, n, sizeof(uint64_t));
    if (!order || !moved)
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, log->flips.tick) || !order_by_u16(order, n, log->flips.stream))
        return false;
    const struct {
        void *column;
        size_t size;
    } all[] = {
        {log->flips.stream,  2},
        { log->flips.number, 2},
        { log->flips.task,   2},
        { log->flips.tick,   8}
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        order_apply(moved, all[i].column, order, n, all[i].size);
        memcpy(all[i].column, moved, n * all[i].size);
    }
    return true;
}

void device_batches(const struct device_log *log, const uint32_t *order, size_t n, const uint16_t *stream,
                    const uint64_t *time, const uint32_t *task, uint16_t *batch)
{
    size_t flip = 0;
    for (size_t i = 0; i < n;) {
        const uint16_t s = stream[order[i]];
        size_t end = i, flip_end;
        while (end < n && stream[order[end]] == s)
            end++;
        while (flip < log->flips.n && log->flips.stream[flip] < s)
            flip++;
        for (flip_end = flip; flip_end < log->flips.n && log->flips.stream[flip_end] == s;)
            flip_end++;
        batch_of_device(order + i, end - i, time, task, batch, flip_end - flip, log->flips.tick + flip,
                        log->flips.task + flip);
        i = end;
    }
}

/* Beginnings get the batch; tasks and contexts are numbered apart. `by_time` is the log in time order. */
static bool number_begins(struct device *d, struct events *ev, const uint32_t *by_time, struct arena *mem)
{
    uint32_t *order = arena_take(mem, ev->n, sizeof *order);
    uint16_t *stream = arena_take(mem, ev->n, sizeof *stream);
    if (!order || !stream)
        return false;
    for (size_t i = 0; i < ev->n; i++)
        stream[i] = group_stream(ev->group[i]);
    for (int contexts = 0; contexts < 2; contexts++) {
        size_t n = 0;
        for (size_t i = 0; i < ev->n; i++)
            if (!group_is_end(ev->group[by_time[i]]) && group_is_context(ev->group[by_time[i]]) == contexts)
                order[n++] = by_time[i];
        if (!order_by_u16(order, n, stream))
            return false;
        device_batches(&d->log, order, n, stream, ev->tick, ev->task, ev->batch);
    }
    return true;
}

static void add_pair(struct device_log *log, const struct events *ev, uint32_t begin, uint32_t end)
{
    const uint64_t group = ev->group[begin];
    const size_t k = log->n++;
    log->stream[k] = group_stream(group);
    log->batch[k] = ev->batch[begin];
    log->task[k] = (uint32_t)(group >> 18 & 0xFFFF);
    log->context[k] = group_is_context(group) ? (uint32_t)(group >> 1 & 0xFFFF) : NO_CONTEXT;
    log->key[k] = task_key(log->stream[k], log->batch[k], log->task[k]);
    log->begin[k] = ev->tick[begin];
    log->end[k] = ev->tick[end];
    log->type[k] = ev->type[begin];
}

/* As many beginnings as ends: one to one. Otherwise an end belongs to the last beginning before it, and what finds no
 * partner is left out. */
static size_t pair_group(struct device_log *log, const struct events *ev, const uint32_t *begin, size_t n_begins,
                         const uint32_t *end, size_t n_ends)
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

static void pair_all(struct device *d, const struct events *ev, const uint32_t *order)
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

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

bool device_log_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct arena *scratch = arena_new(), *mem = d->source.mem;
    struct events ev;
    if (d->source.chip->task_log != TASK_LOG_STARS) {
        arena_free(scratch);
        return true;
    }
    bool done = scratch && load_events(p, d, scratch, &ev, e);
    uint32_t *order = done ? arena_take(scratch, ev.n, sizeof *order) : NULL;
    done = order && sort_flips(d, scratch);
    if (done) {
        order_fill(order, ev.n);
        done = order_by_u64(order, ev.n, ev.tick) && number_begins(d, &ev, order, scratch) &&
               order_by_u64(order, ev.n, ev.group);
    }
    if (done) {
        struct device_log *log = &d->log;
        const size_t most = ev.n / 2;
        TAKE(log->stream, most), TAKE(log->batch, most), TAKE(log->task, most), TAKE(log->context, most);
        TAKE(log->key, most), TAKE(log->begin, most), TAKE(log->end, most), TAKE(log->type, most);
        done = !arena_failed(mem);
        if (done)
            pair_all(d, &ev, order);
    }
    arena_free(scratch);
    return done || error_set(e, FAULT_LIMIT, "%s: no memory for its task log", d->source.path);
}

name_id task_device_type(const struct profile *p, const struct tasks *t, size_t row)
{
    const char *text = enum_text(t->context[row] == NO_CONTEXT ? &sqe_types : &context_types, t->device_type[row]);
    return text ? names_addz(p->names, text) : NAME_UNKNOWN;
}

/* Where the tasks of one device begin and end in host_tasks. */
static size_t first_of_device(const struct host_tasks *t, unsigned device)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (t->device[mid] < device)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Rows of device_log in the order of their ids, with the host task of each, or NO_ROW when the host says nothing. */
struct joined {
    uint32_t *row, *host;
    bool *is_hidden;
    size_t n;
};

static bool is_before(uint64_t key_a, uint32_t context_a, uint64_t key_b, uint32_t context_b)
{
    return key_a != key_b ? key_a < key_b : context_a < context_b;
}

static void join(struct profile *p, struct device *d, const uint32_t *order, struct joined *j)
{
    const struct host_tasks *h = &p->host.tasks;
    const struct device_log *log = &d->log;
    const bool is_dynamic = strcmp(source_text(d->source.sample, "dynamic"), "on") == 0;
    size_t host = first_of_device(h, d->source.device);
    const size_t host_end = first_of_device(h, d->source.device + 1);
    uint64_t host_only = 0, ambiguous = 0;
    for (size_t i = 0; i < log->n;) {
        const uint64_t key = log->key[order[i]];
        const uint32_t context = log->context[order[i]];
        size_t end = i, same = 0;
        while (end < log->n && log->key[order[end]] == key && log->context[order[end]] == context)
            end++;
        while (host < host_end && is_before(h->key[host], h->context[host], key, context))
            host++, host_only++;
        const size_t first = host;
        while (host < host_end && h->key[host] == key && h->context[host] == context)
            host++, same++;
        ambiguous += same > 1 ? end - i : 0;
        /* Where recording began in the middle of a run, the first task of an id may be one from before with the same
         * number: it cannot be told from the one that the host speaks of, and the reference leaves it out as well. */
        const size_t stranger = is_dynamic && same == 1 && end - i > 1 ? i : end;
        for (; i < end; i++) {
            const bool is_outside =
                i == stranger || source_device_ns(&d->source, log->end[order[i]]) < d->source.begin_ns;
            losses_add(&d->source.lost, LOSS_OUTSIDE, is_outside, "stars_soc.data", 0);
            if (same > 1 || is_outside)
                continue;
            j->row[j->n] = order[i];
            j->host[j->n++] = same == 1 ? (uint32_t)first : NO_ROW;
        }
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, host_only + (host_end - host), "host/data/compact.task_track", 0);
    losses_add(&d->source.lost, LOSS_AMBIGUOUS, ambiguous, "host/data/compact.task_track", 0);
}

/* The whole of a task is hidden when some of its contexts ran: timelines show those. The whole stands last of its id. */
static void hide_wholes(const struct device_log *log, struct joined *j)
{
    for (size_t i = 0; i < j->n;) {
        const bool has_contexts = log->context[j->row[i]] != NO_CONTEXT;
        const uint64_t key = log->key[j->row[i]];
        for (; i < j->n && log->key[j->row[i]] == key; i++)
            j->is_hidden[i] = has_contexts && log->context[j->row[i]] == NO_CONTEXT;
    }
}

static void fill_tasks(struct profile *p, struct device *d, const struct joined *j, const uint32_t *order)
{
    const struct device_log *log = &d->log;
    const struct host_tasks *h = &p->host.tasks;
    struct tasks *t = &d->tasks;
    for (size_t k = 0; k < j->n; k++) {
        const uint32_t row = j->row[order[k]], host = j->host[order[k]];
        t->by_id[order[k]] = (uint32_t)k;
        t->key[k] = log->key[row];
        t->stream[k] = log->stream[row];
        t->batch[k] = log->batch[row];
        t->task[k] = log->task[row];
        t->context[k] = log->context[row];
        t->device_type[k] = log->type[row];
        t->begin_tick[k] = log->begin[row];
        t->end_tick[k] = log->end[row];
        t->begin_ns[k] = source_device_ns(&d->source, log->begin[row]);
        t->end_ns[k] = source_device_ns(&d->source, log->end[row]);
        const uint64_t ticks = log->end[row] > log->begin[row] ? log->end[row] - log->begin[row] : 0;
        t->dur_ns[k] = ticks_to_ns_exact(d->source.device_clock.tick, ticks);
        t->host[k] = host;
        t->op[k] = host == NO_ROW ? NO_ROW : h->op[host];
        t->is_hidden[k] = j->is_hidden[order[k]];
        t->pmu[k] = NO_ROW;
        t->copy_kind[k] = COPY_NONE;
        const bool by_device = host == NO_ROW || h->type[host] == NAME_FFTS_PLUS;
        t->type[k] = by_device ? task_device_type(p, t, k) : h->type[host];
    }
}

static bool take_tasks(struct device *d, size_t n)
{
    struct tasks *t = &d->tasks;
    struct arena *mem = d->source.mem;
    t->n = n;
    TAKE(t->stream, n), TAKE(t->batch, n), TAKE(t->task, n), TAKE(t->context, n), TAKE(t->device_type, n);
    TAKE(t->key, n), TAKE(t->begin_ns, n), TAKE(t->end_ns, n), TAKE(t->dur_ns, n), TAKE(t->begin_tick, n);
    TAKE(t->end_tick, n), TAKE(t->host, n), TAKE(t->op, n), TAKE(t->type, n), TAKE(t->is_hidden, n);
    TAKE(t->pmu, n), TAKE(t->copy_bytes, n), TAKE(t->copy_kind, n), TAKE(t->by_id, n);
    return !arena_failed(mem);
}

bool tasks_analyse(struct profile *p, struct device *d, struct error *e)
{
    const struct device_log *log = &d->log;
    struct arena *mem = arena_new();
    struct joined j = { 0 };
    uint32_t *order = mem ? arena_take(mem, log->n, sizeof *order) : NULL;
    uint64_t *begin = order ? arena_take(mem, log->n, sizeof *begin) : NULL;
    bool done = begin && TAKE(j.row, log->n) && TAKE(j.host, log->n) && TAKE(j.is_hidden, log->n);
    if (done) {
        order_fill(order, log->n);
        done = order_by_u64(order, log->n, log->begin) && order_by_u32(order, log->n, log->context) &&
               order_by_u64(order, log->n, log->key);
    }
    if (done) {
        join(p, d, order, &j);
        hide_wholes(log, &j);
        for (size_t i = 0; i < j.n; i++)
            begin[i] = log->begin[j.row[i]];
        order_fill(order, j.n);
        done = order_by_u64(order, j.n, begin) && take_tasks(d, j.n);
    }
    if (done)
        fill_tasks(p, d, &j, order);
    arena_free(mem);
    return done || error_set(e, FAULT_LIMIT, "%s: no memory for its tasks", d->source.path);
}
