/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_shares.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/step_series.h"
#include "base/text/stamp.h"

static void widen(struct step_share *t, int64_t begin_ns, int64_t end_ns)
{
    t->begin_ns = begin_ns < t->begin_ns ? begin_ns : t->begin_ns;
    t->end_ns = end_ns > t->end_ns ? end_ns : t->end_ns;
}

struct step_shares_sorting {
    const struct profiler_steps *s;
    const struct names *names;
};

/* "10" after "9"; what is no number comes last. */
static uint64_t step_shares_number_of(const struct step_shares_sorting *s, const struct step_share *t)
{
    if (t->step == NO_ROW)
        return 0;
    char *end;
    const char *text = names_text(s->names, s->s->id[t->step]);
    const uint64_t number = strtoull(text, &end, 10);
    return *text && !*end ? number : UINT64_MAX;
}

static int step_shares_by_number(const void *a, const void *b, void *context)
{
    const struct step_share *x = a, *y = b;
    const uint64_t m = step_shares_number_of(context, x), n = step_shares_number_of(context, y);
    return m != n ? (m < n ? -1 : 1) : x->step < y->step ? -1 : x->step > y->step;
}

bool step_shares_build(const struct profiler_steps *s, const struct step_index *x, const struct step_work *w,
                       const struct names *names, struct arena *mem, struct step_share **out, size_t *n)
{
    const size_t n_all = x->n > 0 ? s->n : 1;
    struct step_share *all = arena_take(mem, n_all, sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < n_all; i++)
        all[i] =
            (struct step_share){ .step = x->n > 0 ? (uint32_t)i : NO_ROW, .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
    for (int kind = 0; kind < OVERLAP_KINDS; kind++) {
        const struct intervals *v = &w->overlap->kind[kind];
        for (size_t i = 0; i < v->n; i++) {
            const uint32_t step = x->n > 0 ? step_index_at(x, v->begin_ns[i]) : 0;
            if (step == NO_ROW)
                continue;
            struct step_share *t = &all[step];
            widen(t, v->begin_ns[i], v->end_ns[i]);
            t->sum_ns[kind] = wrap_add(t->sum_ns[kind], wrap_sub(v->end_ns[i], v->begin_ns[i]));
            t->has[kind] = true;
            if (kind != OVERLAP_COMPUTING && kind != OVERLAP_COMMUNICATION)
                continue;
            t->first_ns = t->has_first && t->first_ns < v->begin_ns[i] ? t->first_ns : v->begin_ns[i];
            t->has_first = true;
        }
    }
    for (size_t i = 0; i < w->n_receives; i++) {
        const uint32_t step = x->n > 0 ? step_index_at(x, w->receive_begin_ns[i]) : 0;
        if (step == NO_ROW)
            continue;
        widen(&all[step], w->receive_begin_ns[i], w->receive_end_ns[i]);
        all[step].receive_ns = wrap_add(all[step].receive_ns, wrap_sub(w->receive_end_ns[i], w->receive_begin_ns[i]));
        all[step].has_receive = true;
    }
    *n = 0;
    for (size_t i = 0; i < n_all; i++)
        if (all[i].begin_ns <= all[i].end_ns)
            all[(*n)++] = all[i];
    if (*n > 0)
        qsort_r(all, *n, sizeof *all, step_shares_by_number, &(struct step_shares_sorting){ s, names });
    *out = all;
    return true;
}

static bool is_another(const struct step_share *t, const struct step_series *s, size_t i)
{
    enum { LEAST = 100 }; /* a hundredth of the step */
    const int64_t both_ns = s->part_ns[STEP_OVERLAPPED][i], exposed_ns = s->part_ns[STEP_COMMUNICATION][i];
    const int64_t ns[] = { [OVERLAP_COMPUTING] = s->part_ns[STEP_COMPUTING][i] + both_ns,
                           [OVERLAP_COMMUNICATION] = exposed_ns + both_ns,
                           [OVERLAP_EXPOSED] = exposed_ns };
    bool is = false;
    for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
        is |= t->sum_ns[k] > stamp_add(ns[k], s->time_ns[i] / LEAST) || t->sum_ns[k] < ns[k] - s->time_ns[i] / LEAST;
    return is;
}

bool step_shares_differ(struct shares_difference *out, const struct collection *c, const struct device *d,
                        const struct step_series *s, struct arena *mem)
{
    struct step_index index;
    struct step_share *share;
    size_t n;
    *out = (struct shares_difference){ 0 };
    if (s->is_whole || s->n == 0)
        return true;
    if (!step_index_build(&index, &c->steps, mem) ||
        !step_shares_build(&c->steps, &index, &(struct step_work){ .overlap = &d->overlap }, c->profile.names, mem,
                           &share, &n))
        return false;
    struct step_share **of_step = arena_take(mem, s->n, sizeof *of_step);
    if (!of_step)
        return false;
    for (size_t k = 0; k < n; k++)
        if (share[k].step < s->n)
            of_step[share[k].step] = &share[k];
    for (size_t i = 0; i < s->n; i++) {
        const bool is_busy = s->time_ns[i] > s->part_ns[STEP_FREE][i];
        if (is_busy &&
            (!of_step[i] || of_step[i]->sum_ns[OVERLAP_COMPUTING] + of_step[i]->sum_ns[OVERLAP_EXPOSED] == 0))
            out->n_lacking++;
        else if (of_step[i] && is_another(of_step[i], s, i))
            out->n_others++;
    }
    return true;
}

int64_t step_preparing_ns(const struct step_share *t, const struct profiler_steps *s, const struct framework_ops *o)
{
    if (!t->has_first || (t->step == NO_ROW && o->n == 0))
        return 0;
    int64_t from_ns = t->step == NO_ROW ? INT64_MAX : s->host_begin_ns[t->step];
    for (size_t i = 0; t->step == NO_ROW && i < o->n; i++)
        from_ns = o->begin_ns[i] < from_ns ? o->begin_ns[i] : from_ns;
    return wrap_sub(t->first_ns, from_ns);
}

bool step_receives(struct step_work *w, const struct device *d, const struct names *names, struct arena *mem)
{
    static const char prefix[] = "hcom_receive";
    const struct comm_ops *o = &d->comm.ops;
    int64_t *begin_ns = arena_take(mem, o->n, sizeof *begin_ns), *end_ns = arena_take(mem, o->n, sizeof *end_ns);
    if (!begin_ns || !end_ns)
        return false;
    w->n_receives = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (!o->is_shown[i] || strncmp(names_text(names, o->name[i]), prefix, sizeof prefix - 1) != 0)
            continue;
        begin_ns[w->n_receives] = o->begin_ns[i];
        end_ns[w->n_receives++] = o->end_ns[i];
    }
    w->receive_begin_ns = begin_ns;
    w->receive_end_ns = end_ns;
    return true;
}
