/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <string.h>

#include "base/memory/parts.h"
#include "export/msprof/prof_outputs.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/trace_split.h"

static const struct host_tracks *const host_tracks_of[FRAMEWORKS] = {
    [FRAMEWORK_PYTORCH] = &torch_host_tracks, [FRAMEWORK_MINDSPORE] = &ms_host_tracks
};

struct trace_view_writing {
    const struct collection_export *x;
    const struct host_tracks *kind;
    const struct chrome_sink *sink; /* NULL: it is text */
    const void *host;               /* tracks of the framework */
    size_t n_parts;                 /* of the framework, and one more for the device if there is one */
    uint64_t *n_events;             /* of each part */
    int64_t base_ns;
    struct escaped *escaped;
    struct recording_facts recording;
    struct error device_error;
};

/* At Level0 torch_npu hides the calls of the host in its timeline; MindSpore shows them. */
static bool hides_calls(const struct collection *s)
{
    return s->framework_id == FRAMEWORK_PYTORCH && s->settings.level == PROFILER_LEVEL0;
}

/* Draws the device's tracks, then the flows to them, which need to know the lanes of its slices. */
static bool draw_device(struct trace_view_writing *w, struct trace *t)
{
    const struct collection *s = w->x->collection;
    struct export x = w->x->device;
    struct lanes *lanes = lanes_new();
    x.hides_calls = hides_calls(s);
    x.launches = s->framework_id == FRAMEWORK_MINDSPORE ? &s->launches : NULL;
    t->lanes = lanes;
    t->keeps_moves = s->tree.n_started > 0;
    if (!lanes || !timeline_draw(&x, NULL, t, &w->device_error) || t->has_no_memory) {
        lanes_free(lanes);
        return error_no_memory(&w->device_error, "the tracks of the timeline");
    }
    t->lanes = NULL;
    const bool done = w->kind->finish(w->x, w->host, t, lanes);
    lanes_free(lanes);
    return done || error_no_memory(&w->device_error, "the places of kernels");
}

static void write_part(void *context, size_t i, struct out *o)
{
    struct trace_view_writing *w = context;
    struct trace t = { .out = o,
                       .sink = w->sink,
                       .names = w->x->collection->profile.names,
                       .escaped = w->escaped,
                       .has_one_npu = has_one_npu(&w->x->device),
                       .device_word = chip_words(w->x->collection->profile.chip)->device,
                       .has_base = w->x->device.options->time_base == TIME_BASE_START,
                       .base_ns = w->base_ns,
                       .one_per_line = w->x->device.options->is_pretty,
                       .keeps_overlaps = w->x->device.options->keeps_overlaps,
                       .n_events = i > 0 }; /* counts an event before this part, so that a comma is written first */
    if (i == 0)
        trace_begin(&t);
    if (i < w->kind->n_parts(w->host))
        w->kind->write(w->host, i, &t);
    else
        draw_device(w, &t);
    const bool is_last = i + 1 == w->n_parts;
    if (is_last && !w->x->collection->has_device && !w->kind->finish(w->x, w->host, &t, NULL))
        error_no_memory(&w->device_error, "the end of the timeline");
    w->n_events[i] = t.n_events - (i > 0);
    if (!is_last)
        return;
    if (t.n_events > 0)
        recording_trace(&t, &w->recording);
    trace_finish(&t);
}

/* The time base: the begin of the framework's first event or of the device's collection, whichever is earlier. */
static int64_t base_of(const struct host_tracks *kind, const struct collection *s)
{
    const int64_t framework = kind->begin_ns(&s->framework);
    const int64_t device = s->has_device ? profile_main_source(&s->profile)->begin_ns : INT64_MAX;
    return framework < device ? framework : device;
}

static bool is_gzip_name(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

/* Prepares everything before the parts are written. False: no memory. */
static bool writing_begin(struct trace_view_writing *w, const struct collection_export *x)
{
    *w = (struct trace_view_writing){ .x = x, .kind = host_tracks_of[x->collection->framework_id] };
    w->host = w->kind->take(x);
    if (!w->host)
        return false;
    w->n_parts = w->kind->n_parts(w->host) + x->collection->has_device;
    w->n_events = arena_take(x->mem, w->n_parts, sizeof *w->n_events);
    w->base_ns = base_of(w->kind, x->collection);
    w->recording = recording_facts(&x->collection->collector, x->mem);
    return w->n_events != NULL;
}

/* Counts the events of all parts. False: some could not be written, and e has the reason. */
static bool writing_end(const struct trace_view_writing *w, const char *of, uint64_t *n_events, struct error *e)
{
    const bool has_memory = !arena_failed(w->x->mem) && !names_failed(w->x->collection->profile.names);
    *n_events = 0;
    for (size_t i = 0; i < w->n_parts; i++)
        *n_events += w->n_events[i];
    if (w->device_error.fault != FAULT_NONE)
        return error_set(e, w->device_error.fault, "%s: %s", of, w->device_error.text);
    return has_memory || error_no_memory(e, of);
}

bool trace_view_draw(const struct collection_export *x, const struct chrome_sink *sink, uint64_t *n_events,
                     struct error *e)
{
    struct trace_view_writing w;
    if (!writing_begin(&w, x))
        return error_no_memory(e, x->collection->path);
    w.sink = sink;
    w.escaped = escaped_new(x->collection->profile.names); /* without one it only takes longer */
    for (size_t i = 0; i < w.n_parts; i++)
        write_part(&w, i, NULL);
    escaped_free(w.escaped);
    return writing_end(&w, x->collection->path, n_events, e);
}

bool trace_view_write(const struct collection_export *x, const char *path, uint64_t *n_events, struct error *e)
{
    struct trace_view_writing w;
    struct out o;
    uint64_t n = 0;
    if (!writing_begin(&w, x))
        return error_no_memory(e, path);
    if (!(x->is_named ? out_open_named : out_open)(&o, path, e))
        return false;
    w.escaped = escaped_new(x->collection->profile.names);
    const struct parts_job job = { w.n_parts, write_part, &w, x->device.options->n_threads,
                                   !x->split && is_gzip_name(path) };
    parts_write(&o, &job);
    escaped_free(w.escaped);
    const bool done = writing_end(&w, path, &n, e);
    const bool is_empty = n == 0 && !o.failed_errno; /* what could not be written is reported by out_close() */
    if (!done || is_empty) {
        out_discard(&o);
        return done;
    }
    *n_events = n;
    return x->split ? trace_split(x->split, &o, e) : out_close(&o, e);
}
