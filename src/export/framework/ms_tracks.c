/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/keys.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"

enum { MS_SORT = 1, HOST_OPS_SORT = 2 };

struct ms_tracks_section;
struct ms_tracks {
    const struct collection_export *x;
    const struct framework *framework;
    struct keys threads, host_op_threads;
    struct framework_lanes lanes;
    size_t n_parts;
};

struct ms_tracks_section {
    size_t (*count)(const struct ms_tracks *f);
    void (*write)(const struct ms_tracks *f, struct trace *t, size_t first, size_t end);
};

static void write_thread(struct trace *t, uint32_t pid, uint32_t thread)
{
    char name[32];
    snprintf(name, sizeof name, "Thread %" PRIu32, thread);
    trace_thread(t, pid, thread, name, thread);
}

static size_t count_threads(const struct ms_tracks *f)
{
    return f->threads.key.n;
}

static void write_threads(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    if (first == 0)
        trace_process(t, MS_PROCESS, framework_names[FRAMEWORK_MINDSPORE].name, "CPU", MS_SORT);
    for (size_t i = first; i < end; i++)
        write_thread(t, MS_PROCESS, (uint32_t)f->threads.key.at[i]);
}

static size_t count_lanes(const struct ms_tracks *f)
{
    return f->lanes.further.n;
}

static void write_lanes(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    framework_lanes_write(&f->lanes, t, first, end);
}

static size_t count_ops(const struct ms_tracks *f)
{
    return f->framework->ops.n;
}

static void write_ops(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct framework_ops *o = &f->framework->ops;
    for (size_t i = first; i < end; i++) {
        trace_slice_name(t, o->name[i], MS_PROCESS, framework_lane_row(&f->lanes, SLICES_OPS, i, o->thread[i]),
                         o->begin_ns[i], (double)(o->end_ns[i] - o->begin_ns[i]));
        trace_category(t, "");
        trace_args(t);
        host_arg_name(t, "Input type", o->types[i]);
        host_arg_name(t, "Input Dims", o->shapes[i]);
        host_arg_name(t, "Call stack", o->stack[i]);
        host_arg_name(t, "Module Hierarchy", o->modules[i]);
        host_arg_name(t, "flops", o->flops[i]);
        trace_end(t);
    }
}

static size_t count_python(const struct ms_tracks *f)
{
    return f->framework->python.n;
}

static void write_python(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct python_calls *p = &f->framework->python;
    for (size_t i = first; i < end; i++) {
        trace_slice_name(t, p->name[i], MS_PROCESS, framework_lane_row(&f->lanes, SLICES_PYTHON, i, p->thread[i]),
                         p->begin_ns[i], (double)(p->end_ns[i] - p->begin_ns[i]));
        trace_category(t, "python_function");
        trace_args(t);
        trace_end(t);
    }
}

static size_t count_instants(const struct ms_tracks *f)
{
    return f->framework->ms.instants.n;
}

static void write_instants(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct ms_instants *m = &f->framework->ms.instants;
    for (size_t i = first; i < end; i++) {
        trace_instant(t, m->name[i], MS_PROCESS, m->thread[i], m->time_ns[i]);
        trace_args(t);
        trace_end(t);
    }
}

static size_t count_host_op_threads(const struct ms_tracks *f)
{
    return f->host_op_threads.key.n;
}

static void write_host_op_threads(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    if (first == 0)
        trace_process(t, MS_HOST_OPS_PROCESS, "CPU OP", "CPU", HOST_OPS_SORT);
    for (size_t i = first; i < end; i++)
        write_thread(t, MS_HOST_OPS_PROCESS, (uint32_t)f->host_op_threads.key.at[i]);
}

static size_t count_host_ops(const struct ms_tracks *f)
{
    return f->framework->ms.host_ops.n;
}

