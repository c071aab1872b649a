/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/run/run_chrome.h"
#include "answers/run/run_collection.h"
#include "base/text/json_memory.h"
#include "load/framework/framework_loaders.h"
#include "pipeline/drawn.h"
#include "report/compare_report.h"
#include "view/rows/view_input.h"

enum { MOST_OF_RUN = 4, TOP = 20 }; /* timelines per run; differences shown */
enum {
    ANSWERED = 40,
    DRAWN = 95,
    DRAWN_PERCENT = 70
}; /* progress in percent; size of the drawn timeline in percent of the raw data */

/* A step of a part, for the alignment. */
struct joint_step {
    name_id name;
    int64_t begin_ns;
};

struct view_joint_loading {
    struct view_input *in;
    const struct view_joint *of;
    struct joint joint;
    struct view_advice advice;
    struct view_ties ties;
    /* Only for two runs. */
    struct names *names;
    LIST(struct measured_rank) ranks[RUNS];
    LIST(struct joint_step) steps[RUNS];
    unsigned *side; /* the run of each part, 0 or 1 */
    char step[sizeof((struct view_input *)0)->step];
    struct error *e;
};

static bool no_memory(struct view_joint_loading *q)
{
    return error_no_memory(q->e, q->in->path);
}

/* Adds a sentence to the overview, with a lock: pages may be reading while timelines are drawn. */
static bool sentence_add(struct view_joint_loading *q, const char *text)
{
    pthread_rwlock_wrlock(&q->in->lock);
    struct view_sentence *s = text ? list_add(&q->in->sentences, q->in->mem) : NULL;
    if (s)
        *s = (struct view_sentence){ .text = text, .begin_ns = 1 };
    pthread_rwlock_unlock(&q->in->lock);
    return s || no_memory(q);
}

static bool keep_losses(struct view_joint_loading *q, const struct losses *lost, bool is_lossy)
{
    pthread_rwlock_wrlock(&q->in->lock);
    q->in->is_lossy |= is_lossy;
    const bool done = view_losses_keep(q->in, lost);
    pthread_rwlock_unlock(&q->in->lock);
    return done || no_memory(q);
}

/* Sets the progress before the next of n parts is read and drawn. */
static void advance(struct view_joint_loading *q, unsigned from, size_t done, size_t n, const char *path)
{
    const unsigned room = DRAWN - from;
    view_progress_stage(&q->in->progress, VIEW_DRAWING, from + (unsigned)(room * done / n),
                        from + (unsigned)(room * (done + 1) / n), raw_bytes(path) / 100 * (100 + DRAWN_PERCENT));
}

/* Notes which processes of the joint timeline belong to a part. */
static bool keep_rank(struct view_joint_loading *q, const struct joint_part *p, int64_t rank)
{
    struct view_rank *to = list_add(&q->in->ranks, q->in->mem);
    uint32_t first = 0;
    for (size_t i = 0; i + 1 < q->joint.parts.n; i++)
        first += (uint32_t)q->joint.parts.at[i]->trace.processes.n;
    if (to)
        *to = (struct view_rank){ p->title, rank, first, (uint32_t)p->trace.processes.n };
    return to || no_memory(q);
}

/* Connects the collectives of the last part with those of the parts before it. */
static bool tie(struct view_joint_loading *q, const struct profile *profile)
{
    size_t first = 0;
    for (size_t i = 0; i + 1 < q->joint.parts.n; i++)
        first += q->joint.parts.at[i]->trace.slices.n;
    return view_ties_add(&q->ties, profile, &q->joint.parts.at[q->joint.parts.n - 1]->trace, first) || no_memory(q);
}

/* Draws a loaded directory as a part of the joint timeline. */
static bool draw_part(struct view_joint_loading *q, const struct recording *l, const char *path, const char *title,
                      int64_t rank, int64_t shift_ns)
{
    struct joint_part *p = title ? joint_add(&q->joint) : NULL;
    if (!p)
        return no_memory(q);
    p->title = title;
    p->shift_ns = shift_ns;
    if (!drawn_make(&p->drawn, &p->trace, l->collection, l->profile, q->of->options, q->e) ||
        !joint_take(&q->joint, p, path, q->e)) {
        joint_drop(&q->joint, p);
        return false;
    }
    return keep_rank(q, p, rank) && view_kernel_counters_load(q->in, l, q->of->options, title, q->e) &&
           view_roofline_load(q->in, l, title, q->e);
}

