/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "base/memory/sort.h"
#include "raw/device_records.h"
#include "raw/enums.h"

/* Kinds of tasks in the scheduler's track. */
enum { TRACK_AI_CPU = 1 };
static const uint16_t scheduled[] = { 12, 13, 72, 101,
                                      116 }; /* maintenance and execution of models, callbacks, updates */

static void add_pair(struct device_log *log, const struct edges *e, uint32_t begin, uint32_t end)
{
    const size_t k = log->n++;
    log->stream[k] = (uint16_t)(e->id[end] >> 16);
    log->task[k] = e->id[end] & 0xFFFF;
    log->context[k] = NO_CONTEXT;
    log->begin[k] = e->tick[begin];
    log->end[k] = e->tick[end];
    log->type[k] = e->type[end];
}

bool edges_pair(struct device_log *log, const struct edges *e, uint32_t *order, uint64_t *unpaired)
{
    if (!order_by_u32(order, e->n, e->id))
        return false;
    uint32_t open = NO_ROW;
    for (size_t i = 0; i < e->n; i++) {
        const uint32_t row = order[i];
        if (open != NO_ROW && (e->id[open] != e->id[row] || !e->is_end[row])) {
            ++*unpaired;
            open = NO_ROW;
        }
        if (!e->is_end[row]) {
            open = row;
        } else if (open == NO_ROW) {
            ++*unpaired;
        } else {
            add_pair(log, e, open, row);
            open = NO_ROW;
        }
    }
    *unpaired += open != NO_ROW;
    return true;
}

/* Begins and ends of AI CPU kernels from the scheduler's track, for chips whose log does not have them. */
static bool track_ai_cpu(const struct device *d, struct edges *out)
{
    const struct device_log *log = &d->log;
    if (!edges_take(out, log->states.n, d->source.mem))
        return false;
    for (size_t i = 0; i < log->states.n; i++) {
        const uint8_t state = log->states.state[i];
        if (log->states.type[i] == TRACK_AI_CPU && (state == TS_STATE_STARTED || state == TS_STATE_ENDED))
            edges_add(out, edge_id(log->states.stream[i], log->states.task[i]), log->states.tick[i], SQE_AI_CPU,
                      state == TS_STATE_ENDED);
    }
    return true;
}

static bool number_batches(struct device *d, struct arena *mem)
{
    struct device_log *log = &d->log;
    uint32_t *order = arena_take(mem, log->n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, log->n);
    if (!order_by_u64(order, log->n, log->begin) || !order_by_u16(order, log->n, log->stream))
        return false;
    device_batches(d, order, log->n, log->stream, log->begin, log->task, log->batch);
    for (size_t i = 0; i < log->n; i++)
        log->key[i] = task_key(log->stream[i], log->batch[i], log->task[i]);
    return true;
}

static bool is_scheduled(uint16_t type)
{
    for (size_t i = 0; i < sizeof scheduled / sizeof *scheduled; i++)
        if (scheduled[i] == type)
            return true;
    return false;
}

/* States of tasks that the scheduler runs by itself, by (key, time). */
struct states {
    size_t n;
    uint32_t *row; /* of log->states */
    uint64_t *key; /* by row */
};

static bool gather_states(const struct device *d, struct arena *mem, struct states *out)
{
    const struct device_log *log = &d->log;
    const size_t most = log->states.n;
    uint32_t *task = arena_take(mem, most, sizeof *task);
    uint16_t *batch = arena_take(mem, most, sizeof *batch);
    *out = (struct states){ .row = arena_take(mem, most, sizeof *out->row),
                            .key = arena_take(mem, most, sizeof *out->key) };
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < most; i++) {
        task[i] = log->states.task[i];
        out->row[i] = (uint32_t)i;
    }
    if (!order_by_u64(out->row, most, log->states.tick) || !order_by_u16(out->row, most, log->states.stream))
        return false;
    device_batches(d, out->row, most, log->states.stream, log->states.tick, task, batch);
    for (size_t i = 0; i < most; i++) {
        const uint32_t row = out->row[i];
        out->key[row] = task_key(log->states.stream[row], batch[row], task[row]);
        if (is_scheduled(log->states.type[row]))
            out->row[out->n++] = row;
    }
    return order_by_u64(out->row, out->n, log->states.tick) && order_by_u64(out->row, out->n, out->key);
}

