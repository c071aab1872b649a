/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/tracks/prof_trace.h"

#include <string.h>

#include "export/samplers/counter_tracks.h"
#include "export/scope.h"

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
