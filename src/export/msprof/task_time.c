/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <math.h>

#include "analyse/device/tasks/device_tasks.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"

struct task_row {
    uint32_t row; /* of the device's tasks, or of the copies that its scheduler made */
    uint16_t device;
    bool is_copy;
};

struct task_times {
    const struct export *x;
    size_t n;
    struct task_row *at;
};

static const struct device *device_at(const struct task_times *s, size_t i)
{
    return &s->x->profile->device[s->at[i].device];
}

/* The host task of a task. Unlike other tasks, operators keep theirs when only another model is exported. */
static uint32_t host_of(const struct task_times *s, const struct tasks *t, uint32_t row)
{
    return t->op[row] != NO_ROW ? t->host[row] : scope_task_host(s->x, t, row);
}

static struct cell device_id(const void *rows, size_t i)
{
    return cell_uint(device_at(rows, i)->source.device);
}

static struct cell kernel_name(const void *rows, size_t i)
{
    const struct task_times *s = rows;
    if (s->at[i].is_copy)
        return cell_text(ts_copy_name);
    const uint32_t host = host_of(s, &device_at(s, i)->tasks, s->at[i].row);
    return cell_name(host == NO_ROW ? NAME_NA : s->x->profile->host.tasks.kernel[host]);
}

static struct cell kernel_type(const void *rows, size_t i)
{
    const struct task_times *s = rows;
    if (s->at[i].is_copy)
        return cell_text(ts_copy_type);
    const struct profile *p = s->x->profile;
    const struct tasks *t = &device_at(s, i)->tasks;
    const uint32_t row = s->at[i].row, op = t->op[row];
    if (op != NO_ROW && p->host.ops.task_type[op] != NAME_NA)
        return cell_name(p->host.ops.task_type[op]);
    return cell_name(host_of(s, t, row) == NO_ROW ? task_device_type(p, t, row) : t->type[row]);
}

static struct cell stream_id(const void *rows, size_t i)
{
    const struct task_row *r = &((const struct task_times *)rows)->at[i];
    const struct device *d = device_at(rows, i);
    return cell_uint(r->is_copy ? d->log.copies.stream[r->row] : task_stream_id(d, r->row));
}

static struct cell task_id(const void *rows, size_t i)
{
    const struct task_row *r = &((const struct task_times *)rows)->at[i];
    const struct device *d = device_at(rows, i);
    return cell_uint(r->is_copy ? d->log.copies.task[r->row] : d->tasks.task[r->row]);
}

static struct cell duration(const void *rows, size_t i)
{
    const struct task_times *s = rows;
    const struct device *d = device_at(s, i);
    const uint32_t row = s->at[i].row;
    if (s->at[i].is_copy)
        return ts_copy_us(d, row);
    return s->x->is_generic ? cell_real(round_exact(d->tasks.dur_ns[row] / 1000, 3))
                            : cell_us((int64_t)floor(d->tasks.dur_ns[row]));
}

static struct cell task_time_start(const void *rows, size_t i)
{
    const struct task_row *r = &((const struct task_times *)rows)->at[i];
    const struct device *d = device_at(rows, i);
    return cell_time(r->is_copy ? source_device_ns(&d->source, d->log.copies.begin[r->row])
                                : d->tasks.begin_ns[r->row]);
}

static struct cell task_time_stop(const void *rows, size_t i)
{
    const struct task_row *r = &((const struct task_times *)rows)->at[i];
    const struct device *d = device_at(rows, i);
    return cell_time(r->is_copy ? source_device_ns(&d->source, d->log.copies.end[r->row]) : d->tasks.end_ns[r->row]);
}

static const struct column columns[] = {
    { "Device_id", device_id },
    { "kernel_name", kernel_name },
    { "kernel_type", kernel_type },
    { "stream_id", stream_id },
    { "task_id", task_id },
    { "task_time(us)", duration },
    { "task_start(us)", task_time_start },
    { "task_stop(us)", task_time_stop },
};

/* A task that ran in parts (contexts) is listed once if it has a part 0: the other parts are left out. */
static void mark_parts(const struct tasks *t, bool *is_left_out)
{
    for (size_t i = 0, end; i < t->n; i = end) {
        const uint64_t key = t->key[t->by_id[i]];
        for (end = i; end < t->n && t->key[t->by_id[end]] == key;)
            end++;
        if (t->context[t->by_id[i]] != 0)
            continue;
        for (size_t k = i; k < end; k++)
            is_left_out[t->by_id[k]] = t->context[t->by_id[k]] != 0;
    }
}

/* Appends the copies that the scheduler of a device made. */
static bool add_copies(struct task_times *s, size_t device)
{
    const struct device *d = &s->x->profile->device[device];
    size_t n;
    const uint32_t *order = ts_copies_order(s->x, d, &n);
    for (size_t i = 0; order && i < n; i++)
        s->at[s->n++] = (struct task_row){ order[i], (uint16_t)device, true };
    return order != NULL;
}

/* Lists the tasks by begin: in the newer presentation over all devices, in the older one device by device, each
 * followed by its copies. The tasks of a device are sorted already. */
static bool merge_devices(struct task_times *s, bool *const *left_out)
{
    const struct profile *p = s->x->profile;
    size_t *next = arena_take(s->x->mem, p->n_devices, sizeof *next);
    if (!next)
        return false;
    size_t copied = 0; /* devices whose copies are listed */
    for (;;) {
        size_t best = p->n_devices;
        for (size_t i = 0; i < p->n_devices; i++) {
            const struct tasks *t = &p->device[i].tasks;
            while (next[i] < t->n && (left_out[i][next[i]] || !scope_has_task(s->x, t, next[i])))
                next[i]++;
            if (next[i] == t->n)
                continue;
            if (best == p->n_devices ||
                (!s->x->is_generic && t->begin_ns[next[i]] < p->device[best].tasks.begin_ns[next[best]]))
                best = i;
        }
        for (; s->x->is_generic && copied < best; copied++)
            if (!add_copies(s, copied))
                return false;
        if (best == p->n_devices)
            return true;
        s->at[s->n++] = (struct task_row){ (uint32_t)next[best]++, (uint16_t)best, false };
    }
}

bool task_time_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct task_times *s = arena_take(x->mem, 1, sizeof *s);
    bool **left_out = arena_take(x->mem, p->n_devices, sizeof *left_out);
    size_t most = 0;
    bool done = s && left_out;
    for (size_t i = 0; i < p->n_devices && done; i++) {
        const struct tasks *t = &p->device[i].tasks;
        left_out[i] = arena_take(x->mem, t->n, sizeof *left_out[i]);
        done = left_out[i] != NULL;
        if (done)
            mark_parts(t, left_out[i]);
        most += t->n + p->device[i].log.copies.n;
    }
    if (done) {
        *s = (struct task_times){ .x = x, .at = arena_take(x->mem, most, sizeof *s->at) };
        done = s->at && merge_devices(s, left_out);
    }
    if (!done)
        return error_no_memory(e, "task_time");
    *out = (struct table){ .name = "task_time", TABLE_COLUMNS(columns), .n_rows = s->n, .rows = s, .names = p->names };
    return true;
}
