/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "answers/checks/advise_checks.h"
#include "cli/commands/given_run.h"
#include "cli/options/summary.h"
#include "open/run_explain.h"
#include "report/advise_page.h"
#include "report/advise_report.h"
#include "report/judge_report.h"
#include "view/inputs/view_inputs.h"

static void *look(const void *of, const struct recording *l, size_t i, struct arena *mem, struct error *e)
{
    (void)of;
    (void)e;
    const struct run_rank q = recording_rank(l, i);
    return advise_look(&q, mem);
}

static bool report_json(struct arguments *a, const struct advise_report *r, enum exit_status *status)
{
    json_t *checks = advise_checks_json(r), *list = advise_json(r);
    json_t *more = json_pack("{s:o, s:o}", "advise_checks", checks, "judged", judge_json(r->run, a->mem));
    *status = json_report_more(a, "advice", list, more, *status);
    return list && more;
}

static enum exit_status advise_answer(struct run *run, struct arguments *a, enum exit_status status)
{
    struct advise_rank *rank = arena_take(a->mem, run->n, sizeof *rank);
    struct advice *advice = arena_take(a->mem, n_advise_checks, sizeof *advice);
    const struct job_question nothing = { 0 };
    const struct explain_request how = { .top = a->top };
    struct job_choice job;
    struct explained_run explained;
    struct error e = { 0 };
    bool done = rank != NULL && job_choose(&job, run->rank, run->n, &nothing, a->mem, &e);
    for (size_t i = 0; done && i < run->n; i++) {
        rank[i] = *(const struct advise_rank *)run->more[i];
        rank[i].rank = run->rank[i];
        done = advise_take_waits(&rank[i], a->mem);
    }
    if (!done || !advice || !advise_job(advice, rank, run->n, a->mem)) {
        complain_no_memory("the findings");
        return STATUS_NOTHING;
    }
    if (!run_explain(&explained, run, &job, &how, a->mem, &e)) {
        complain("%s", e.text);
        explained = (struct explained_run){ .run = &job.job.run };
        status = STATUS_LOSSES;
    }
    struct advise_report report = {
        .rank = rank, .n_ranks = run->n, .advice = advice, .run = &explained, .page = a->html, .mem = a->mem
    };
    struct error of_page = { 0 };
    if (a->html && !advise_page_write(&report, a->html, &of_page)) {
        complain("%s", of_page.text);
        report.page = NULL;
        status = status == STATUS_DONE ? STATUS_LOSSES : status;
    }
    struct term t;
    term_init(&t, a->html ? report_stream(a->html) : stdout);
    if (a->json)
        report_json(a, &report, &status);
    else if (!a->quiet)
        advise_print(&t, &report);
    return status;
}

int run_advise(struct arguments *a)
{
    if (!json_has_room(a, "--html", a->html))
        return exit_code(a->face, STATUS_USAGE);
    struct given_run given;
    enum exit_status status = given_run(&given, a, INPUT_RESULTS, false, look);
    if (status == STATUS_DONE || status == STATUS_LOSSES)
        status = advise_answer(&given.run, a, status);
    given_run_end(&given);
    return exit_code(a->face, status);
}
