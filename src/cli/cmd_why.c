/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_why.h"

#include "cli/exit_status.h"
#include "cli/job_read.h"
#include "cli/summary.h"
#include "cli/why_report.h"

static bool explain(struct job_read *j, const struct job_choice *c, struct why_answer *out, struct error *e)
{
    const struct job_rank *r = &j->rank[c->rank];
    struct arena *mem = j->a->mem;
    struct recording again = { 0 };
    struct step_profile other;
    const struct recording *l = NULL;
    bool done = true;
    if (c->mode == WHY_RANK) {
        const struct job_rank *reference = &j->rank[c->reference];
        l = job_read_again(j, reference, &again, e);
        const struct run_rank view = l ? recording_rank(l, reference->device_row) : (struct run_rank){ 0 };
        done = l && (why_usual(&other, &view, mem) || error_no_memory(e, reference->path));
        recording_close(&again);
    }
    l = done ? job_read_again(j, r, &again, e) : NULL;
    if (l) {
        const struct run_rank view = recording_rank(l, r->device_row);
        const size_t most = j->a->top;
        done = c->mode == WHY_RANK ? why_rank(out, &view, &other, most, mem)
                                   : why_step(out, &view, c->step[c->at].name, most, mem);
        out->lacks_python = run_rank_lacks_python(&view);
        done = done || error_no_memory(e, r->path);
    }
    recording_close(&again);
    return done && l;
}

static enum exit_status answer(struct job_read *j, enum exit_status status)
{
    struct arguments *a = j->a;
    const struct job_question question = { a->step, arguments_have(a, OPT_WHY_RANK), a->rank };
    struct job_choice choice;
    struct why_answer found;
    struct error e = { 0 };
    if (!job_choose(&choice, j->rank, j->n, &question, a->mem, &e) ||
        (choice.mode != WHY_NOTHING && !explain(j, &choice, &found, &e))) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    const struct why_report report = { j->rank, j->n, a->top, &choice, choice.mode == WHY_NOTHING ? NULL : &found };
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
    struct job_read job = { .a = a, .also = INPUT_TRACES, .needs_steps = true };
    enum exit_status status = job_read_all(&job);
    if (status == STATUS_DONE || status == STATUS_LOSSES)
        status = answer(&job, status);
    job_read_end(&job);
    return exit_code(a->face, status);
}