static void write_host_ops(const struct ms_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct ms_host_ops *o = &f->framework->ms.host_ops;
    for (size_t i = first; i < end; i++) {
        trace_slice_name(t, o->name[i], MS_HOST_OPS_PROCESS, o->thread[i], o->begin_ns[i], (double)o->dur_ns[i]);
        trace_category(t, "");
        trace_args(t);
        trace_arg_name(t, "type", o->type[i]);
        trace_end(t);
    }
}

/* In the order of the file. */
static const struct ms_tracks_section sections[] = {
    { count_threads, write_threads },   { count_lanes, write_lanes },
    { count_ops, write_ops },           { count_python, write_python },
    { count_instants, write_instants }, { count_host_op_threads, write_host_op_threads },
    { count_host_ops, write_host_ops },
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static size_t n_parts_of(const void *tracks)
{
    const struct ms_tracks *f = tracks;
    return f->n_parts;
}

static void write_part(const void *tracks, size_t i, struct trace *t)
{
    const struct ms_tracks *f = tracks;
    t->has_text_dur = true;
    for (size_t k = 0, first, end; k < SECTIONS; k++)
        if (host_part(sections[k].count(f), &i, &first, &end)) {
            sections[k].write(f, t, first, end);
            return;
        }
}

static bool threads_add(struct keys *to, const uint32_t *thread, size_t n, struct arena *mem)
{
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || thread[i] != thread[i - 1]) && keys_add(to, thread[i], mem) == KEYS_NO_MEMORY)
            return false;
    return true;
}

static void *tracks_take(const struct collection_export *x)
{
    struct ms_tracks *f = arena_take(x->mem, 1, sizeof *f);
    const struct framework *w = x->framework;
    if (!f)
        return NULL;
    f->x = x;
    f->framework = w;
    if (!threads_add(&f->threads, w->ops.thread, w->ops.n, x->mem) ||
        !threads_add(&f->threads, w->python.thread, w->python.n, x->mem) ||
        !threads_add(&f->threads, w->ms.instants.thread, w->ms.instants.n, x->mem) ||
        !threads_add(&f->host_op_threads, w->ms.host_ops.thread, w->ms.host_ops.n, x->mem) ||
        (!x->device.options->keeps_overlaps && !framework_lanes_find(&f->lanes, w, x->mem)))
        return NULL;
    for (size_t i = 0; i < SECTIONS; i++)
        f->n_parts += host_parts(sections[i].count(f));
    return f;
}

/* ---- flow events ------------------------------------------------------------------------------------------------ */

/* Writes a flow event at a range. False: the range is not in the exported part. */
static bool flow_at_op(const struct ms_tracks *f, struct trace *t, struct flow *flow, uint32_t op)
{
    const struct framework_ops *o = &f->x->collection->framework.ops;
    const uint32_t shown = f->x->part ? f->x->part->op_row[op] : op;
    if (shown == NO_ROW)
        return false;
    trace_flow(t, flow, MS_PROCESS, framework_lane_row(&f->lanes, SLICES_OPS, shown, o->thread[op]), o->begin_ns[op]);
    return true;
}

/* The ends of a flow by its number. A flow is drawn only if it has exactly one begin and one end. */
struct both_ends {
    uint32_t n_begins, n_ends, begin, end; /* begin: row of ms_marks; end: row of framework_ops */
};