/* Makes a trace or database, which has been read, a part of the joint timeline. */
static bool draw_file(struct view_joint_loading *q, struct recording *l, const char *title, int64_t rank,
                      int64_t shift_ns)
{
    struct joint_part *p = title ? joint_add(&q->joint) : NULL;
    if (!p)
        return no_memory(q);
    p->title = title;
    p->shift_ns = shift_ns;
    p->trace = trace_take(&l->of_file);
    if (!view_chrome_work(q->in, &p->trace, title, q->e) || !joint_take(&q->joint, p, "/var/tmp", q->e)) {
        joint_drop(&q->joint, p);
        return false;
    }
    return keep_rank(q, p, rank);
}

/* ---- a job ------------------------------------------------------------------------------------------------------ */

static bool load_rank(struct view_joint_loading *q, const struct view_job_rank *r)
{
    struct recording l = { 0 };
    int why;
    const struct input input = { .path = r->path,
                                 .kind = r->file ? NULL : framework_kind_of(r->path, &why),
                                 .steps_by = q->of->job.steps_by,
                                 .file = r->file };
    bool done = recording_open(&l, &input, 0, q->of->options->n_threads, q->e);
    if (done) {
        q->in->is_simulated |= recording_is_simulated(&l);
        const char *title = arena_printf(q->in->mem, "Rank %lld", (long long)r->rank);
        done = keep_losses(q, &l.lost, l.is_lossy) &&
               (view_advice_add_all(&q->advice, &l, r->path, -r->ahead_ns, q->in->mem) || no_memory(q)) &&
               (r->file ? draw_file(q, &l, title, r->rank, -r->ahead_ns)
                        : draw_part(q, &l, r->path, title, r->rank, -r->ahead_ns) && tie(q, l.profile));
    }
    recording_close(&l);
    if (!done && q->e->fault != FAULT_LIMIT) {
        const char *text =
            arena_printf(q->in->mem, "Rank %lld is not in the timeline: %s", (long long)r->rank, q->e->text);
        *q->e = (struct error){ 0 };
        q->in->is_lossy = true;
        done = sentence_add(q, text);
    }
    return done;
}

static bool load_job(struct view_joint_loading *q)
{
    struct view_input *in = q->in;
    struct view_job_answer answer;
    size_t n = 0, n_done = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < q->of->job.n_paths; i++)
        bytes += raw_bytes(q->of->job.path[i]);
    view_progress_stage(&in->progress, VIEW_READING, 0, ANSWERED, bytes);
    if (!view_job_read(&answer, &q->of->job, in->mem, q->e))
        return false;
    struct view_text *text = list_add(&in->texts, in->mem);
    if (!text)
        return no_memory(q);
    *text = (struct view_text){ "job", answer.json };
    in->is_lossy |= answer.is_lossy;
    atomic_store(&in->has_answers, true);
    for (size_t i = 0; i < answer.ranks.n; i++)
        n += answer.ranks.at[i].is_drawn;
    for (size_t i = 0; i < answer.ranks.n; i++)
        if (answer.ranks.at[i].is_drawn) {
            advance(q, ANSWERED, n_done++, n, answer.ranks.at[i].path);
            if (!load_rank(q, &answer.ranks.at[i]))
                return false;
        }
    return view_advice_put(&q->advice, in) || no_memory(q);
}

/* ---- two runs ----------------------------------------------------------------------------------------------------- */

static bool add_step(struct view_joint_loading *q, unsigned side, const char *name, int64_t begin_ns)
{
    struct joint_step *s = list_add(&q->steps[side], q->in->mem);
    if (s)
        *s = (struct joint_step){ names_addz(q->names, name), begin_ns };
    return (s && !names_failed(q->names)) || no_memory(q);
}

static bool view_joint_add_steps(struct view_joint_loading *q, unsigned side, const struct run_rank *rank)
{
    struct step_series s;
    bool done = run_rank_series(&s, rank, q->in->mem);
    if (!done)
        return no_memory(q);
    for (size_t i = 0; done && !s.is_whole && i < s.n; i++)
        done = add_step(q, side, names_text(rank->names, s.name[i]), s.host_begin_ns[i]);
    return done;
}

