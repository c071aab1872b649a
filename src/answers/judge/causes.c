/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/causes.h"

/* The steps of a finding on its rank, at most MOST_ROWS; without one the step that was asked for. */
static struct why_rows rows_of(const struct judged_run *r, const struct explained *f, struct arena *mem)
{
    enum { MOST_ROWS = 64 };
    uint32_t *row = arena_take(mem, MOST_ROWS, sizeof *row);
    size_t n = 0;
    if (row && f->of) {
        n = run_finding_rows(r, r->n_ranks == 1 ? 0 : f->rank, f->of, row, MOST_ROWS);
    } else if (row && f->step != NO_ROW) {
        row[0] = f->step;
        n = 1;
    }
    return (struct why_rows){ row, n, f->of ? run_finding_without(f->of) : 0 };
}

bool causes_find(struct explained_run *x, uint32_t rank, const struct step_series *s, const struct run_rank *q,
                 size_t most, struct arena *mem)
{
    struct why_rows *set = arena_take(mem, x->n, sizeof *set);
    struct why_answer *answer = arena_take(mem, x->n, sizeof *answer);
    size_t n = 0;
    if (!set || !answer)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (x->finding[i].rank == rank && !x->finding[i].other)
            set[n++] = rows_of(x->run, &x->finding[i], mem);
    if (n > 0 && !why_steps(answer, s, q, set, n, most, mem)) /* in one pass */
        return false;
    n = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct explained *f = &x->finding[i];
        if (f->rank != rank)
            continue;
        if (!f->other)
            f->answer = answer[n++];
        else if (!why_rank(&f->answer, q, f->other, most, mem))
            return false;
        f->is_explained = true;
    }
    return !arena_failed(mem);
}

bool causes_of_series(struct explained_run *out, struct judged_run *run, const struct step_series *s,
                      const struct run_rank *q, size_t most, struct arena *mem)
{
    *out = (struct explained_run){ .run = run };
    if (!run_judge_series(run, s, q->names, mem))
        return false;
    const size_t n = run_findings(run);
    out->n = n < most ? n : most;
    out->finding = arena_take(mem, out->n, sizeof *out->finding);
    for (size_t i = 0; out->finding && i < out->n; i++)
        out->finding[i].of = &run->of.at[i];
    return out->finding && causes_find(out, 0, s, q, most, mem);
}

const struct explained *causes_of(const struct explained_run *x, const struct slow *f)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->finding[i].of == f && x->finding[i].is_explained)
            return &x->finding[i];
    return NULL;
}

const char *causes_text(const struct explained_run *x, const struct slow *f)
{
    const struct explained *of = causes_of(x, f);
    return of ? of->answer.because : NULL;
}
