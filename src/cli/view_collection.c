/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_collection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/job_steps.h"
#include "answers/why.h"
#include "base/sort.h"
#include "cli/drawn.h"
#include "cli/loaded.h"
#include "cli/term.h"
#include "cli/view_advice.h"
#include "cli/view_categories.h"
#include "cli/view_kernel_counters.h"
#include "cli/view_memory_load.h"
#include "cli/view_roofline.h"
#include "cli/why_report.h"
#include "load/raw_bytes.h"

/* Percent of the time, and of raw data what is written to draw it. */
enum { MOST_REASONS = 12, MOST_EXPLAINED = 32, READ = 35, DRAWN = 80, DRAWN_PERCENT = 70 };

static bool series_keep(struct view_series *out, const struct step_series *s, const struct names *names,
                        struct arena *mem)
{
    char number[TERM_NUMBER];
    *out = (struct view_series){ .median_ns = s->spread.median_ns };
    out->title = s->is_whole ? "No steps were recorded"
                             : arena_printf(mem, "%zu %s%s, median %s%s", s->n, s->has_model ? "iteration" : "step",
                                            s->n == 1 ? "" : "s", term_duration(number, (double)s->spread.median_ns),
                                            s->is_host ? ", on the host" : "");
    for (size_t i = 0; i < s->n && !s->is_whole; i++) {
        struct view_step *step = list_add(&out->steps, mem);
        if (!step)
            return false;
        *step = (struct view_step){ .name = names_text(names, s->name[i]),
                                    .begin_ns = s->begin_ns[i],
                                    .end_ns = s->end_ns[i],
                                    .time_ns = s->time_ns[i],
                                    .is_slow = s->is_slow[i] };
        step->name = arena_text(mem, step->name, strlen(step->name));
        for (size_t p = 0; p < STEP_PARTS; p++)
            step->part_ns[p] = s->part_ns[p][i];
    }
    return out->title != NULL;
}

static bool say(struct view_step *step, const char *text, int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    struct view_sentence *s = text ? list_add(&step->why, mem) : NULL;
    if (s)
        *s = (struct view_sentence){ text, begin_ns, end_ns };
    return s != NULL;
}

static bool say_item(struct view_step *step, const struct step_item *m, const struct why_place *place,
                     struct arena *mem)
{
    char more[TERM_NUMBER], before[TERM_NUMBER], after[TERM_NUMBER];
    const char *what = m->named == NAMED_OUTSIDE   ? "nothing was recorded of the host"
                       : m->named == NAMED_NOTHING ? "Python"
                                                   : m->name;
    const char *text = arena_printf(mem, "%c%s %s: %s (%s, usually %s)", m->more_ns < 0 ? '-' : '+',
                                    term_duration(more, fabs(m->more_ns)), why_cause_words(m->cause), what,
                                    term_duration(after, m->after_ns), term_duration(before, m->before_ns));
    const bool is_placed = place->process || place->event;
    return say(step, text, is_placed ? place->begin_ns : 1, is_placed ? place->begin_ns + place->dur_ns : 0, mem);
}

/* A slow step, and what it had more of. */
static bool say_why(struct view_step *step, const struct why_answer *found, int64_t median_ns, struct arena *mem)
{
    char time[TERM_NUMBER], usual[TERM_NUMBER];
    bool done = say(step,
                    arena_printf(mem, "Step %s took %s, the median step %s. It had more of:", step->name,
                                 term_duration(time, (double)step->time_ns), term_duration(usual, (double)median_ns)),
                    step->begin_ns, step->end_ns, mem);
    for (size_t i = 0; i < found->difference.n && done; i++)
        if (found->difference.item[i].more_ns * 20 >= found->difference.more_ns)
            done = say_item(step, &found->difference.item[i], &found->place[i], mem);
    return done;
}

/* The slowest of the slow steps, as many as are explained: rows, in `row`. SIZE_MAX: no memory. */
static size_t slow_rows(const struct step_series *s, uint32_t row[MOST_EXPLAINED], struct arena *mem)
{
    uint32_t *order = arena_take(mem, s->n, sizeof *order);
    uint64_t *key = arena_take(mem, s->n, sizeof *key);
    if (!order || !key)
        return SIZE_MAX;
    for (size_t i = 0; i < s->n; i++)
        key[i] = UINT64_MAX - (s->is_slow[i] ? (uint64_t)s->time_ns[i] : 0);
    order_fill(order, s->n);
    if (!order_by_u64(order, s->n, key))
        return SIZE_MAX;
    size_t n = 0;
    while (n < s->n && n < MOST_EXPLAINED && s->is_slow[order[n]]) {
        row[n] = order[n];
        n++;
    }
    return n;
}

