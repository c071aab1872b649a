/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "analyse/device/device_analysis.h"
#include "base/memory/columns.h"
#include "base/memory/sort.h"
#include "raw/device_records.h"

/* The state of the copy that is being paired: a copy is received, then started, then ended. */
struct open_copy {
    enum { NOTHING, RECEIVED, BEGUN } is;
    uint64_t received, begin;
};

/* True: this state ends a copy. */
static bool step(struct open_copy *c, uint8_t state, uint64_t tick, uint64_t *lost)
{
    switch (state) {
    case TS_STATE_RECEIVED:
        *lost += c->is != NOTHING;
        *c = (struct open_copy){ .is = RECEIVED, .received = tick };
        return false;
    case TS_STATE_STARTED:
        *lost += c->is != RECEIVED;
        c->is = c->is == RECEIVED ? BEGUN : NOTHING;
        c->begin = tick;
        return false;
    case TS_STATE_ENDED: {
        const bool is_whole = c->is == BEGUN;
        *lost += !is_whole;
        c->is = NOTHING;
        return is_whole;
    }
    default: ++*lost; return false;
    }
}

static uint64_t pair(struct device *d, const uint32_t *order, const uint32_t *id)
{
    struct device_log *log = &d->log;
    struct open_copy open = { 0 };
    uint64_t lost = 0;
    for (size_t i = 0; i < log->copy_states.n; i++) {
        const uint32_t row = order[i];
        if (i > 0 && id[row] != id[order[i - 1]]) {
            lost += open.is != NOTHING;
            open.is = NOTHING;
        }
        if (!step(&open, log->copy_states.state[row], log->copy_states.tick[row], &lost))
            continue;
        const bool is_early = source_device_ns(&d->source, log->copy_states.tick[row]) < d->source.begin_ns;
        losses_add(&d->source.lost, LOSS_OUTSIDE, is_early, "ts_track.data", 0);
        if (is_early)
            continue;
        const size_t k = log->copies.n++;
        log->copies.stream[k] = log->copy_states.stream[row];
        log->copies.task[k] = log->copy_states.task[row];
        log->copies.received[k] = open.received;
        log->copies.begin[k] = open.begin;
        log->copies.end[k] = log->copy_states.tick[row];
    }
    return lost + (open.is != NOTHING);
}

/* The host's copies that no task of the log belongs to, by (stream, task, time). */
static size_t hosts_left(const struct profile *p, const struct device *d, struct arena *mem, uint32_t **out)
{
    const struct host_tasks *h = &p->host.tasks;
    uint32_t *left = *out = arena_take(mem, h->n, sizeof *left), *id = arena_take(mem, h->n, sizeof *id);
    bool *is_taken = arena_take(mem, h->n, sizeof *is_taken);
    size_t n = 0;
    if (arena_failed(mem))
        return 0;
    for (size_t i = 0; i < d->tasks.n; i++)
        if (d->tasks.host[i] != NO_ROW)
            is_taken[d->tasks.host[i]] = true;
    for (uint32_t i = 0; i < h->n; i++) {
        if (h->device[i] != d->source.device || h->type[i] != NAME_MEMCPY_ASYNC || is_taken[i])
            continue;
        id[i] = (uint32_t)h->stream[i] << 16 | (h->task[i] & UINT16_MAX);
        left[n++] = i;
    }
    return order_by_u64(left, n, h->time) && order_by_u32(left, n, id) ? n : 0;
}

/* A copy is the last one that the host launched with its id. */
static bool find_hosts(const struct profile *p, struct device *d, struct arena *mem)
{
    struct device_log *log = &d->log;
    const struct host_tasks *h = &p->host.tasks;
    uint32_t *host;
    const size_t n_hosts = hosts_left(p, d, mem, &host);
    uint64_t n_found = 0;
    size_t next = 0;
    for (size_t i = 0; i < log->copies.n; i++) {
        const int64_t begin_ns = source_device_ns(&d->source, log->copies.begin[i]);
        log->copies.host[i] = NO_ROW;
        log->copies.kind[i] = COPY_NONE;
        for (; next < n_hosts; next++) {
            const uint32_t row = host[next];
            const bool is_same = h->stream[row] == log->copies.stream[i] && h->task[row] == log->copies.task[i];
            const bool is_lower = h->stream[row] != log->copies.stream[i] ? h->stream[row] < log->copies.stream[i]
                                                                          : h->task[row] < log->copies.task[i];
            if (is_same ? source_host_ns(&p->host.source, h->time[row]) > begin_ns : !is_lower)
                break;
            if (is_same)
                log->copies.host[i] = row;
        }
        n_found += log->copies.host[i] != NO_ROW;
    }
    uint64_t *unmatched = &d->source.lost.by[LOSS_UNMATCHED].n; /* tasks_join() counted these host tasks as unmatched */
    *unmatched -= n_found < *unmatched ? n_found : *unmatched;
    return !arena_failed(mem) && copies_measure(p, d,
                                                &(struct copying){ log->copies.n, log->copies.host, log->copies.stream,
                                                                   log->copies.bytes, log->copies.kind });
}

bool ts_copies_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct device_log *log = &d->log;
    const size_t n = log->copy_states.n;
    if (n == 0)
        return true;
    struct arena *scratch = arena_new(), *mem = d->source.mem;
    uint32_t *order = scratch ? arena_take(scratch, n, sizeof *order) : NULL;
    uint32_t *id = order ? arena_take(scratch, n, sizeof *id) : NULL;
    arena_columns(mem, n, log->copies.stream, log->copies.task, log->copies.received, log->copies.begin,
                  log->copies.end, log->copies.host, log->copies.bytes, log->copies.kind);
    bool done = id && !arena_failed(mem);
    if (done) {
        for (size_t i = 0; i < n; i++)
            id[i] = (uint32_t)log->copy_states.stream[i] << 16 | log->copy_states.task[i];
        order_fill(order, n);
        done = order_by_u64(order, n, log->copy_states.tick) && order_by_u32(order, n, id);
    }
    if (done)
        losses_add(&d->source.lost, LOSS_UNPAIRED, pair(d, order, id), "ts_track.data", 0);
    done = done && find_hosts(p, d, scratch);
    arena_free(scratch);
    return done || error_no_memory(e, d->source.path);
}
