/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "raw/enums.h"

/* If an id does not fit its field, the device stores some of its bits in the field of the other id; bits of the stream
 * field say how. */
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
    } all[] = { { log->flips.stream, 2 }, { log->flips.number, 2 }, { log->flips.task, 2 }, { log->flips.tick, 8 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        order_apply(moved, all[i].column, order, n, all[i].size);
        memcpy(all[i].column, moved, n * all[i].size);
    }
    return true;
}

void device_batches(const struct device *d, const uint32_t *order, size_t n, const uint16_t *stream,
                    const uint64_t *time, const uint32_t *task, uint16_t *batch)
{
    const struct device_log *log = &d->log;
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
        const size_t n_flips = flip_end - flip;
#define FLIPS(column) (n_flips > 0 ? log->flips.column + flip : NULL) /* without flips there are no columns */
        if (d->source.chip->is_native)
            batch_of_device(order + i, end - i, time, task, batch, n_flips, FLIPS(tick), FLIPS(task));
        else
            batch_of_older(order + i, end - i, time, task, batch, n_flips, FLIPS(tick), FLIPS(task), FLIPS(number));
#undef FLIPS
        i = end;
    }
}

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

void device_events_drop(struct device *d)
{
    struct arena *mem = d->source.mem;
    struct task_events *v = &d->log.events;
    struct edges *g = d->log.edges;
    const void *const column[] = {
        v->head, v->tick, v->stream, v->task, v->context, v->sub_type, v->id, v->part, v->acc
    };
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        arena_drop(mem, column[i]);
    for (size_t i = 0; i < EDGES; i++)
        arena_drop(mem, g[i].id), arena_drop(mem, g[i].tick), arena_drop(mem, g[i].type), arena_drop(mem, g[i].is_end);
    *v = (struct task_events){ 0 };
    memset(g, 0, EDGES * sizeof *g);
}

bool device_log_take(struct device *d, size_t n)
{
    struct device_log *log = &d->log;
    struct arena *mem = d->source.mem;
    TAKE(log->stream, n), TAKE(log->batch, n), TAKE(log->task, n), TAKE(log->context, n);
    TAKE(log->key, n), TAKE(log->begin, n), TAKE(log->end, n), TAKE(log->type, n);
    return !arena_failed(mem);
}

bool device_log_analyse(struct profile *p, struct device *d, struct error *e)
{
    static bool (*const pair[])(struct profile * p, struct device * d, struct error * e) = {
        [TASK_LOG_UNREAD] = NULL,        [TASK_LOG_STARS] = stars_log_pair,
        [TASK_LOG_SHORT] = NULL, /* see device_log_with_host() */
        [TASK_LOG_HWTS] = hwts_log_pair, [TASK_LOG_CUDA] = cuda_log_take,
    };
    const enum task_log form = d->source.chip->task_log;
    struct arena *scratch = arena_new();
    const bool is_sorted = scratch && sort_flips(d, scratch);
    arena_free(scratch);
    if (!is_sorted)
        return error_no_memory(e, d->source.path);
    return !pair[form] || pair[form](p, d, e);
}

bool device_log_with_host(struct profile *p, struct device *d, struct error *e)
{
    return d->source.chip->task_log != TASK_LOG_SHORT || stars_log_pair(p, d, e);
}

name_id task_device_type(const struct profile *p, const struct tasks *t, size_t row)
{
    static const struct enum_table *const types[] = {
        [TASK_LOG_UNREAD] = &hwts_types, [TASK_LOG_STARS] = &sqe_types, [TASK_LOG_SHORT] = &sqe_950_types,
        [TASK_LOG_HWTS] = &hwts_types,   [TASK_LOG_CUDA] = &hwts_types, /* not used: the host knows all of them */
    };
    const struct chip *chip = p->chip;
    const struct enum_table *table = t->context[row] != NO_CONTEXT ? &context_types : types[chip->task_log];
    const bool has_name = !chip->logs_no_types || t->device_type[row] == SQE_AI_CPU;
    const char *text = has_name ? enum_text(table, t->device_type[row]) : NULL;
    if (text)
        return names_addz(p->names, text);
    return chip->is_native ? NAME_UNKNOWN : names_addz(p->names, "Other");
}

/* Hides a task if some of its contexts ran: timelines show these instead. In the order of ids, the task follows its
 * contexts. */
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
        if (d->source.chip->task_log == TASK_LOG_CUDA) { /* ticks are ns: drift matters for when, not for how long */
            const int64_t dur_ns = ticks < STAMP_MOST ? (int64_t)ticks : STAMP_MOST; /* more is damage */
            t->dur_ns[k] = (double)dur_ns;
            t->end_ns[k] = stamp_add(t->begin_ns[k], dur_ns);
        }
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
    bool done = mem && tasks_join(p, d, mem, &j);
    uint32_t *order = done ? arena_take(mem, j.n, sizeof *order) : NULL;
    uint64_t *begin = order ? arena_take(mem, j.n, sizeof *begin) : NULL;
    done = begin && TAKE(j.is_hidden, j.n);
    if (done) {
        hide_wholes(log, &j);
        for (size_t i = 0; i < j.n; i++)
            begin[i] = log->begin[j.row[i]];
        order_fill(order, j.n);
        done = order_by_u64(order, j.n, begin) && take_tasks(d, j.n);
    }
    if (done)
        fill_tasks(p, d, &j, order);
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}

bool cuda_log_take(struct profile *p, struct device *d, struct error *e)
{
    (void)p;
    const struct gpu_tasks *g = &d->gpu;
    struct device_log *log = &d->log;
    if (!device_log_take(d, g->n))
        return error_no_memory(e, d->source.path);
    for (size_t i = 0; i < g->n; i++) {
        if (!gpu_task_is_whole(g, i))
            continue;
        const size_t k = log->n++;
        log->stream[k] = g->track[i];
        log->batch[k] = 0;
        log->task[k] = (uint32_t)i;
        log->context[k] = NO_CONTEXT;
        log->key[k] = task_key(log->stream[k], 0, log->task[k]);
        log->begin[k] = g->begin[i];
        log->end[k] = g->end[i];
        log->type[k] = g->kind[i];
    }
    return true;
}

void cuda_copies(struct device *d)
{
    const struct gpu_tasks *g = &d->gpu;
    struct tasks *t = &d->tasks;
    for (size_t i = 0; i < t->n; i++) {
        t->copy_bytes[i] = g->bytes[t->task[i]];
        t->copy_kind[i] = gpu_task_is_copy(g, t->task[i]) ? COPY_OTHER : COPY_NONE;
    }
}

bool task_streams_take(const struct host_tasks *t, unsigned device, struct arena *mem, struct task_streams *out)
{
    *out = (struct task_streams){ .tasks = t, .row = arena_take(mem, t->n, sizeof *out->row) };
    for (uint32_t i = 0; out->row && i < t->n; i++)
        if (t->device[i] == device)
            out->row[out->n++] = i;
    return out->row && order_by_u16(out->row, out->n, t->stream) && order_by_u32(out->row, out->n, t->task);
}

uint16_t task_streams_find(const struct task_streams *s, uint32_t id)
{
    const struct host_tasks *t = s->tasks;
    const size_t at = order_first_u32(s->row, s->n, t->task, id);
    return at < s->n && t->task[s->row[at]] == id ? t->stream[s->row[at]] : UNKNOWN_STREAM;
}