/* Adds tasks that the scheduler received and ended and that are not in the log. `known`: rows of the log by key. */
static void add_scheduled(struct device_log *log, const struct states *s, const uint32_t *known, size_t n_known)
{
    size_t k = 0;
    for (size_t i = 0, end; i < s->n; i = end) {
        const uint64_t key = s->key[s->row[i]];
        uint32_t received = NO_ROW, ended = NO_ROW;
        for (end = i; end < s->n && s->key[s->row[end]] == key; end++) {
            const uint32_t row = s->row[end];
            if (received == NO_ROW && log->states.state[row] == TS_STATE_RECEIVED)
                received = row;
            if (ended == NO_ROW && log->states.state[row] == TS_STATE_ENDED)
                ended = row;
        }
        while (k < n_known && log->key[known[k]] < key)
            k++;
        const bool is_known = k < n_known && log->key[known[k]] == key;
        if (is_known || received == NO_ROW || ended == NO_ROW)
            continue;
        const size_t to = log->n++;
        log->key[to] = key;
        log->stream[to] = log->states.stream[received];
        log->task[to] = log->states.task[received];
        log->batch[to] = (uint16_t)(key >> 32);
        log->context[to] = NO_CONTEXT;
        log->begin[to] = log->states.tick[received];
        log->end[to] = log->states.tick[ended];
        log->type[to] = TYPE_OF_HOST;
    }
}

static bool track_scheduled(struct device *d, struct arena *mem)
{
    struct device_log *log = &d->log;
    struct states s;
    const size_t n_known = log->n;
    uint32_t *known = arena_take(mem, n_known, sizeof *known);
    if (!known || !gather_states(d, mem, &s))
        return false;
    order_fill(known, n_known);
    if (!order_by_u64(known, n_known, log->key))
        return false;
    add_scheduled(log, &s, known, n_known);
    return true;
}

static bool pair(struct device *d, const struct edges *edges, bool by_time, const char *file, struct arena *mem)
{
    uint64_t unpaired = 0;
    uint32_t *order = arena_take(mem, edges->n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, edges->n);
    if ((by_time && !order_by_u64(order, edges->n, edges->tick)) || !edges_pair(&d->log, edges, order, &unpaired))
        return false;
    losses_add(&d->source.lost, LOSS_UNPAIRED, unpaired, file, 0);
    return true;
}

bool hwts_log_pair(struct profile *p, struct device *d, struct error *e)
{
    static const char *const file[EDGES] = { "hwts.data", "hwts.aiv_data", "ts_track.data" };
    const struct chip *chip = d->source.chip;
    struct edges *edges = d->log.edges;
    struct arena *mem = arena_new();
    bool done = mem && (!chip->tracks_ai_cpu || chip->tracks_tasks || track_ai_cpu(d, &edges[EDGES_OF_SCHEDULER]));
    size_t most = chip->tracks_models ? d->log.states.n : 0;
    for (size_t i = 0; i < EDGES; i++)
        most += edges[i].n / 2;
    done = done && device_log_take(d, most);
    for (size_t i = 0; i < EDGES && done; i++)
        done = pair(d, &edges[i], i == EDGES_OF_SCHEDULER, file[i], mem);
    if (p->has_unique_ids)
        done = done && number_batches(d, mem) && (!chip->tracks_models || track_scheduled(d, mem));
    arena_free(mem);
    device_events_drop(d);
    return done || error_no_memory(e, d->source.path);
}
