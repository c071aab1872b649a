/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/stage_judge.h"

#include <math.h>
#include <string.h>

#include "base/process/robust.h"

double finding_more_kernels(const struct slow *f, const double *kernels)
{
    if (f->shape != SLOW_ALWAYS || f->peer == JUDGE_ALL)
        return NAN;
    return kernels[f->rank] > 0 && kernels[f->peer] > 0 ? kernels[f->rank] / kernels[f->peer] - 1 : NAN;
}

void stages_excuse(struct judged_run *r, const struct stages *s, const double *kernels)
{
    struct judgement *of = &r->of;
    size_t n = 0;
    for (size_t i = 0; i < of->n; i++) {
        const struct slow *f = &of->at[i];
        const bool has_more = f->shape == SLOW_ALWAYS && s->n > 1 && r->rank[f->rank].peers == NO_STAGE &&
                              finding_more_kernels(f, kernels) > AS_MANY_KERNELS;
        if (!has_more)
            of->at[n++] = *f;
    }
    of->n = n;
}

/* The steps of a stage as if it were a rank that only computes: the lower median of its ranks, so that one slow rank
 * makes no slow stage. */
static bool stage_steps(const struct judged_run *r, const uint32_t *rank, size_t n, double *scratch,
                        struct judged_rank *out, struct arena *mem)
{
    struct rank_step *const step = arena_take(mem, r->n, sizeof *step);
    if (!step)
        return false;
    out->step = step;
    for (size_t i = 0; i < r->n; i++) {
        struct rank_step *const to = &step[out->n];
        size_t k = 0;
        for (size_t m = 0; m < n; m++) {
            const struct rank_step *const s = r->at[rank[m] * r->n + i];
            if (!s)
                continue;
            scratch[k++] = (double)s->part_ns[JUDGED_COMPUTING];
            to->time_ns = s->time_ns > to->time_ns ? s->time_ns : to->time_ns;
        }
        if (k == 0)
            continue;
        to->name = r->step[i];
        to->begin_ns = (int64_t)i;
        to->part_ns[JUDGED_COMPUTING] = (int64_t)lower_median(scratch, k);
        to->part_ns[JUDGED_EXPOSED] = to->time_ns - to->part_ns[JUDGED_COMPUTING];
        out->n++;
    }
    return true;
}

static bool is_slow_rank(const struct judged_run *r, uint32_t rank)
{
    for (size_t i = 0; i < r->of.n; i++)
        if (r->of.at[i].shape == SLOW_ALWAYS && r->of.at[i].rank == rank)
            return true;
    return false;
}

bool stages_judge(struct judged_stages *out, const struct judged_run *r, const struct stages *s, const int64_t *number,
                  struct arena *mem)
{
    const size_t n_ranks = r->n_ranks;
    struct judged_rank *const stage = arena_take(mem, n_ranks, sizeof *stage);
    uint32_t *const of = arena_take(mem, n_ranks, sizeof *of);
    double *const scratch = arena_take(mem, n_ranks, sizeof *scratch);
    size_t n = 0;
    *out = (struct judged_stages){ .first = arena_take(mem, n_ranks, sizeof *out->first) };
    bool done = stage && of && scratch && out->first;
    for (uint32_t i = 0; i < n_ranks && s->n > 1 && done; i++) {
        const uint32_t own = r->rank[i].peers;
        size_t k = 0;
        for (uint32_t m = own == NO_STAGE ? i : 0; m < n_ranks && (own != NO_STAGE || m == i); m++)
            if (r->rank[m].peers == own)
                of[k++] = m;
        if (of[0] != i || own == HOST_PEERS || (own == NO_STAGE && is_slow_rank(r, i)))
            continue;
        out->first[n] = i;
        stage[n].name = arena_printf(mem, "the stage of rank %lld", (long long)number[i]);
        done = stage[n].name && stage_steps(r, of, k, scratch, &stage[n], mem);
        n++;
    }
    return done && (n < 2 || run_judge(&out->run, stage, n, "step", false, mem));
}
