/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/commands/one_collection.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/why_report.h"
#include "view/inputs/view_inputs.h"

/* What is explained: the findings, and a step that was asked for or the only one, which is in the place behind them. */
struct explaining {
    struct run *run;
    const struct job_choice *choice;
    const struct arguments *a;
    struct why_finding *finding;
    size_t n;
    struct advise_rank *look;
    struct serving_answer serving; /* of the same rank */
};

/* The row of a series that a step of the run is on a rank. `judged`: row of the rank in the judged run. NO_ROW: it has
 * none. */
static uint32_t why_row_of(const struct judged_run *r, const struct run_member *rank, uint32_t judged, uint32_t step)
{
    const struct rank_step *s = r->at[judged * r->n + step];
    return s ? (uint32_t)(s - rank->step) : NO_ROW;
}

/* The steps of a finding on its rank, at most MOST_ROWS; without one the step that was asked for. */
static struct why_rows rows_of(const struct explaining *x, const struct why_finding *f, struct arena *mem)
{
    enum { MOST_ROWS = 64 };
    const struct judged_run *r = &x->choice->job.run;
    const struct slow *s = f->of;
    const uint32_t judged = r->n_ranks == 1 ? 0 : f->rank;
    uint32_t *row = arena_take(mem, MOST_ROWS, sizeof *row);
    size_t n = 0;
    if (row && s)
        n = run_finding_rows(r, judged, s, row, MOST_ROWS);
    else if (row && (row[0] = why_row_of(r, &x->run->rank[f->rank], judged, x->choice->at)) != NO_ROW)
        n = 1;
    return (struct why_rows){ row, n, s ? run_finding_without(s) : 0 };
}

/* Explains all findings about steps of one rank in one pass, and those about the rank itself. */
static bool explain_rank(struct explaining *x, uint32_t rank, const struct run_rank *view, struct arena *mem)
{
    struct step_series s;
    struct why_rows *set = arena_take(mem, x->n, sizeof *set);
    struct why_answer *answer = arena_take(mem, x->n, sizeof *answer);
    size_t n = 0;
    if (!set || !answer || !run_rank_series(&s, view, mem))
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (x->finding[i].rank == rank && !x->finding[i].other)
            set[n++] = rows_of(x, &x->finding[i], mem);
    if (n > 0 && !why_steps(answer, &s, view, set, n, x->a->top, mem))
        return false;
    n = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct why_finding *f = &x->finding[i];
        if (f->rank != rank)
            continue;
        if (!f->other)
            f->answer = answer[n++];
        else if (!why_rank(&f->answer, view, f->other, x->a->top, mem))
            return false;
        f->answer.lacks_python = run_rank_lacks_python(view);
        f->is_explained = true;
    }
    return true;
}

static bool serving_of(struct serving_answer *out, const struct run_rank *view, const char *wanted, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    bool done = spare && run_rank_series(&s, view, spare) && engine_use_find(&out->engine, &s, view, mem) &&
                requests_find(&out->requests, view, mem);
    out->request = done && wanted ? request_choose(&out->requests, wanted) : NULL;
    done = done && (!out->request || request_causes_find(&out->causes, out->request, &s, view, mem));
    arena_free(spare);
    return done;
}

/* Reads a rank again if it is no longer open. */
static bool look_at_rank(struct explaining *x, uint32_t rank, struct error *e)
{
    const struct run_member *of = &x->run->rank[rank];
    struct recording again = { 0 };
    const struct recording *l = run_recording(x->run, of, &again, e);
    bool done = l != NULL;
    if (l) {
        struct run_rank view = recording_rank(l, of->device_row);
        view.waits = of->waits;
        done = explain_rank(x, rank, &view, x->a->mem);
        if (done && rank == x->choice->rank) {
            x->look = advise_look(&view, x->a->mem);
            done = x->look && serving_of(&x->serving, &view, x->a->request, x->a->mem);
        }
        done = done || error_no_memory(e, of->path);
    }
    recording_close(&again);
    return done;
}

/* The usual steps of the ranks that slow ranks are compared with. */
static bool others_find(struct explaining *x, struct error *e)
{
    bool done = true;
    for (size_t i = 0; i < x->n && done; i++) {
        struct why_finding *f = &x->finding[i];
        if (!f->of || f->of->shape != SLOW_ALWAYS || f->of->peer == JUDGE_ALL)
            continue;
        const struct run_member *of = &x->run->rank[f->of->peer];
        struct recording again = { 0 };
        const struct recording *l = run_recording(x->run, of, &again, e);
        struct step_profile *other = l ? arena_take(x->a->mem, 1, sizeof *other) : NULL;
        struct run_rank view = l ? recording_rank(l, of->device_row) : (struct run_rank){ 0 };
        view.waits = of->waits;
        done = l && ((other && why_usual(other, &view, x->a->mem)) || error_no_memory(e, of->path));
        f->other = other;
        recording_close(&again);
    }
    return done;
}

