/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/tracks/prof_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/flow/marks.h"
#include "base/memory/sort.h"
#include "export/scope.h"
#include "raw/enums.h"

/* Ranges on a device overlap the tasks that mark their ends, so they have tracks of their own beside those of the
 * streams. */
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

/* A flow leads from a mark on the host to the range on a device that it marks. */
static void mark_flow(const struct export *x, struct trace *t, char end, uint32_t mark, uint32_t pid, int64_t tid,
                      int64_t at_ns)
{
    char name[32], number[24];
    const uint64_t id = mark_unique_id(&x->profile->host.records.marks, mark);
    snprintf(number, sizeof number, "%" PRIu64, x->is_generic ? id : mark_connection(id));
    snprintf(name, sizeof name, "MsTx_%s", number);
    trace_flow(t, &(struct flow){ end, x->is_generic || end == 'f', name, "MsTx", number, 0 }, pid, tid, at_ns);
}

bool mark_is_drawn(const struct export *x, const struct trace *t, size_t i)
{
    const struct source *s = &x->profile->host.source;
    const struct marks *m = &x->profile->host.records.marks;
    const int64_t begin_ns = source_host_ns(s, m->begin[i]), end_ns = source_host_ns(s, m->end[i]);
    const bool is_outside = begin_ns < s->begin_ns && (!x->is_generic || end_ns <= s->begin_ns);
    return !is_outside && trace_wants(t, begin_ns, end_ns);
}

/* For each mark of the host: whether it is drawn there. A flow is written only if both of its ends are drawn. */
static bool *drawn_on_host(const struct export *x, const struct trace *t)
{
    const struct marks *m = &x->profile->host.records.marks;
    bool *drawn = arena_take(x->mem, m->n, sizeof *drawn);
    for (size_t i = m->n_plain; drawn && i < m->n; i++)
        drawn[i] = mark_is_drawn(x, t, i);
    return drawn;
}

/* The same for the ranges on devices. Leaves t with the window of the host. */
static bool *drawn_on_devices(const struct export *x, struct trace *t)
{
    bool *drawn = arena_take(x->mem, x->profile->host.records.marks.n, sizeof *drawn);
    for (size_t d = 0; drawn && d < x->profile->n_devices; d++) {
        const struct device_marks *m = &x->profile->device[d].steps.marks;
        scope_set_window(x, t, d);
        for (size_t i = 0; i < m->n; i++)
            if (m->host[i] != NO_ROW && trace_wants(t, m->begin_ns[i], m->end_ns[i]))
                drawn[m->host[i]] = true;
    }
    scope_set_window(x, t, SCOPE_HOST);
    return drawn;
}

static void write_mark(const struct export *x, struct trace *t, uint32_t pid, uint32_t i, const bool *seen)
{
    const struct source *s = &x->profile->host.source;
    const struct marks *m = &x->profile->host.records.marks;
    const bool has_id = i >= m->n_plain;
    const int64_t begin_ns = source_host_ns(s, m->begin[i]), end_ns = source_host_ns(s, m->end[i]);
    if (!mark_is_drawn(x, t, i))
        return;
    if (begin_ns == end_ns && !has_id) /* a mark with an id may start a flow, which needs a slice */
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
    if (x->launches)
        trace_arg_launch(t, x->launches->of_mark, i);
    trace_end(t);
    if (has_id && seen[i])
        mark_flow(x, t, 's', i, pid, m->thread[i], begin_ns);
}

/* Rows sorted by begin, of equal ones the longer range first: an outer range comes before those inside it. */
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
    const uint32_t pid = trace_pid(s->pid, PLACE_MARKS, TRACE_HOST);
    const bool *seen = drawn_on_devices(x, t);
    const uint32_t *order = nesting_order(x->mem, m->n, m->begin, m->end);
    trace_process(t, pid, s->pid_name, "CPU", PLACE_MARKS);
    if (!order || !seen || !name_threads(x, t, pid))
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < m->n; i++)
        write_mark(x, t, pid, order[i], seen);
    return true;
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
    const struct marks *host = &x->profile->host.records.marks;
    const bool *asked = drawn_on_host(x, t);
    bool done = asked != NULL;
    for (size_t d = 0; done && d < x->profile->n_devices; d++) {
        const struct source *s = &x->profile->device[d].source;
        const struct device_marks *m = &x->profile->device[d].steps.marks;
        if (m->n == 0)
            continue;
        const uint32_t pid = trace_pid(s->pid, PLACE_HARDWARE, s->device);
        scope_set_window(x, t, d);
        trace_process_npu(t, pid, chip_words(s->chip)->hardware, s->device, PLACE_HARDWARE);
        /* Wall-clock times are positive, so they sort the same as unsigned numbers. */
        const uint32_t *order = nesting_order(x->mem, m->n, (const uint64_t *)m->begin_ns, (const uint64_t *)m->end_ns);
        done = order && name_streams(x, t, pid, m);
        for (size_t k = 0; done && k < m->n; k++) {
            const uint32_t i = order[k];
            if (!trace_wants(t, m->begin_ns[i], m->end_ns[i]))
                continue;
            const int64_t row = mark_row(m->stream[i]);
            trace_slice_name(t, m->host[i] == NO_ROW ? NAME_NA : host->message[m->host[i]], pid, row, m->begin_ns[i],
                             (double)(m->end_ns[i] - m->begin_ns[i]));
            trace_args(t);
            trace_arg_uint(t, "Physic Stream Id", m->stream[i]);
            trace_arg_uint(t, "Task Id", m->task[i]);
            trace_end(t);
            if (m->host[i] != NO_ROW && asked[m->host[i]])
                mark_flow(x, t, 'f', m->host[i], pid, row, m->begin_ns[i]);
        }
    }
    return done || error_no_memory(e, x->profile->path);
}
