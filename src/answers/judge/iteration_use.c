/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/iteration_use.h"

#include "base/process/robust.h"
#include "base/text/stamp.h"

static void class_use_find(struct iteration_class_use *u, enum iteration_class class_of, const struct rank_step *step,
                           size_t n, double *scratch)
{
    double known_ns = 0;
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (step[i].iteration.class_of == class_of) {
            scratch[u->n++] = (double)step[i].time_ns;
            u->time_ns += (double)step[i].time_ns;
            u->tokens += step[i].iteration.tokens;
            known_ns += step[i].iteration.tokens > 0 ? (double)step[i].time_ns : 0;
        }
    u->median_ns = (int64_t)middle_of(scratch, u->n).median;
    for (size_t i = 0; i < n; i++)
        if (step[i].iteration.class_of == class_of && step[i].iteration.requests > 0)
            scratch[n_known++] = (double)step[i].iteration.requests;
    u->requests = n_known > 0 ? (uint64_t)lower_median(scratch, n_known) : 0;
    u->tokens_per_s = known_ns > 0 ? (double)u->tokens * 1e9 / known_ns : 0;
}

bool iteration_use_find(struct iteration_use *out, const struct rank_step *step, size_t n, struct arena *mem)
{
    bool has_class = false;
    double *scratch = arena_take(mem, n, sizeof *scratch);
    *out = (struct iteration_use){ 0 };
    for (size_t i = 0; i < n; i++)
        has_class |= step[i].iteration.class_of != ITERATION_OTHER;
    if (!scratch || !has_class)
        return scratch != NULL;
    int64_t end_ns = step[0].begin_ns;
    for (size_t i = 0; i < n; i++) {
        const int64_t own_end_ns = stamp_add(step[i].begin_ns, step[i].time_ns);
        if (i > 0)
            scratch[i - 1] = step[i].begin_ns > end_ns ? (double)span_ns(end_ns, step[i].begin_ns) : 0;
        out->between_ns += i > 0 ? scratch[i - 1] : 0;
        end_ns = own_end_ns > end_ns ? own_end_ns : end_ns;
    }
    out->n = n;
    out->span_ns = (double)span_ns(step[0].begin_ns, end_ns);
    out->median_between_ns = n > 1 ? (int64_t)middle_of(scratch, n - 1).median : 0;
    for (int c = 0; c < ITERATION_CLASSES; c++) {
        class_use_find(&out->of[c], (enum iteration_class)c, step, n, scratch);
        out->of[c].share = out->span_ns > 0 ? out->of[c].time_ns / out->span_ns : 0;
    }
    return true;
}
