/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/commands/given_run.h"
#include "cli/options/summary.h"
#include "open/run_explain.h"
#include "report/why_report.h"
#include "view/inputs/view_inputs.h"

/* What is computed of the rank that is explained, while it is open. */
struct why_looking {
    const struct arguments *a;
    struct advise_rank *advice;
    struct serving_answer serving;
};

static bool serving_of(struct serving_answer *out, const struct run_rank *view, const char *wanted, struct arena *mem)
{
    const struct graph_capture *const graphs = view->profile ? &view->profile->captured : NULL;
    if (graphs && graphs->n_unknown > 0) {
        out->n_replayed = graphs->n_replayed;
        out->n_unknown = graphs->n_unknown;
        out->unknown_share = graphs->unknown_ns / graphs->replayed_ns;
    }
    struct arena *spare = arena_new();
    struct step_series s;
    bool done = spare && run_rank_series(&s, view, spare) && engine_use_find(&out->engine, &s, view, mem) &&
                requests_find(&out->requests, view, mem);
    out->request = done && wanted ? request_choose(&out->requests, wanted) : NULL;
    done = done && (!out->request || request_causes_find(&out->causes, out->request, &s, view, mem));
    arena_free(spare);
    return done;
}

static bool look_at_rank(void *context, const struct run_rank *q)
{
    struct why_looking *x = context;
    x->advice = advise_look(q, x->a->mem);
    return x->advice && serving_of(&x->serving, q, x->a->request, x->a->mem);
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
    struct why_looking x = { .a = a };
    const struct explain_request how = { a->top, look_at_rank, &x };
    struct explained_run explained;
    struct advise_report advice;
    struct error e = { 0 };
    if (!job_choose(&choice, run->rank, run->n, &question, a->mem, &e) ||
        !run_explain(&explained, run, &choice, &how, a->mem, &e) ||
        !advise(&advice, run, &choice, x.advice, x.serving.request != NULL, a->mem, &e)) {
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
                                       .explained = &explained,
                                       .use = &x.advice->use,
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
