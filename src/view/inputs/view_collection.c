/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_collection.h"

#include "open/recording_open.h"
#include "view/inputs/view_advice.h"
#include "view/inputs/view_kernel_counters.h"
#include "view/inputs/view_memory_load.h"
#include "view/inputs/view_roofline.h"
#include "view/inputs/view_steps.h"
#include "load/framework/raw_bytes.h"
#include "pipeline/drawn.h"

/* Progress in percent after reading and after drawing; size of the drawn timeline in percent of the raw data. */
enum { READ = 35, DRAWN = 80, DRAWN_PERCENT = 70 };

static bool add_fact(struct view_input *in, const char *name, const char *text)
{
    struct view_fact *f = text ? list_add(&in->facts, in->mem) : NULL;
    if (f)
        *f = (struct view_fact){ name, text };
    return f != NULL;
}

static bool answers_find(struct view_input *in, const struct recording *l)
{
    for (size_t i = 0; i < recording_n_devices(l); i++) {
        const struct run_rank view = recording_rank(l, i);
        if (!view_steps_add(in, &view))
            return false;
    }
    if (l->profile && l->profile->n_devices > 0)
        in->device = l->profile->chip->name; /* of a static table */
    return add_fact(in, "directory", in->path) &&
           add_fact(in, "losses", l->is_lossy ? "some records could not be used; ascope analyse lists them" : "none");
}

/* Comes after the other answers, which pages may be reading already. */
static bool advice_find(struct view_input *in, const struct recording *l)
{
    struct view_advice advice = { 0 };
    return view_advice_add_all(&advice, l, in->path, 0, in->mem) && view_advice_put(&advice, in);
}

bool view_collection_load(struct view_input *in, struct error *e)
{
    const struct view_collection *c = in->context;
    struct recording l = { 0 };
    struct drawn drawn = { 0 };
    const uint64_t bytes = raw_bytes(in->path);
    view_progress_stage(&in->progress, VIEW_READING, 0, READ, bytes);
    bool is_done = recording_open(&l, c->input, c->options->n_threads, e);
    view_progress_stage(&in->progress, VIEW_DRAWING, READ, DRAWN, bytes / 100 * DRAWN_PERCENT);
    if (is_done) {
        atomic_store(&in->is_simulated, recording_is_simulated(&l));
        in->is_lossy = l.is_lossy;
        is_done = (answers_find(in, &l) && view_losses_keep(in, &l.lost) &&
                   (!l.collection || view_memory_load(in, l.collection))) ||
                  error_no_memory(e, in->path);
        atomic_store(&in->has_answers, is_done);
        is_done = is_done && (advice_find(in, &l) || error_no_memory(e, in->path)) &&
                  view_kernel_counters_load(in, &l, c->options, "", e) && view_roofline_load(in, &l, "", e) &&
                  drawn_begin(&drawn, &in->trace, in->path, l.collection, l.profile, c->options, e);
    }
    view_progress_stage(&in->progress, VIEW_ARRANGING, DRAWN, 100, 1);
    recording_close(&l);
    is_done = is_done && drawn_finish(&drawn, &in->drawn, e);
    drawn_end(&drawn);
    return is_done;
}