static bool why_explain(struct explaining *x, struct error *e)
{
    const struct job_choice *c = x->choice;
    const struct judged_run *r = &c->job.run;
    const size_t n_found = run_findings(r), n_most = n_found < x->a->top ? n_found : x->a->top;
    const bool is_asked = c->mode == WHY_STEP && !c->finding;
    x->finding = arena_take(x->a->mem, n_most + 1, sizeof *x->finding);
    if (!x->finding)
        return error_no_memory(e, "the answer");
    for (size_t i = 0; i < n_most; i++)
        if (r->of.at[i].shape != SLOW_IN_TURNS) {
            struct why_finding *f = &x->finding[x->n++];
            f->of = &r->of.at[i];
            f->rank = f->of == c->finding || r->n_ranks < x->run->n ? c->rank : finding_rank(&c->job, f->of);
        }
    if (is_asked)
        x->finding[x->n++] = (struct why_finding){ .rank = c->rank };
    if (!others_find(x, e) || !look_at_rank(x, c->rank, e))
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!x->finding[i].is_explained && !look_at_rank(x, x->finding[i].rank, e))
            return false;
    return true;
}

/* What applies to the rank that is explained, and to the job as a whole: the findings of other ranks are not looked
 * for. */
static bool advise(struct advise_report *out, const struct run *run, const struct job_choice *c,
                   const struct advise_rank *look, bool is_request, struct arena *mem, struct error *e)
{
    struct advise_rank *rank = arena_take(mem, run->n, sizeof *rank);
    struct finding *none = arena_take(mem, n_advise_checks, sizeof *none);
    struct advice *advice = arena_take(mem, n_advise_checks, sizeof *advice);
    if (!rank || !none || !advice)
        return error_no_memory(e, "the advice");
    for (size_t i = 0; i < n_advise_checks; i++)
        none[i].state = CHECK_ELSEWHERE;
    for (size_t i = 0; i < run->n; i++) {
        rank[i] = i == c->rank ? *look
                               : (struct advise_rank){ .finding = none,
                                                       .step_ns = (double)run->rank[i].median_ns,
                                                       .n_steps = run->rank[i].n,
                                                       .without_collectives = CHECK_ELSEWHERE };
        rank[i].rank = run->rank[i];
    }
    *out = (struct advise_report){ .rank = rank, .n_ranks = run->n, .advice = advice };
    if (look->step_ns <= 0 && !is_request)
        return error_set(e, FAULT_FORMAT, "%s: no steps, operators or kernels were recorded", run->rank[c->rank].path);
    return advise_job(advice, rank, run->n, mem) || error_no_memory(e, "the advice");
}

static enum exit_status answer(struct run *run, struct arguments *a, enum exit_status status)
{
    const struct job_question question = { a->step, arguments_have(a, OPT_WHY_RANK), a->rank };
    struct job_choice choice;
    struct explaining x = { .run = run, .choice = &choice, .a = a };
    struct advise_report advice;
    struct error e = { 0 };
    if (!job_choose(&choice, run->rank, run->n, &question, a->mem, &e) || !why_explain(&x, &e) ||
        !advise(&advice, run, &choice, x.look, x.serving.request != NULL, a->mem, &e)) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    if (a->request && !x.serving.request) {
        complain("--request %.80s: not among the %zu requests of %.500s", a->request, x.serving.requests.n,
                 run->rank[choice.rank].path);
        return STATUS_PARAMETER;
    }
    const struct why_report report = { .rank = run->rank,
                                       .n_ranks = run->n,
                                       .top = a->top,
                                       .choice = &choice,
                                       .finding = x.finding,
                                       .n = x.n,
                                       .use = &x.look->use,
                                       .serving = &x.serving,
                                       .advice = &advice,
                                       .mem = a->mem };
    if (a->json) {
        json_t *list = json_array();
        json_list_add(&list, why_json(&report));
        return json_report(a, "answers", list, status);
    }
    struct term t;
    term_init(&t, stdout);
    if (!a->quiet)
        why_print(&t, &report);
    return status;
}

int run_why(struct arguments *a)
{
    struct given_run given;
    enum exit_status status = given_run(&given, a, INPUT_RESULTS, true, NULL);
    if (status == STATUS_DONE || status == STATUS_LOSSES)
        status = answer(&given.run, a, status);
    given_run_end(&given);
    return exit_code(a->face, status);
}