/* What is compared of a rank of a run. One that has nothing to compare is only drawn. */
static bool measure(struct view_joint_loading *q, unsigned side, const struct run_rank *rank, const char *path)
{
    struct measured_rank *to = list_add(&q->ranks[side], q->in->mem);
    struct error own = { 0 };
    if (!to)
        return no_memory(q);
    const bool done =
        rank->trace ? run_of_chrome(to, rank->trace, q->names, q->in->mem, &own)
                    : run_of_collection(to, rank->profile, rank->device, rank->collection, q->names, q->in->mem, &own);
    if (done)
        to->path = path;
    else if (own.fault == FAULT_NONE)
        return no_memory(q);
    else if (own.fault == FAULT_LIMIT || !rank->trace)
        return error_set(q->e, own.fault, "%s", own.text);
    else
        q->ranks[side].n--;
    return true;
}

static bool load_run_input(struct view_joint_loading *q, unsigned side, const struct input *input, bool is_drawn)
{
    struct recording l = { 0 };
    struct view_input *in = q->in;
    bool done = recording_open(&l, input, 0, q->of->options->n_threads, q->e);
    int64_t rank = -1;
    in->is_simulated |= done && recording_is_simulated(&l);
    done = done && keep_losses(q, &l.lost, l.is_lossy);
    for (size_t i = 0; done && i < recording_n_devices(&l); i++) {
        const struct run_rank view = recording_rank(&l, i);
        if (i == 0 && !run_rank_number(&view, &rank))
            rank = -1;
        done = measure(q, side, &view, input->path) && (q->steps[side].n > 0 || view_joint_add_steps(q, side, &view));
    }
    const char *title = rank < 0 ? arena_printf(in->mem, "%c", 'A' + (int)side)
                                 : arena_printf(in->mem, "%c, rank %lld", 'A' + (int)side, (long long)rank);
    if (done && is_drawn)
        done = input->file ? draw_file(q, &l, title, rank, 0) : draw_part(q, &l, input->path, title, rank, 0);
    recording_close(&l);
    return done;
}

static int64_t first_begin(const struct view_joint_loading *q, unsigned side)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < q->joint.parts.n; i++) {
        const struct chrome_slices *s = &q->joint.parts.at[i]->trace.slices;
        for (size_t k = 0; k < s->n && q->side[i] == side; k++)
            first = s->begin_ns[k] < first ? s->begin_ns[k] : first;
    }
    return first == INT64_MAX ? 0 : first;
}

/* Finds the first step that both runs have, or the wanted one (NULL: any). False: no memory. */
static bool first_common(struct view_joint_loading *q, const char *wanted, const struct joint_step *common[RUNS])
{
    const struct joint_step **second = arena_take(q->in->mem, names_count(q->names), sizeof *second); /* by name */
    common[0] = common[1] = NULL;
    for (size_t i = q->steps[1].n; second && i-- > 0;)
        second[q->steps[1].at[i].name] = &q->steps[1].at[i];
    for (size_t i = 0; second && !common[0] && i < q->steps[0].n; i++) {
        const struct joint_step *s = &q->steps[0].at[i];
        if (second[s->name] && (!wanted || strcmp(wanted, names_text(q->names, s->name)) == 0)) {
            common[0] = s;
            common[1] = second[s->name];
        }
    }
    return second || no_memory(q);
}

/* Shifts the second run so that the chosen step, or the first common step, or else the first event begins at the
 * same time. */
static bool align(struct view_joint_loading *q)
{
    const char *wanted = *q->step ? q->step : q->of->step;
    const struct joint_step *common[RUNS];
    if (!first_common(q, wanted, common))
        return false;
    const char *name = common[0] ? names_text(q->names, common[0]->name) : NULL;
    const int64_t shift = name ? common[0]->begin_ns - common[1]->begin_ns : first_begin(q, 0) - first_begin(q, 1);
    for (size_t i = 0; i < q->joint.parts.n; i++)
        if (q->side[i] == 1)
            q->joint.parts.at[i]->shift_ns = shift;
    const char *text = name ? arena_printf(q->in->mem, "Both runs begin step %s at the same moment.", name)
                            : arena_printf(q->in->mem, "%s%s: both runs are shown from their first event on.",
                                           wanted ? "They do not both have step " : "They have no step in common",
                                           wanted ? wanted : "");
    return sentence_add(q, text) && (view_text_put(q->in, "aligned", text_or_null(name)) || no_memory(q));
}

