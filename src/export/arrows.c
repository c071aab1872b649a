#include "export/arrows.h"

#include "export/cann.h"
#include "export/scope.h"

/* True when the call is drawn. */
static bool is_drawn(const struct export *x, uint32_t connection)
{
    return connection > 0 && connection <= x->profile->host.calls.n && scope_has_call(x, connection - 1);
}

enum arrow_kind arrow_to_task(const struct export *x, const struct device *d, size_t row)
{
    const struct host_tasks *h = &x->profile->host.tasks;
    const uint32_t host = d->tasks.is_hidden[row] ? NO_ROW : scope_task_host(x, &d->tasks, row);
    if (host == NO_ROW || !scope_has_task(x, &d->tasks, row) || !is_drawn(x, h->connection[host]))
        return ARROW_NONE;
    if (d->tasks.op[row] != NO_ROW)
        return x->is_generic ? ARROW_OF_TASK : ARROW_OF_CALL;
    const bool is_copy = h->type[host] == NAME_MEMCPY_ASYNC;
    return is_copy || call_is_event(x->profile, h->connection[host] - 1) ? ARROW_OF_CALL : ARROW_NONE;
}

bool arrow_to_collective(const struct export *x, const struct device *d, size_t op)
{
    return is_drawn(x, d->comm.ops.connection[op]);
}

const bool *arrow_starts(const struct export *x)
{
    const struct profile *p = x->profile;
    bool *starts = arena_take(x->mem, p->host.calls.n, sizeof *starts);
    for (size_t k = 0; starts && k < p->n_devices; k++) {
        const struct device *d = &p->device[k];
        for (size_t i = 0; i < d->tasks.n; i++)
            if (arrow_to_task(x, d, i) == ARROW_OF_CALL)
                starts[p->host.tasks.connection[d->tasks.host[i]] - 1] = true;
        for (size_t i = 0; i < d->comm.ops.n; i++)
            if (scope_has_collective(x, d, i) && arrow_to_collective(x, d, i))
                starts[d->comm.ops.connection[i] - 1] = true;
    }
    return starts;
}

/* In the older presentation ids carry a context, and none is -1. */
const char *arrow_call_id(const struct export *x, uint32_t call, char text[ARROW_ID_BYTES])
{
    text[digits_put(text, ((uint64_t)(call + 1) << 32) - (x->is_generic ? 1 : 0))] = 0;
    return text;
}

const char *arrow_task_id(const struct device *d, size_t row, char text[ARROW_ID_BYTES])
{
    const struct tasks *t = &d->tasks;
    unsigned __int128 id = (unsigned __int128)d->source.device << 80 | (unsigned __int128)t->stream[row] << 64 |
                           (unsigned __int128)t->task[row] << 48 | (unsigned __int128)t->batch[row] << 32;
    id += t->context[row];
    char *p = text + ARROW_ID_BYTES - 1; /* 128 bits are more than printf can do */
    *p = 0;
    do {
        *--p = (char)('0' + (unsigned)(id % 10));
        id /= 10;
    } while (id > 0);
    return p;
}
