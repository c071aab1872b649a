#include "export/marks.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/marks.h"
#include "base/sort.h"
#include "export/scope.h"
#include "raw/enums.h"

enum { SORT_MARKS = 6, SORT_HARDWARE = 14 };

/* Ranges on a device overlap the tasks that mark their ends: they get rows of their own, beside those of the streams. */
static int64_t mark_row(uint32_t stream)
{
    return lane_tid(stream, MOST_LANES);
}

const char *mark_event_text(const struct marks *m, size_t row)
{
    const char *text = enum_text(&mark_events, m->event[row]);
    return text ? text : "";
}

const char *mark_domain_text(const struct profile *p, size_t row)
{
    name_id name;
    return dictionary_find(&p->dictionary, p->host.records.marks.domain[row], &name) ? names_text(p->names, name)
                                                                                     : "invalid";
}

/* Arrows lead from a mark on the host to where a device saw it. */
static void mark_arrow(const struct export *x, struct trace *t, char end, uint64_t id, uint32_t pid, int64_t tid,
                       int64_t at_ns)
{
    char name[32], number[24];
    snprintf(number, sizeof number, "%" PRIu64, x->is_generic ? id : mark_connection(id));
    snprintf(name, sizeof name, "MsTx_%s", number);
    trace_arrow(t, &(struct arrow){ end, x->is_generic || end == 'f', name, "MsTx", number, 0 }, pid, tid, at_ns);
}

static bool mark_is_drawn(const struct export *x, const struct trace *t, size_t i)
{
    const struct source *s = &x->profile->host.source;
    const struct marks *m = &x->profile->host.records.marks;
    const int64_t begin_ns = source_host_ns(s, m->begin[i]), end_ns = source_host_ns(s, m->end[i]);
    const bool is_outside = begin_ns < s->begin_ns && (!x->is_generic || end_ns <= s->begin_ns);
    return !is_outside && trace_wants(t, begin_ns, end_ns);
}

/* The ids of the marks that are drawn, ascending: an arrow needs both of its ends. */
struct mark_ids {
    uint64_t *at;
    size_t n;
};

static bool ids_sort(struct mark_ids *ids, struct arena *mem)
{
    uint32_t *order = arena_take(mem, ids->n, sizeof *order);
    uint64_t *sorted = arena_take(mem, ids->n, sizeof *sorted);
    if (!order || !sorted)
        return false;
    order_fill(order, ids->n);
    if (!order_by_u64(order, ids->n, ids->at))
        return false;
    order_apply(sorted, ids->at, order, ids->n, sizeof *sorted);
    ids->at = sorted;
    return true;
}

static bool ids_of_host(const struct export *x, const struct trace *t, struct mark_ids *out)
{
    const struct marks *m = &x->profile->host.records.marks;
    *out = (struct mark_ids){ .at = arena_take(x->mem, m->n, sizeof *out->at) };
    for (size_t i = m->n_plain; out->at && i < m->n; i++)
        if (mark_is_drawn(x, t, i))
            out->at[out->n++] = m->id[i];
    return out->at && ids_sort(out, x->mem);
}

static bool ids_of_devices(const struct export *x, struct trace *t, struct mark_ids *out)
{
    size_t most = 0;
    for (size_t d = 0; d < x->profile->n_devices; d++)
        most += x->profile->device[d].steps.marks.n;
    *out = (struct mark_ids){ .at = arena_take(x->mem, most, sizeof *out->at) };
    for (size_t d = 0; out->at && d < x->profile->n_devices; d++) {
        const struct device_marks *m = &x->profile->device[d].steps.marks;
        scope_look_at(x, t, d);
        for (size_t i = 0; i < m->n; i++)
            if (trace_wants(t, m->begin_ns[i], m->end_ns[i]))
                out->at[out->n++] = m->id[i];
    }
    scope_look_at(x, t, SCOPE_HOST);
    return out->at && ids_sort(out, x->mem);
}

static bool ids_have(const struct mark_ids *ids, uint64_t id)
{
    const size_t at = order_first_u64(NULL, ids->n, ids->at, id);
    return at < ids->n && ids->at[at] == id;
}

static void write_mark(const struct export *x, struct trace *t, uint32_t pid, size_t i, const struct mark_ids *seen)
{
    const struct source *s = &x->profile->host.source;
    const struct marks *m = &x->profile->host.records.marks;
    const bool has_id = i >= m->n_plain;
    const int64_t begin_ns = source_host_ns(s, m->begin[i]), end_ns = source_host_ns(s, m->end[i]);
    if (!mark_is_drawn(x, t, i))
        return;
    if (begin_ns == end_ns && !has_id) /* one with an id is the foot of an arrow, which needs a slice */
        trace_moment(t, m->message[i], pid, m->thread[i], begin_ns);
    else
        trace_slice_name(t, m->message[i], pid, m->thread[i], begin_ns, (double)(end_ns - begin_ns));
    trace_args(t);
    if (!has_id) {
        char category[16];
        snprintf(category, sizeof category, "%" PRIu32, m->category[i]);
        trace_arg_text(t, "Category", category);
        trace_arg_uint(t, "Payload_type", m->payload_type[i]);
        trace_arg_uint(t, "Payload_value", m->payload[i]);
        trace_arg_uint(t, "Message_type", m->message_type[i]);
    }
    trace_arg_text(t, "event_type", mark_event_text(m, i));
    if (has_id)
        trace_arg_text(t, "domain", mark_domain_text(x->profile, i));
    trace_end(t);
    if (has_id && ids_have(seen, m->id[i]))
        mark_arrow(x, t, 's', m->id[i], pid, m->thread[i], begin_ns);
}

