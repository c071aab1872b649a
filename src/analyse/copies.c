#include "analyse/copies.h"

#include "base/sort.h"

enum { KINDS = 8 };

/* Old collectors write {size, largest, direction}, new ones {size, kind, device, stream} over the same bytes. The new
 * form is told by its device and stream being those of the task. */
static bool is_new_form(const struct memcpys *m, size_t row, unsigned device, uint16_t stream)
{
    const bool fits = m->kind[row] < KINDS && m->device[row] == device && m->stream[row] == stream;
    return fits && (m->largest[row] < 1024 || m->direction[row] >= KINDS || m->direction[row] == 0);
}

/* A call may become several tasks of the same thread and time: each takes what one task can, until nothing is left. */
static void share(struct profile *p, struct device *d, const uint32_t *order, size_t n)
{
    const struct memcpys *m = &p->host.records.memcpys;
    const struct host_tasks *h = &p->host.tasks;
    struct tasks *t = &d->tasks;
    size_t at = 0;
    uint64_t left = 0;
    size_t of = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = order[i], host = t->host[row];
        while (at < m->n &&
               (m->thread[at] < h->thread[host] || (m->thread[at] == h->thread[host] && m->time[at] < h->time[host])))
            at++;
        if (at == m->n || m->thread[at] != h->thread[host] || m->time[at] != h->time[host])
            continue;
        const bool is_new = is_new_form(m, at, d->source.device, t->stream[row]);
        left = of == at ? left : m->size[at];
        of = at;
        const uint64_t most = is_new ? UINT64_MAX : m->largest[at];
        const uint16_t kind = is_new ? m->kind[at] : m->direction[at];
        t->copy_bytes[row] = left < most ? left : most;
        t->copy_kind[row] = kind < KINDS ? kind : COPY_OTHER;
        left -= t->copy_bytes[row];
    }
}

bool copies_analyse(struct profile *p, struct device *d, struct error *e)
{
    const struct host_tasks *h = &p->host.tasks;
    struct tasks *t = &d->tasks;
    struct arena *mem = arena_new();
    uint32_t *order = mem ? arena_take(mem, t->n, sizeof *order) : NULL;
    uint64_t *key = order ? arena_take(mem, t->n, sizeof *key) : NULL;
    size_t n = 0;
    bool done = key != NULL;
    for (uint32_t i = 0; done && i < t->n; i++) {
        if (t->host[i] == NO_ROW || h->type[t->host[i]] != NAME_MEMCPY_ASYNC)
            continue;
        order[n++] = i;
        key[i] = (uint64_t)t->batch[i] << 32 | t->task[i];
    }
    done = done && order_by_u64(order, n, key);
    for (size_t i = 0; done && i < n; i++)
        key[order[i]] = h->time[t->host[order[i]]];
    done = done && order_by_u64(order, n, key);
    for (size_t i = 0; done && i < n; i++)
        key[order[i]] = h->thread[t->host[order[i]]];
    done = done && order_by_u64(order, n, key);
    if (done)
        share(p, d, order, n);
    arena_free(mem);
    return done || error_set(e, FAULT_LIMIT, "%s: no memory for its copies", d->source.path);
}