static bool draw_own_flows(const struct ms_tracks *f, struct trace *t)
{
    const struct collection *s = f->x->collection;
    const struct ms_marks *m = &s->framework.ms.marks;
    const uint64_t *flow_of_op = s->framework.ms.ranges.flow;
    struct arena *own = arena_new();
    struct keys ids = { 0 };
    struct both_ends *ends = own ? arena_take(own, m->n, sizeof *ends) : NULL;
    bool done = ends != NULL;
    for (uint32_t i = 0; done && i < m->n; i++) {
        const uint32_t place = keys_add(&ids, m->flow[i], own);
        done = place != KEYS_NO_MEMORY;
        if (done && ends[place].n_begins++ == 0)
            ends[place].begin = i;
    }
    for (uint32_t i = 0; done && i < s->framework.ops.n; i++) {
        const uint32_t place = flow_of_op[i] == UINT64_MAX ? KEYS_NONE : keys_find(&ids, flow_of_op[i]);
        if (place != KEYS_NONE && ends[place].n_ends++ == 0)
            ends[place].end = i;
    }
    for (size_t i = 0; done && i < ids.key.n; i++) {
        if (ends[i].n_begins != 1 || ends[i].n_ends != 1 || !collection_shows(f->x, m->time_ns[ends[i].begin]))
            continue;
        char id[24];
        id[digits_put(id, ids.key.at[i])] = 0;
        struct flow flow = { 'f', true, "mindspore_to_self", "async_mindspore", id, 0 };
        if (!flow_at_op(f, t, &flow, ends[i].end))
            continue;
        flow.end = 's';
        trace_flow(t, &flow, MS_PROCESS, m->thread[ends[i].begin], m->time_ns[ends[i].begin]);
    }
    arena_free(own);
    return done;
}

/* Writes a flow from a range to a slice of the device's tracks, in the lane to which lanes.h has moved it. */
static void draw_link(const struct ms_tracks *f, struct trace *t, const struct lanes *lanes, const char *name,
                      const char *category, uint32_t op, struct place to, int64_t at_ns)
{
    char id[40]; /* the time of the slice in us, as the timeline shows it; for a (damaged) time before 1970 any id will
                 do */
    const uint64_t ns = at_ns < 0 ? 0 : (uint64_t)at_ns;
    const size_t len = digits_put(id, ns / 1000);
    memcpy(id + len,
           (char[5]){ '.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10), 0 }, 5);
    struct flow flow = { 's', true, name, category, id, 0 };
    if (!flow_at_op(f, t, &flow, op))
        return;
    flow.end = 'f';
    trace_flow(t, &flow, to.pid, lane_tid(to.tid, lanes_moved(lanes, to.pid, to.tid, at_ns)), at_ns);
}

static bool draw_links(const struct ms_tracks *f, struct trace *t, const struct lanes *lanes)
{
    const struct collection *s = f->x->collection;
    const struct profile *p = &s->profile;
    const struct marks *m = &p->host.records.marks;
    const struct kernels *k = &s->kernels;
    struct kernel_places places;
    if (!kernel_places_take(&places, p, f->x->mem))
        return false;
    for (size_t i = 0; i < k->n; i++)
        if (s->links.op[i] != NO_ROW && collection_shows_device(f->x, k->begin_ns[i]))
            draw_link(f, t, lanes, "mindspore_to_npu", "async_npu", s->links.op[i], kernel_place(&places, k, i),
                      k->begin_ns[i]);
    const uint32_t pid = trace_pid(p->host.source.pid, PLACE_MARKS, TRACE_HOST);
    scope_set_window(&f->x->device, t, SCOPE_HOST);
    for (size_t i = 0; i < m->n; i++)
        if (s->links.op_of_mark[i] != NO_ROW && mark_is_drawn(&f->x->device, t, i))
            draw_link(f, t, lanes, "mindspore_to_mstx", "MsTx", s->links.op_of_mark[i],
                      (struct place){ pid, m->thread[i] }, source_host_ns(&p->host.source, m->begin[i]));
    return true;
}

static bool ms_tracks_finish(const struct collection_export *x, const void *tracks, struct trace *t,
                             const struct lanes *lanes)
{
    const struct ms_tracks *f = tracks;
    t->has_text_dur = true;
    return draw_own_flows(f, t) && (!lanes || draw_links(f, t, lanes)) && ms_scopes_draw(x, t);
}

static int64_t begin_of(const struct framework *f)
{
    int64_t least = host_earliest(f->ops.begin_ns, f->ops.n, INT64_MAX);
    least = host_earliest(f->python.begin_ns, f->python.n, least);
    return host_earliest(f->ms.instants.time_ns, f->ms.instants.n, least);
}

const struct host_tracks ms_host_tracks = { tracks_take, n_parts_of, write_part, ms_tracks_finish, begin_of };
