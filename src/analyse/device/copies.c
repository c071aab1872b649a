/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include "analyse/device/tasks/device_tasks.h"
#include "base/memory/sort.h"

enum { KINDS = 8 };

/* Old collectors write {size, largest, direction}, new ones {size, kind, device, stream} over the same bytes. The new
 * form is identified by its device and stream being those of the task. */
static bool is_new_form(const struct memcpys *m, size_t row, unsigned device, uint16_t stream)
{
    const bool fits = m->kind[row] < KINDS && m->device[row] == device && m->stream[row] == stream;
    return fits && (m->largest[row] < 1024 || m->direction[row] >= KINDS || m->direction[row] == 0);
}

/* A call may become several tasks of the same thread and time. Each task gets as many bytes as a task can copy, until
 * none are left. */
static void share(const struct profile *p, const struct device *d, const struct copying *c, const uint32_t *order,
                  size_t n)
{
    const struct memcpys *m = &p->host.records.memcpys;
    const struct host_tasks *h = &p->host.tasks;
    size_t at = 0;
    uint64_t left = 0;
    size_t of = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = order[i], host = c->host[row];
        while (at < m->n &&
               (m->thread[at] < h->thread[host] || (m->thread[at] == h->thread[host] && m->time[at] < h->time[host])))
            at++;
        if (at == m->n || m->thread[at] != h->thread[host] || m->time[at] != h->time[host])
            continue;
        const bool is_new = is_new_form(m, at, d->source.device, c->stream[row]);
        left = of == at ? left : m->size[at];
        of = at;
        const uint64_t most = is_new ? UINT64_MAX : m->largest[at];
        const uint16_t kind = is_new ? m->kind[at] : m->direction[at];
        c->bytes[row] = left < most ? left : most;
        c->kind[row] = kind < KINDS ? kind : COPY_OTHER;
        left -= c->bytes[row];
    }
}

bool copies_measure(const struct profile *p, const struct device *d, const struct copying *c)
{
    const struct host_tasks *h = &p->host.tasks;
    struct arena *mem = arena_new();
    uint32_t *order = mem ? arena_take(mem, c->n, sizeof *order) : NULL;
    uint64_t *key = order ? arena_take(mem, c->n, sizeof *key) : NULL;
    size_t n = 0;
    bool done = key != NULL;
    for (uint32_t i = 0; done && i < c->n; i++) {
        const uint32_t host = c->host[i];
        if (host == NO_ROW || h->type[host] != NAME_MEMCPY_ASYNC)
            continue;
        order[n++] = i;
        key[i] = task_key(0, h->batch[host], h->task[host]);
    }
    done = done && order_by_u64(order, n, key);
    for (size_t i = 0; done && i < n; i++)
        key[order[i]] = h->time[c->host[order[i]]];
    done = done && order_by_u64(order, n, key);
    for (size_t i = 0; done && i < n; i++)
        key[order[i]] = h->thread[c->host[order[i]]];
    done = done && order_by_u64(order, n, key);
    if (done)
        share(p, d, c, order, n);
    arena_free(mem);
    return done;
}

bool copies_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct tasks *t = &d->tasks;
    if (d->source.chip->task_log == TASK_LOG_CUDA) {
        cuda_copies(d);
        return true;
    }
    return copies_measure(p, d, &(struct copying){ t->n, t->host, t->stream, t->copy_bytes, t->copy_kind }) ||
           error_no_memory(e, d->source.path);
}
