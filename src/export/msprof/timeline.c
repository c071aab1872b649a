#include "export/msprof/timeline.h"

#include <string.h>

#include "export/samplers/counter_tracks.h"
#include "export/scope.h"

static bool is_wanted(const struct timeline_wish *w, const char *process)
{
    bool wanted = w->processes == NULL;
    for (size_t i = 0; i < w->n_processes && !wanted; i++)
        wanted = strcmp(w->processes[i], process) == 0;
    return wanted;
}

static bool is_sample_based(const struct profile *p)
{
    return profile_main_source(p)->settings.samples_cores;
}

bool timeline_draw(const struct export *x, const struct timeline_wish *wish, struct trace *t, struct error *e)
{
    struct export shown = *x;
    shown.is_generic = x->is_generic || is_sample_based(x->profile);
    shown.is_own_file = wish->own_file != NULL;
    for (size_t i = 0; i < x->registry->n_tracks && e->fault == FAULT_NONE; i++) {
        const struct track *track = &x->registry->track[i];
        const bool own = wish->own_file && track->own_file && strcmp(track->own_file, wish->own_file) == 0;
        scope_look_at(&shown, t, SCOPE_HOST);
        if ((!wish->own_file || own) && is_wanted(wish, track->process))
            track->write(&shown, t, e);
    }
    for (size_t i = 0; i < n_counter_tracks && !wish->own_file && e->fault == FAULT_NONE; i++)
        if (is_wanted(wish, counter_tracks[i].process))
            counters_draw(&shown, counter_tracks[i].counters, t, e);
    return e->fault == FAULT_NONE;
}
