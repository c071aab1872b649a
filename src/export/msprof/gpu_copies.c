/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include "export/scope.h"

struct copy {
    const struct device *d;
    uint32_t task; /* row of the device's tasks */
    uint32_t row;  /* of its gpu_tasks */
};

static const struct copy *at(const void *rows, size_t i)
{
    return (const struct copy *)rows + i;
}

static struct cell device_id(const void *rows, size_t i)
{
    return cell_uint(at(rows, i)->d->source.device);
}

static struct cell gpu_copies_start(const void *rows, size_t i)
{
    return cell_time(at(rows, i)->d->tasks.begin_ns[at(rows, i)->task]);
}

static uint64_t gpu_copies_ns_of(const struct copy *c)
{
    return c->d->gpu.end[c->row] - c->d->gpu.begin[c->row];
}

static struct cell duration(const void *rows, size_t i)
{
    return cell_us((int64_t)gpu_copies_ns_of(at(rows, i)));
}

static struct cell kind(const void *rows, size_t i)
{
    const struct copy *const c = at(rows, i);
    return cell_text(gpu_task_is_copy(&c->d->gpu, c->row) ? cuda_copy_name(c->d->gpu.copy_kind[c->row]) : "Set");
}

static struct cell from(const void *rows, size_t i)
{
    const struct copy *const c = at(rows, i);
    return gpu_task_is_copy(&c->d->gpu, c->row) ? cell_text(cuda_memory_name(c->d->gpu.from[c->row])) : cell_na();
}

static struct cell to(const void *rows, size_t i)
{
    const struct copy *const c = at(rows, i);
    return cell_text(cuda_memory_name(c->d->gpu.to[c->row]));
}

static struct cell peer(const void *rows, size_t i)
{
    const struct copy *const c = at(rows, i);
    return c->d->gpu.kind[c->row] == CUDA_IS_PEER_COPY ? cell_uint(c->d->gpu.peer[c->row]) : cell_na();
}

/* Bytes per nanosecond are GB/s. */
static struct cell bandwidth(const void *rows, size_t i)
{
    const struct copy *const c = at(rows, i);
    const uint64_t ns = gpu_copies_ns_of(c);
    return ns > 0 ? cell_fixed((double)c->d->gpu.bytes[c->row] / (double)ns, 3) : cell_na();
}

#define OF_COPY(name)                                                                                                  \
    static struct cell name(const void *rows, size_t i)                                                                \
    {                                                                                                                  \
        return cell_uint(at(rows, i)->d->gpu.name[at(rows, i)->row]);                                                  \
    }
OF_COPY(bytes)
OF_COPY(stream)
OF_COPY(context)
OF_COPY(correlation)
OF_COPY(graph)
OF_COPY(graph_node)

static const struct column columns[] = {
    { "Device_id", device_id },
    { "Start Time(us)", gpu_copies_start },
    { "Duration(us)", duration },
    { "Kind", kind },
    { "From", from },
    { "To", to },
    { "To Device", peer },
    { "Size(B)", bytes },
    { "Bandwidth(GB/s)", bandwidth },
    { "Stream ID", stream },
    { "Context", context },
    { "Correlation ID", correlation },
    { "Graph ID", graph },
    { "Graph Node ID", graph_node },
};

static bool is_listed(const struct export *x, const struct device *d, size_t task)
{
    return !gpu_task_is_kernel(&d->gpu, d->tasks.task[task]) && scope_has_task(x, &d->tasks, task);
}

bool gpu_copies_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *const p = x->profile;
    size_t most = 0, n = 0;
    for (size_t i = 0; i < p->n_devices && p->chip->group == ON_CUDA; i++)
        for (size_t k = 0; k < p->device[i].tasks.n && p->device[i].gpu.n > 0; k++)
            most += is_listed(x, &p->device[i], k);
    struct copy *const all = arena_take(x->mem, most, sizeof *all);
    if (!all)
        return error_no_memory(e, "gpu_copies");
    for (size_t i = 0; i < p->n_devices && most > 0; i++) {
        const struct device *const d = &p->device[i];
        for (uint32_t k = 0; k < d->tasks.n && d->gpu.n > 0; k++)
            if (is_listed(x, d, k))
                all[n++] = (struct copy){ d, k, d->tasks.task[k] };
    }
    *out = (struct table){ .name = "gpu_copies", TABLE_COLUMNS(columns), .n_rows = n, .rows = all, .names = p->names };
    return true;
}
