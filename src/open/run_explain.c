/* SPDX-License-Identifier: Apache-2.0 */
#include "open/run_explain.h"

/* One run being explained. */
struct run_explaining {
    struct run *run;
    const struct job_choice *choice;
    const struct explain_request *of;
    struct explained_run *out;
    struct arena *mem;
    struct error *e;
};

/* Does something with a rank, which is read again if it is no longer open. */
static bool with_rank(const struct run_explaining *x, uint32_t row,
                      bool (*use)(const struct run_explaining *x, uint32_t row, const struct run_rank *q, void *to),
                      void *to)
{
    const struct run_member *of = &x->run->rank[row];
    struct recording again = { 0 };
    const struct recording *l = run_recording(x->run, of, &again, x->e);
    bool done = l != NULL;
    if (l) {
        struct run_rank q = recording_rank(l, of->device_row);
        q.waits = of->waits;
        done = use(x, row, &q, to) || error_no_memory(x->e, of->path);
    }
    recording_close(&again);
    return done;
}

static bool explain_rank(const struct run_explaining *x, uint32_t row, const struct run_rank *q, void *unused)
{
    struct step_series s;
    (void)unused;
    return run_rank_series(&s, q, x->mem) && causes_find(x->out, row, &s, q, x->of->top, x->mem) &&
           (row != x->choice->rank || !x->of->look || x->of->look(x->of->context, q));
}

static bool usual_of(const struct run_explaining *x, uint32_t row, const struct run_rank *q, void *to)
{
    (void)row;
    return why_usual(to, q, x->mem);
}

/* The usual steps of the ranks that slow ranks are compared with. */
static bool others_find(const struct run_explaining *x)
{
    bool done = true;
    for (size_t i = 0; i < x->out->n && done; i++) {
        struct explained *f = &x->out->finding[i];
        if (!f->of || f->of->shape != SLOW_ALWAYS || f->of->peer == JUDGE_ALL)
            continue;
        struct step_profile *other = arena_take(x->mem, 1, sizeof *other);
        done = other ? with_rank(x, f->of->peer, usual_of, other) : error_no_memory(x->e, "the answer");
        f->other = other;
    }
    return done;
}

/* The row of a rank's series that the chosen step is; NO_ROW: the rank does not have it. */
static uint32_t chosen_row(const struct run_explaining *x)
{
    const struct judged_run *r = &x->choice->job.run;
    const uint32_t rank = x->choice->rank;
    const struct rank_step *s = r->at[(r->n_ranks == 1 ? 0 : rank) * r->n + x->choice->at];
    return s ? (uint32_t)(s - x->run->rank[rank].step) : NO_ROW;
}

bool run_explain(struct explained_run *out, struct run *run, const struct job_choice *c,
                 const struct explain_request *q, struct arena *mem, struct error *e)
{
    const struct judged_run *r = &c->job.run;
    const struct run_explaining x = { run, c, q, out, mem, e };
    const size_t n_found = run_findings(r), n_most = n_found < q->top ? n_found : q->top;
    *out = (struct explained_run){ .run = r, .finding = arena_take(mem, n_most + 1, sizeof *out->finding) };
    if (!out->finding)
        return error_no_memory(e, "the answer");
    for (size_t i = 0; i < n_most; i++)
        if (r->of.at[i].shape != SLOW_IN_TURNS) {
            struct explained *f = &out->finding[out->n++];
            f->of = &r->of.at[i];
            f->rank = f->of == c->finding || r->n_ranks < run->n ? c->rank : finding_rank(&c->job, f->of);
        }
    if (c->mode == WHY_STEP && !c->finding)
        out->finding[out->n++] = (struct explained){ .rank = c->rank, .step = chosen_row(&x) };
    if (!others_find(&x) || ((out->n > 0 || q->look) && !with_rank(&x, c->rank, explain_rank, NULL)))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (!out->finding[i].is_explained && !with_rank(&x, out->finding[i].rank, explain_rank, NULL))
            return false;
    return true;
}
