/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include <string.h>

#include "base/memory/sort.h"

/* What the losses call the log of each form. */
static const char *const log_file[] = { [TASK_LOG_UNREAD] = "",
                                        [TASK_LOG_STARS] = "stars_soc.data",
                                        [TASK_LOG_SHORT] = "stars_soc.data",
                                        [TASK_LOG_HWTS] = "hwts.data",
                                        [TASK_LOG_CUDA] = "ascope_cuda.data" };
static const char host_file[] = "host/data/compact.task_track";

/* Where the tasks of one device begin and end in host_tasks. */
static size_t first_of_device(const struct host_tasks *t, unsigned device)
{
    return SEARCH_FIRST_NOT(i, 0, t->n, t->device[i] < device);
}

struct joining {
    struct profile *profile;
    struct device *device;
    struct joined *out;
    const char *file;
};

static void task_join_add_row(struct joining *g, uint32_t row, uint32_t host)
{
    struct device *d = g->device;
    const bool is_early = source_device_ns(&d->source, d->log.end[row]) < d->source.begin_ns;
    if (is_early) {
        losses_add(&d->source.lost, LOSS_OUTSIDE, 1, g->file, 0);
        if (host != NO_ROW && d->log.early)
            d->log.early[d->log.n_early++] = (struct early_task){ row, g->profile->host.tasks.op[host] };
    } else if (host == NO_ROW && d->log.type[row] == TYPE_OF_HOST) {
        losses_add(&d->source.lost, LOSS_UNMATCHED, 1, "ts_track.data", 0);
    } else {
        g->out->row[g->out->n] = row;
        g->out->host[g->out->n++] = host;
    }
}

static bool is_before(uint64_t key_a, uint32_t context_a, uint64_t key_b, uint32_t context_b)
{
    return key_a != key_b ? key_a < key_b : context_a < context_b;
}

/* `order`: rows of the log by (key, context, begin). */
static void join_by_id(struct joining *g, const uint32_t *order)
{
    const struct host_tasks *h = &g->profile->host.tasks;
    struct device *d = g->device;
    const struct device_log *log = &d->log;
    const bool is_dynamic = d->source.settings.is_dynamic;
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
        if (same > 1) {
            ambiguous += end - i;
            i = end;
            continue;
        }
        /* Where recording began in the middle of a run, the first task of an id may be one from before with the same
         * number: it cannot be distinguished from the one that the host speaks of, and the reference leaves it out as
         * well. */
        if (is_dynamic && same == 1 && end - i > 1) {
            losses_add(&d->source.lost, LOSS_OUTSIDE, 1, g->file, 0);
            i++;
        }
        for (; i < end; i++)
            task_join_add_row(g, order[i], same == 1 ? (uint32_t)first : NO_ROW);
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, host_only + (host_end - host), host_file, 0);
    losses_add(&d->source.lost, LOSS_AMBIGUOUS, ambiguous, source_file(&g->profile->host.source, "compact.task_track"),
               0);
}

/* Stream and task without the batch. */
static uint64_t task_join_id_of(uint16_t stream, uint32_t task)
{
    return task_key(stream, 0, task);
}

/* Matches the runs of one id with the tasks that the host launched with it, in the order of time; batches number the
 * launches (operators.c). A task of a loaded graph is launched once and runs repeatedly. Stamps of the profiler itself
 * may be missing on either side, so that they are skipped if the numbers differ. Returns the number of launches without
 * a run. */
static uint64_t pair_in_order(struct joining *g, const uint32_t *row, size_t n_rows, const uint32_t *host,
                              size_t n_hosts, name_id stamp)
{
    const struct host_tasks *h = &g->profile->host.tasks;
    struct device_log *log = &g->device->log;
    const bool is_static = n_hosts == 1 && h->request[host[0]] == 0;
    const bool skips_stamps = n_hosts != n_rows && n_rows > 0;
    size_t k = 0;
    for (size_t i = 0; i < n_rows; i++) {
        while (skips_stamps && !is_static && k < n_hosts && h->type[host[k]] == stamp)
            k++;
        const uint32_t of = is_static && n_hosts > 0 ? host[0] : k < n_hosts ? host[k++] : NO_ROW;
        log->batch[row[i]] = of != NO_ROW ? h->batch[of] : (uint16_t)(n_hosts + i);
        log->key[row[i]] = task_key(log->stream[row[i]], log->batch[row[i]], log->task[row[i]]);
        task_join_add_row(g, row[i], of);
    }
    return is_static && n_rows > 0 ? 0 : n_hosts - k;
}

