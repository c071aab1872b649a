/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/trace_view.h"

#include <string.h>

#include "base/parts.h"
#include "export/framework/framework_tracks.h"
#include "export/framework/kernel_places.h"
#include "export/msprof/recording_facts.h"
#include "export/msprof/timeline.h"
#include "export/trace_split.h"

struct writing {
    const struct collection_export *x;
    const struct framework_tracks *framework;
    size_t n_parts;     /* those of the framework; and the last one: the device's, when there is one */
    uint64_t *n_events; /* of each part */
    int64_t base_ns;
    struct escaped *escaped;
    struct recording_facts recording;
    struct error device_error;
};

/* From operators to what they started. Flow heads lie where slices went that found no place in their own row. */
static void draw_flows(const struct collection_export *x, const struct framework_tracks *f, struct trace *t,
                       const struct lanes *lanes, const struct kernel_places *places)
{
    const struct collection *s = x->collection;
    const struct framework_ops *o = &s->framework.ops;
    const struct kernels *k = &s->kernels;
    for (size_t i = 0; s->tree.n_started > 0 && i < o->n; i++)
        for (size_t n = s->tree.first_started[i]; n < s->tree.first_started[i + 1]; n++) {
            const uint32_t op = s->tree.by_begin[i], kernel = s->tree.started[n];
            const uint32_t shown = x->part ? x->part->op_row[op] : op;
            if (shown == NO_ROW || !collection_shows_device(x, k->begin_ns[kernel]))
                continue;
            const struct place at = kernel_place(places, k, kernel);
            const unsigned lane = lanes_moved(lanes, at.pid, at.tid, k->begin_ns[kernel]);
            struct flow flow = { 's', true, "torch_to_npu", "async_npu", NULL, (uint64_t)k->begin_ns[kernel] };
            trace_flow(t, &flow, o->process[op], framework_op_row(f, shown), o->begin_ns[op]);
            flow.end = 'f';
            trace_flow(t, &flow, at.pid, lane_tid(at.tid, lane), k->begin_ns[kernel]);
        }
}

static bool draw_device(struct writing *w, struct trace *t)
{
    const struct collection *s = w->x->collection;
    struct export x = w->x->device;
    struct lanes *lanes = lanes_new();
    x.hides_calls = s->settings.level == PROFILER_LEVEL0;
    t->lanes = lanes;
    t->keeps_moves = s->tree.n_started > 0;
    if (!lanes || !timeline_draw(&x, NULL, t, &w->device_error) || t->has_no_memory) {
        lanes_free(lanes);
        return error_no_memory(&w->device_error, "the tracks of the timeline");
    }
    t->lanes = NULL;
    struct kernel_places places;
    const bool done = kernel_places_take(&places, &s->profile, x.mem);
    if (done)
        draw_flows(w->x, w->framework, t, lanes, &places);
    lanes_free(lanes);
    return done || error_no_memory(&w->device_error, "the places of kernels");
}

static void write_part(void *context, size_t i, struct out *o)
{
    struct writing *w = context;
    struct trace t = { .out = o,
                       .names = w->x->collection->profile.names,
                       .escaped = w->escaped,
                       .has_one_npu = has_one_npu(&w->x->device),
                       .has_base = w->x->device.options->time_base == TIME_BASE_START,
                       .base_ns = w->base_ns,
                       .one_per_line = w->x->device.options->is_pretty,
                       .n_events = i > 0 }; /* there is one before it: a comma comes first */
    if (i == 0)
        trace_begin(&t);
    if (i < framework_tracks_parts(w->framework))
        framework_tracks_write(w->framework, i, &t);
    else
        draw_device(w, &t);
    w->n_events[i] = t.n_events - (i > 0);
    if (i + 1 < w->n_parts)
        return;
    if (t.n_events > 0)
        recording_trace(&t, &w->recording);
    trace_finish(&t);
}

/* The device's part may begin later than what the framework saw of it. */
static int64_t base_of(const struct collection *s)
{
    const int64_t framework = framework_begin_ns(&s->framework);
    const int64_t device = s->has_device ? profile_main_source(&s->profile)->begin_ns : INT64_MAX;
    return framework < device ? framework : device;
}

static bool is_gzip_name(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

bool trace_view_write(const struct collection_export *x, const char *path, uint64_t *n_events, struct error *e)
{
    struct writing w = { .x = x, .framework = framework_tracks_take(x) };
    struct out o;
    if (w.framework) {
        w.n_parts = framework_tracks_parts(w.framework) + x->collection->has_device;
        w.n_events = arena_take(x->mem, w.n_parts, sizeof *w.n_events);
    }
    if (!w.n_events)
        return error_no_memory(e, path);
    if (!(x->is_named ? out_open_named : out_open)(&o, path, e))
        return false;
    w.base_ns = base_of(x->collection);
    w.recording = recording_facts(&x->collection->collector, x->mem);
    w.escaped = escaped_new(x->collection->profile.names); /* without one it only takes longer */
    const struct parts_job job = { w.n_parts, write_part, &w, x->device.options->n_threads,
                                   !x->split && is_gzip_name(path) };
    parts_write(&o, &job);
    escaped_free(w.escaped);
    uint64_t n = 0;
    for (size_t i = 0; i < w.n_parts; i++)
        n += w.n_events[i];
    const bool has_memory = !arena_failed(x->mem) && !names_failed(x->collection->profile.names);
    const bool is_empty = n == 0 && !o.failed_errno; /* what could not be written is reported by out_close() */
    if (w.device_error.fault != FAULT_NONE || is_empty || !has_memory) {
        out_discard(&o);
        if (w.device_error.fault != FAULT_NONE)
            return error_set(e, w.device_error.fault, "%s: %s", path, w.device_error.text);
        return has_memory || error_no_memory(e, path);
    }
    *n_events = n;
    return x->split ? trace_split(x->split, &o, e) : out_close(&o, e);
}