static bool explain(struct view_series *out, const struct step_series *s, const struct loaded *l,
                    const struct device *d, struct arena *mem)
{
    uint32_t row[MOST_EXPLAINED];
    struct why_answer found[MOST_EXPLAINED];
    const size_t n = slow_rows(s, row, mem);
    if (n == SIZE_MAX || (n > 0 && !why_steps(found, s, l->profile, d, l->collection, row, n, MOST_REASONS, mem)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!say_why(&out->steps.at[row[i]], &found[i], out->median_ns, mem))
            return false;
    return true;
}

/* The steps of one device, and why slow ones are slow. */
static bool add_series(struct view_input *in, const struct loaded *l, const struct device *d)
{
    struct step_series s;
    struct arena *mem = in->mem;
    const bool has = l->collection ? step_series_of_collection(&s, l->collection, d, NULL, mem)
                                   : step_series_of_profile(&s, l->profile, d, NULL, mem);
    struct view_series *out = has ? list_add(&in->series, mem) : NULL;
    if (!out || !series_keep(out, &s, l->profile->names, mem))
        return false;
    if (out->steps.n == 0 || view_slowest(out))
        return out->steps.n == 0 || explain(out, &s, l, d, mem);
    return view_say_usual(in);
}

static bool add_fact(struct view_input *in, const char *name, const char *text)
{
    struct view_fact *f = text ? list_add(&in->facts, in->mem) : NULL;
    if (f)
        *f = (struct view_fact){ name, text };
    return f != NULL;
}

static bool answers_find(struct view_input *in, const struct loaded *l)
{
    for (size_t i = 0; i < loaded_n_devices(l); i++)
        if (!add_series(in, l, loaded_device(l, i)))
            return false;
    return add_fact(in, "directory", in->path) &&
           add_fact(in, "losses", l->is_lossy ? "some records could not be used; ascope analyse lists them" : "none");
}

/* Behind the other answers, which pages may be reading already. */
static bool advice_find(struct view_input *in, const struct loaded *l)
{
    struct view_advice advice = { 0 };
    return view_advice_add(&advice, l, in->path, 0, in->mem) && view_advice_put(&advice, in);
}

bool view_collection_load(struct view_input *in, struct error *e)
{
    const struct view_collection *c = in->context;
    struct loaded l = { 0 };
    struct drawn drawn = { 0 };
    const uint64_t bytes = raw_bytes(in->path);
    view_progress_stage(&in->progress, VIEW_READING, 0, READ, bytes);
    bool is_done = loaded_open(&l, c->target, c->options->n_threads, e);
    view_progress_stage(&in->progress, VIEW_DRAWING, READ, DRAWN, bytes / 100 * DRAWN_PERCENT);
    if (is_done) {
        atomic_store(&in->is_simulated, loaded_is_simulated(&l));
        in->is_lossy = l.is_lossy;
        is_done = (answers_find(in, &l) && view_losses_keep(in, &l.lost) &&
                   (!l.collection || view_memory_load(in, l.collection))) ||
                  error_no_memory(e, in->path);
        if (l.collection && view_categories_can(l.collection)) {
            in->categorise = view_categories_load;
            in->categories = arena_take(in->mem, 1, sizeof *in->categories);
        }
        atomic_store(&in->has_answers, is_done);
        is_done = is_done && (advice_find(in, &l) || error_no_memory(e, in->path)) &&
                  view_kernel_counters_load(in, &l, c->options, "", e) && view_roofline_load(in, &l, "", e) &&
                  drawn_begin(&drawn, &in->trace, in->path, l.collection, l.profile, c->options, e);
    }
    view_progress_stage(&in->progress, VIEW_ARRANGING, DRAWN, 100, 1);
    loaded_close(&l);
    is_done = is_done && drawn_finish(&drawn, &in->drawn, e);
    drawn_end(&drawn);
    return is_done;
}