/* Rows by begin, the longer range first: the order in which they nest. */
static uint32_t *nesting_order(struct arena *mem, size_t n, const uint64_t *begin, const uint64_t *end)
{
    uint32_t *order = arena_take(mem, n, sizeof *order);
    uint64_t *end_down = arena_take(mem, n, sizeof *end_down);
    if (!order || !end_down)
        return NULL;
    for (size_t i = 0; i < n; i++)
        end_down[i] = ~end[i];
    order_fill(order, n);
    return order_by_u64(order, n, end_down) && order_by_u64(order, n, begin) ? order : NULL;
}

/* Names each thread once, in ascending order. */
static bool name_threads(const struct export *x, struct trace *t, uint32_t pid)
{
    const struct marks *m = &x->profile->host.records.marks;
    uint32_t *order = arena_take(x->mem, m->n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, m->n);
    if (!order_by_u32(order, m->n, m->thread))
        return false;
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t thread = m->thread[order[i]];
        char name[32];
        snprintf(name, sizeof name, "Thread %" PRIu32, thread);
        if (i == 0 || thread != m->thread[order[i - 1]])
            trace_thread(t, pid, thread, name, thread);
    }
    return true;
}

bool marks_track(const struct export *x, struct trace *t, struct error *e)
{
    const struct marks *m = &x->profile->host.records.marks;
    if (m->n == 0)
        return true;
    const struct source *s = &x->profile->host.source;
    const uint32_t pid = trace_pid(s->pid, SORT_MARKS, TRACE_HOST);
    struct mark_ids seen;
    const uint32_t *order = nesting_order(x->mem, m->n, m->begin, m->end);
    trace_process(t, pid, s->pid_name, "CPU", SORT_MARKS);
    if (!order || !ids_of_devices(x, t, &seen) || !name_threads(x, t, pid))
        return error_set(e, FAULT_LIMIT, "%s: no memory for the threads of its marks", s->path);
    for (size_t i = 0; i < m->n; i++)
        write_mark(x, t, pid, order[i], &seen);
    return true;
}

/* The messages of the host's marks, to be found by their ids. */
struct messages {
    const struct marks *marks;
    uint32_t *order; /* of the marks with an id, by id */
    size_t n;
};

static bool messages_make(const struct export *x, struct messages *out)
{
    const struct marks *m = &x->profile->host.records.marks;
    *out = (struct messages){ .marks = m, .n = m->n - m->n_plain };
    out->order = arena_take(x->mem, out->n, sizeof *out->order);
    for (size_t i = 0; out->order && i < out->n; i++)
        out->order[i] = (uint32_t)(m->n_plain + i);
    return out->order && order_by_u64(out->order, out->n, m->id);
}

static name_id message_of(const struct messages *all, uint64_t id)
{
    const size_t at = order_first_u64(all->order, all->n, all->marks->id, id);
    return at < all->n && all->marks->id[all->order[at]] == id ? all->marks->message[all->order[at]] : NAME_NA;
}

static bool name_streams(const struct export *x, struct trace *t, uint32_t pid, const struct device_marks *m)
{
    bool *seen = arena_take(x->mem, UINT16_MAX + 1, sizeof *seen);
    for (size_t i = 0; seen && i < m->n; i++)
        seen[m->stream[i]] = true;
    for (uint32_t stream = 0; seen && stream <= UINT16_MAX; stream++) {
        char name[32];
        if (!seen[stream])
            continue;
        snprintf(name, sizeof name, "Stream %" PRIu32 " marks", stream);
        trace_thread(t, pid, mark_row(stream), name, stream);
    }
    return seen != NULL;
}

bool device_marks_track(const struct export *x, struct trace *t, struct error *e)
{
    struct messages messages;
    struct mark_ids asked;
    bool done = messages_make(x, &messages) && ids_of_host(x, t, &asked);
    for (size_t d = 0; done && d < x->profile->n_devices; d++) {
        const struct source *s = &x->profile->device[d].source;
        const struct device_marks *m = &x->profile->device[d].steps.marks;
        if (m->n == 0)
            continue;
        const uint32_t pid = trace_pid(s->pid, SORT_HARDWARE, s->device);
        scope_look_at(x, t, d);
        trace_process_npu(t, pid, "Ascend Hardware", s->device, SORT_HARDWARE);
        /* Wall-clock times are positive: their order as unsigned numbers is the same. */
        const uint32_t *order = nesting_order(x->mem, m->n, (const uint64_t *)m->begin_ns, (const uint64_t *)m->end_ns);
        done = order && name_streams(x, t, pid, m);
        for (size_t k = 0; done && k < m->n; k++) {
            const uint32_t i = order[k];
            if (!trace_wants(t, m->begin_ns[i], m->end_ns[i]))
                continue;
            const int64_t row = mark_row(m->stream[i]);
            trace_slice_name(t, message_of(&messages, m->id[i]), pid, row, m->begin_ns[i],
                             (double)(m->end_ns[i] - m->begin_ns[i]));
            trace_args(t);
            trace_arg_uint(t, "Physic Stream Id", m->stream[i]);
            trace_arg_uint(t, "Task Id", m->task[i]);
            trace_end(t);
            if (ids_have(&asked, m->id[i]))
                mark_arrow(x, t, 'f', m->id[i], pid, row, m->begin_ns[i]);
        }
    }
    scope_look_at(x, t, SCOPE_HOST);
    return done || error_set(e, FAULT_LIMIT, "%s: no memory for the marks of its devices", x->profile->path);
}
