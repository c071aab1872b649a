/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/tracks/prof_trace.h"

#include <string.h>

#include "export/msprof/prof_outputs.h"
#include "export/samplers/counter_tracks.h"
#include "export/scope.h"

bool prof_trace_draw(const struct export *x, const char *own_file, struct out *o, const struct chrome_sink *sink,
                     uint64_t *n_events, struct error *e)
{
    /* NULL is no error: writing only takes longer when names are not kept in JSON's spelling. */
    struct escaped *escaped = own_file ? NULL : escaped_new(x->profile->names);
    struct trace t = { .out = o,
                       .sink = sink,
                       .names = x->profile->names,
                       .escaped = escaped,
                       .lanes = lanes_new(),
                       .keeps_overlaps = x->options->keeps_overlaps,
                       .has_one_npu = has_one_npu(x),
                       .device_word = chip_words(x->profile->chip)->device,
                       .has_base = x->options->time_base == TIME_BASE_START,
                       .base_ns = profile_main_source(x->profile)->begin_ns,
                       .one_per_line = x->options->is_pretty };
    trace_begin(&t);
    const bool done = t.lanes ? timeline_draw(x, own_file, &t, e) : error_no_memory(e, x->profile->path);
    const bool is_empty = t.n_events == 0; /* the facts of the recording alone are no timeline */
    const struct recording_facts recording = recording_facts(&x->profile->collector, x->mem);
    if (!is_empty)
        recording_trace(&t, &recording);
    trace_finish(&t);
    *n_events = is_empty ? 0 : t.n_events;
    lanes_free(t.lanes);
    escaped_free(escaped);
    return done;
}

static bool timeline_is_wanted(const struct output_options *o, const char *process)
{
    bool wanted = o->processes == NULL;
    for (size_t i = 0; i < o->n_processes && !wanted; i++)
        wanted = strcmp(o->processes[i], process) == 0;
    return wanted;
}

static bool is_sample_based(const struct profile *p)
{
    return profile_main_source(p)->settings.samples_cores;
}

bool timeline_draw(const struct export *x, const char *own_file, struct trace *t, struct error *e)
{
    struct export shown = *x;
    shown.is_generic = x->is_generic || is_sample_based(x->profile);
    shown.is_own_file = own_file != NULL;
    for (size_t i = 0; i < x->registry->n_tracks && e->fault == FAULT_NONE; i++) {
        const struct track *track = &x->registry->track[i];
        const bool own = own_file && track->own_file && strcmp(track->own_file, own_file) == 0;
        scope_set_window(&shown, t, SCOPE_HOST);
        if ((!own_file || own) && timeline_is_wanted(x->options, track->process))
            track->write(&shown, t, e);
    }
    for (size_t i = 0; i < n_counter_tracks && !own_file && e->fault == FAULT_NONE; i++)
        if (timeline_is_wanted(x->options, counter_tracks[i].process))
            counters_draw(&shown, counter_tracks[i].counters, t, e);
    return e->fault == FAULT_NONE;
}