static bool join_in_order(struct joining *g, struct arena *mem)
{
    const struct host_tasks *h = &g->profile->host.tasks;
    struct device_log *log = &g->device->log;
    const size_t first = first_of_device(h, g->device->source.device);
    const size_t n_hosts = first_of_device(h, g->device->source.device + 1) - first;
    uint32_t *order = arena_take(mem, log->n, sizeof *order), *host = arena_take(mem, n_hosts, sizeof *host);
    uint64_t *id = arena_take(mem, log->n, sizeof *id), *host_id = arena_take(mem, h->n, sizeof *host_id);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < log->n; i++)
        id[i] = task_join_id_of(log->stream[i], log->task[i]);
    for (size_t i = 0; i < n_hosts; i++) {
        host[i] = (uint32_t)(first + i);
        host_id[first + i] = task_join_id_of(h->stream[first + i], h->task[first + i]);
    }
    order_fill(order, log->n);
    if (!order_by_u64(order, log->n, log->begin) || !order_by_u32(order, log->n, log->context) ||
        !order_by_u64(order, log->n, id) || !order_by_u64(host, n_hosts, h->time) ||
        !order_by_u32(host, n_hosts, h->context) || !order_by_u64(host, n_hosts, host_id))
        return false;
    const name_id stamp = names_addz(g->profile->names, "PROFILER_TRACE_EX");
    uint64_t host_only = 0;
    size_t k = 0;
    for (size_t i = 0, end; i < log->n; i = end) {
        const uint64_t this_id = id[order[i]];
        const uint32_t context = log->context[order[i]];
        for (end = i; end < log->n && id[order[end]] == this_id && log->context[order[end]] == context;)
            end++;
        for (; k < n_hosts && is_before(host_id[host[k]], h->context[host[k]], this_id, context); k++)
            host_only++;
        const size_t from = k;
        while (k < n_hosts && host_id[host[k]] == this_id && h->context[host[k]] == context)
            k++;
        host_only += pair_in_order(g, order + i, end - i, host + from, k - from, stamp);
    }
    losses_add(&g->device->source.lost, LOSS_UNMATCHED, host_only + (n_hosts - k), host_file, 0);
    return true;
}

/* Sorts the result by (key, context, begin): the keys now have the batches of the host. */
static bool sort_joined(const struct device_log *log, struct joined *j, struct arena *mem)
{
    uint32_t *order = arena_take(mem, j->n, sizeof *order), *context = arena_take(mem, j->n, sizeof *context);
    uint64_t *key = arena_take(mem, j->n, sizeof *key), *begin = arena_take(mem, j->n, sizeof *begin);
    uint32_t *moved = arena_take(mem, j->n, sizeof *moved);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < j->n; i++) {
        key[i] = log->key[j->row[i]];
        context[i] = log->context[j->row[i]];
        begin[i] = log->begin[j->row[i]];
    }
    order_fill(order, j->n);
    if (!order_by_u64(order, j->n, begin) || !order_by_u32(order, j->n, context) || !order_by_u64(order, j->n, key))
        return false;
    order_apply(moved, j->row, order, j->n, sizeof *moved);
    memcpy(j->row, moved, j->n * sizeof *moved);
    order_apply(moved, j->host, order, j->n, sizeof *moved);
    memcpy(j->host, moved, j->n * sizeof *moved);
    return true;
}

/* In most logs the tasks of an id are already in order, so that sorting by key is enough. */
static bool is_in_order(const struct device_log *log, const uint32_t *order)
{
    for (size_t i = 1; i < log->n; i++) {
        const uint32_t a = order[i - 1], b = order[i];
        if (log->key[a] == log->key[b] &&
            (log->context[a] != log->context[b] ? log->context[a] > log->context[b] : log->begin[a] > log->begin[b]))
            return false;
    }
    return true;
}

/* By (key, context, begin). False: no memory. */
static bool sort_log(const struct device_log *log, uint32_t *order)
{
    order_fill(order, log->n);
    if (!order_by_u64(order, log->n, log->key))
        return false;
    if (is_in_order(log, order))
        return true;
    order_fill(order, log->n);
    return order_by_u64(order, log->n, log->begin) && order_by_u32(order, log->n, log->context) &&
           order_by_u64(order, log->n, log->key);
}

bool tasks_join(struct profile *p, struct device *d, struct arena *mem, struct joined *out)
{
    struct device_log *log = &d->log;
    struct joining g = { p, d, out, log_file[d->source.chip->task_log] };
    uint32_t *order = arena_take(mem, log->n, sizeof *order);
    out->row = arena_take(mem, log->n, sizeof *out->row);
    out->host = arena_take(mem, log->n, sizeof *out->host);
    if (d->source.chip->task_log == TASK_LOG_HWTS || d->pmu.l2.n + d->pmu.smmu.n > 0)
        log->early = arena_take(d->source.mem, log->n, sizeof *log->early);
    if (arena_failed(mem) || arena_failed(d->source.mem))
        return false;
    if (!p->has_unique_ids)
        return join_in_order(&g, mem) && sort_joined(log, out, mem);
    if (!sort_log(log, order))
        return false;
    join_by_id(&g, order);
    return true;
}