static bool view_joint_compare(struct view_joint_loading *q)
{
    struct comparison c;
    struct error own = { 0 };
    size_t n_changes = 0;
    struct measured_run *run = arena_take(q->in->mem, RUNS, sizeof *run);
    for (size_t i = 0; run && i < RUNS; i++)
        run[i] = (struct measured_run){ q->of->run[i].name, q->ranks[i].n, q->ranks[i].at };
    if (!run)
        return no_memory(q);
    if (!compare_runs(&c, run, 1, 1, q->names, q->in->mem, &own))
        return own.fault == FAULT_LIMIT
                   ? error_set(q->e, FAULT_LIMIT, "%s", own.text)
                   : sentence_add(q, arena_printf(q->in->mem, "The runs cannot be compared: %s", own.text));
    const struct compared_row **change = compare_changes(&c, &n_changes, q->in->mem);
    const struct compare_report report = { .c = &c, .change = change, .n_changes = n_changes, .top = TOP };
    return (change && view_text_put(q->in, "comparison", compare_json(&report))) || no_memory(q);
}

/* Reports a run that cannot be read; the other is shown. */
static bool skip_run(struct view_joint_loading *q, unsigned side)
{
    if (q->e->fault == FAULT_LIMIT)
        return false;
    const char *text = arena_printf(q->in->mem, "%c is not shown: %s", 'A' + (int)side, q->e->text);
    if (side == RUNS - 1 && q->in->ranks.n == 0)
        return false;
    *q->e = (struct error){ 0 };
    q->in->is_lossy = true;
    return sentence_add(q, text);
}

static bool load_run(struct view_joint_loading *q, unsigned side, size_t *n_done, size_t n)
{
    const struct view_run *r = &q->of->run[side];
    bool done = true;
    for (size_t i = 0; done && i < r->inputs.list.n; i++) {
        advance(q, 0, (*n_done)++, n, r->inputs.list.at[i].path);
        done = load_run_input(q, side, &r->inputs.list.at[i], i < MOST_OF_RUN);
    }
    return done || skip_run(q, side);
}

static bool load_runs(struct view_joint_loading *q)
{
    size_t n = 0, n_done = 0, n_sides = 0;
    for (unsigned side = 0; side < RUNS; side++)
        n += q->of->run[side].inputs.list.n;
    q->side = arena_take(q->in->mem, n + 1, sizeof *q->side);
    if (!q->side)
        return no_memory(q);
    for (unsigned side = 0; side < RUNS; side++) {
        if (!load_run(q, side, &n_done, n))
            return false;
        while (n_sides < q->joint.parts.n)
            q->side[n_sides++] = side;
    }
    if (q->ranks[0].n == 0 || q->ranks[1].n == 0)
        return align(q);
    return align(q) && view_joint_compare(q);
}

bool view_joint_load(struct view_input *in, struct error *e)
{
    struct view_joint_loading q = { .in = in, .of = in->context, .joint = { .fd = -1, .mem = in->mem }, .e = e };
    pthread_rwlock_rdlock(&in->lock);
    memcpy(q.step, in->step, sizeof q.step);
    pthread_rwlock_unlock(&in->lock);
    q.names = names_new();
    q.ties.match.names = q.names;
    q.ties.match.mem = arena_new();
    bool done = (q.names && q.ties.match.mem) || no_memory(&q);
    done = done && (q.of->is_job ? load_job(&q) : load_runs(&q));
    view_progress_stage(&in->progress, VIEW_ARRANGING, DRAWN, 100, 1);
    for (size_t i = 0; done && i < q.joint.parts.n; i++)
        view_roofline_shift(in, q.joint.parts.at[i]->title, q.joint.parts.at[i]->shift_ns);
    done = done && joint_finish(&q.joint, &in->trace, &in->drawn, in->path, e) &&
           (view_ties_put(&q.ties, &in->trace) || no_memory(&q));
    joint_close(&q.joint);
    arena_free(q.ties.match.mem);
    names_free(q.names);
    return done;
}
