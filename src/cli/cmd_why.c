/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_why.h"

#include "cli/exit_status.h"
#include "cli/given_run.h"
#include "cli/summary.h"
#include "cli/view_advice.h"
#include "cli/why_report.h"

/* Fills *out unless nothing stands out, and *look in any case. */
static bool explain(struct run *run, const struct job_choice *c, const struct arguments *a, struct why_answer *out,
                    struct advise_rank **look, struct error *e)
{
    const struct job_rank *r = &run->rank[c->rank];
    struct recording again = { 0 };
    struct step_profile other;
    const struct recording *l = NULL;
    bool done = true;
    if (c->mode == WHY_RANK) {
        const struct job_rank *reference = &run->rank[c->reference];
        l = run_recording(run, reference, &again, e);
        const struct run_rank view = l ? recording_rank(l, reference->device_row) : (struct run_rank){ 0 };
        done = l && (why_usual(&other, &view, a->mem) || error_no_memory(e, reference->path));
        recording_close(&again);
    }
    l = done ? run_recording(run, r, &again, e) : NULL;
    if (l) {
        const struct run_rank view = recording_rank(l, r->device_row);
        done =
            c->mode == WHY_NOTHING || (c->mode == WHY_RANK ? why_rank(out, &view, &other, a->top, a->mem)
                                                           : why_step(out, &view, c->step[c->at].name, a->top, a->mem));
        out->lacks_python = c->mode != WHY_NOTHING && run_rank_lacks_python(&view);
        *look = done ? advise_look(&view, a->mem) : NULL;
        done = *look || error_no_memory(e, r->path);
    }
    recording_close(&again);
    return done && l;
}

/* What applies to the rank that is explained, and to the job as a whole: the findings of other ranks are not looked for. */
static bool advise(struct advise_report *out, const struct run *run, const struct job_choice *c,
                   const struct advise_rank *look, struct arena *mem, struct error *e)
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
                                                       .without_collectives = CHECK_ELSEWHERE };
        rank[i].rank = run->rank[i];
    }
    *out = (struct advise_report){ rank, run->n, advice, NULL };
    if (look->step_ns <= 0)
        return error_set(e, FAULT_FORMAT, "%s: no steps, operators or kernels were recorded", run->rank[c->rank].path);
    return advise_job(advice, rank, run->n, mem) || error_no_memory(e, "the advice");
}

static enum exit_status answer(struct run *run, struct arguments *a, enum exit_status status)
{
    const struct job_question question = { a->step, arguments_have(a, OPT_WHY_RANK), a->rank };
    struct job_choice choice;
    struct why_answer found;
    struct advise_rank *look = NULL;
    struct advise_report advice;
    struct error e = { 0 };
    if (!job_choose(&choice, run->rank, run->n, &question, a->mem, &e) ||
        !explain(run, &choice, a, &found, &look, &e) || !advise(&advice, run, &choice, look, a->mem, &e)) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    const struct why_report report = { run->rank,  run->n, a->top, &choice, choice.mode == WHY_NOTHING ? NULL : &found,
                                       &look->use, &advice };
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
