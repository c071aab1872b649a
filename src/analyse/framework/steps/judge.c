/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/judge_ranks.h"
#include "analyse/framework/steps/judge_series.h"
#include "analyse/framework/steps/judging.h"
#include "base/memory/columns.h"
#include "base/process/robust.h"

/* ---- what is usual --------------------------------------------------------------------------------------------- */

struct sized_time {
    double size, ns;
    uint32_t row;
};

static int by_size(const void *a, const void *b)
{
    const struct sized_time *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* What a step of this size usually takes: a line through the medians of slopes between steps that half of all are
 * between. Sizes of which there are some steps have a median of their own. */
static void usual_by_size(struct judging *j, struct sized_time *v, size_t n, double *level)
{
    enum { FEWEST_OF_SIZE = 5 };
    size_t n_slopes = 0;
    qsort(v, n, sizeof *v, by_size);
    for (size_t i = 0; i + n / 2 < n && n > 1; i++)
        if (v[i + n / 2].size > v[i].size)
            j->scratch[n_slopes++] = (v[i + n / 2].ns - v[i].ns) / (v[i + n / 2].size - v[i].size);
    const double slope = middle_of(j->scratch, n_slopes).median;
    for (size_t i = 0; i < n; i++)
        j->scratch[i] = v[i].ns - slope * v[i].size;
    const double base = middle_of(j->scratch, n).median;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].size == v[i].size; end++)
            j->scratch[end - i] = v[end].ns;
        const bool has_own = end - i >= FEWEST_OF_SIZE;
        const double usual = has_own ? middle_of(j->scratch, end - i).median : base + slope * v[i].size;
        for (size_t k = i; k < end; k++)
            level[v[k].row] = usual;
    }
}

/* Takes off what is usual for the class and the size of a step. NAN stays. */
static bool usual_find(struct judging *j, const double *of_step, uint32_t n_classes, double *level)
{
    struct sized_time *v = arena_take(j->spare, j->t->n_steps, sizeof *v);
    for (uint32_t c = 0; v && c < n_classes; c++) {
        size_t n = 0;
        for (uint32_t i = 0; i < j->t->n_steps; i++)
            if (!isnan(of_step[i]) && (!j->t->class_of || j->t->class_of[i] == c))
                v[n++] = (struct sized_time){ j->t->size ? j->t->size[i] : 0, of_step[i], i };
        usual_by_size(j, v, n, level);
    }
    return v != NULL;
}

/* How many steps the start-up may have. */
static size_t startup_most(const struct judging *j)
{
    enum { OF_ALL = 4, MOST = 20 };
    const size_t quarter = j->t->n_steps / OF_ALL > 1 ? j->t->n_steps / OF_ALL : 1;
    return quarter < MOST ? quarter : MOST;
}

/* The leading steps that take longer than the others can by noise. */
static size_t startup_find(struct judging *j)
{
    enum { OF_LARGE = 6, ABOVE = 3 };
    const double p = 0.01;
    const size_t n = j->t->n_steps, most = startup_most(j);
    size_t n_rest = 0, k = 0;
    for (size_t i = most; i < n; i++)
        if (!isnan(j->off[i]))
            j->scratch[n_rest++] = j->off[i];
    if (n < FEWEST_TO_JUDGE || n_rest < 2)
        return 0;
    qsort(j->scratch, n_rest, sizeof *j->scratch, by_falling_number);
    /* Without the largest ones: a slow step later on does not make the start-up usual. */
    const size_t n_left = n_rest > FEWEST_TO_JUDGE ? n_rest / OF_LARGE + 1 : 0;
    const double limit =
        noise_limit(j, j->scratch + n_left, n_rest - n_left, p, (double)(n_rest - n_left), j->out->usual_ns);
    /* It dies down: a step that takes far longer than all before does not belong to the start-up. */
    double longest = 0;
    while (k < most && j->off[k] > limit && (k == 0 || j->off[k] <= ABOVE * longest)) {
        longest = later(longest, j->off[k]);
        k++;
    }
    return k;
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static int by_loss(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    const int x_class = x->shape == SLOW_START_UP ? 2 : x->shape == SLOW_ONCE || x->shape == SLOW_STEPS,
              y_class = y->shape == SLOW_START_UP ? 2 : y->shape == SLOW_ONCE || y->shape == SLOW_STEPS;
    if (x_class != y_class)
        return x_class - y_class;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns < y->lost_ns ? 1 : -1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of each step: what its slowest rank takes; of a part: the median of the ranks. NAN: it is not looked at. */
static void number_of_steps(struct judging *j, uint32_t part, double *out)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < t->n_steps; i++) {
        size_t n = 0, n_own = 0;
        double most = -INFINITY;
        for (size_t r = 0; r < t->n_ranks; r++) {
            const size_t at = r * t->n_steps + i;
            if (t->time_ns[at] < 0)
                continue;
            n_own += !t->is_catch_up || !t->is_catch_up[at];
            j->scratch[n++] = (double)(part == JUDGE_ALL ? t->time_ns[at] : t->part_ns[part][at]);
            most = later(most, j->scratch[n - 1]);
        }
        out[i] = n_own == 0 ? NAN : part == JUDGE_ALL ? most : middle_of(j->scratch, n).median;
    }
}

static bool run_prepare(struct judging *j, uint32_t n_classes)
{
    const size_t n = j->t->n_steps;
    size_t k = 0;
    number_of_steps(j, JUDGE_ALL, j->whole);
    for (size_t i = 0; i < n; i++)
        if (!isnan(j->whole[i]))
            j->scratch[k++] = j->whole[i];
    for (size_t i = 0; i < n; i++) {
        int64_t most_ns = 0;
        for (size_t r = 0; r < j->t->n_ranks; r++)
            most_ns = j->t->time_ns[r * n + i] > most_ns ? j->t->time_ns[r * n + i] : most_ns;
        j->sum_ns += (double)most_ns;
    }
    j->out->usual_ns = middle_of(j->scratch, k).median;
    if (!usual_find(j, j->whole, n_classes, j->level))
        return false;
    for (size_t i = 0; i < n; i++)
        j->off[i] = j->whole[i] - j->level[i];
    j->out->n_startup = startup_find(j);
    if (j->out->n_startup > 0) { /* without it the others may be less */
        k = 0;
        for (size_t i = j->out->n_startup; i < n; i++)
            if (!isnan(j->whole[i]))
                j->scratch[k++] = j->whole[i];
        j->out->usual_ns = middle_of(j->scratch, k).median;
    }
    k = 0;
    for (size_t i = j->out->n_startup; i < n; i++)
        if (!isnan(j->off[i]))
            j->scratch[k++] = j->off[i];
    qsort(j->scratch, k, sizeof *j->scratch, by_falling_number);
    j->out->noise_ns = later(spread_above(j->scratch, k), least_noise(j));
    return true;
}

/* The whole steps first, then the parts. */
static bool steps_judge(struct judging *j, struct judge_one_series *s, uint32_t n_classes)
{
    const struct judge_table *t = j->t;
    double *part = arena_take(j->spare, t->n_steps, sizeof *part),
           *level = arena_take(j->spare, t->n_steps, sizeof *level);
    s->rank = s->part = JUDGE_ALL;
    bool done = part && level && series_look(j, s, j->off, n_classes);
    for (uint32_t p = 0; done && p < t->n_parts; p++) {
        s->part = p;
        number_of_steps(j, p, part);
        done = usual_find(j, part, n_classes, level);
        j->usual_part[p] = done ? judging_median(j, level, t->n_steps) : 0;
        for (size_t i = 0; i < t->n_steps; i++)
            part[i] -= level[i];
        done = done && series_look(j, s, part, n_classes);
    }
    return done;
}

static int by_first(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Single steps at equal distances, none of which is missing from the first to the end of the run, are a period. */
static void singles_join(struct judging *j)
{
    enum { FEWEST_OF_PERIOD = 3 };
    struct slow *v = j->found.at;
    size_t n = 0, first = 0;
    if (j->found.n > 0)
        qsort(v, j->found.n, sizeof *v, by_first);
    double lost_ns = 0;
    uint32_t period = 0, last = 0;
    bool is_period = true;
    for (size_t i = 0; i < j->found.n; i++) {
        if (v[i].shape != SLOW_ONCE)
            continue;
        is_period = is_period && (n < 2 || v[i].first - last == period);
        period = n == 1 ? v[i].first - last : period;
        first = n == 0 ? i : first;
        last = v[i].first;
        lost_ns += v[i].lost_ns;
        n++;
    }
    if (n < FEWEST_OF_PERIOD || !is_period || period < 2 || last + period < j->t->n_steps ||
        v[first].first >= j->out->n_startup + period)
        return;
    struct slow joined = v[first];
    joined.shape = SLOW_PERIOD;
    joined.period = period;
    joined.last = last;
    joined.n = (uint32_t)n;
    joined.lost_ns = lost_ns;
    joined.excess_ns = lost_ns / (double)n;
    joined.share = j->sum_ns > 0 ? lost_ns / j->sum_ns : 0;
    size_t kept = 0;
    for (size_t i = 0; i < j->found.n; i++)
        if (v[i].shape != SLOW_ONCE)
            v[kept++] = v[i];
    v[kept++] = joined;
    j->found.n = kept;
}

/* What only the first steps have more of is start-up, too, where it shows in a part of them alone. */
static void startup_join(struct judging *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->found.n; i++) {
        const struct slow *f = &j->found.at[i];
        if ((f->shape == SLOW_ONCE || f->shape == SLOW_STEPS) && f->first == 0 && f->last < startup_most(j)) {
            j->out->n_startup = f->last + 1 > j->out->n_startup ? f->last + 1 : j->out->n_startup;
        } else {
            j->found.at[kept++] = *f;
        }
    }
    j->found.n = kept;
}

static void startup_add(struct judging *j)
{
    const size_t n = j->out->n_startup;
    struct slow *f = n > 0 ? list_add(&j->found, j->spare) : NULL;
    if (!f)
        return;
    *f = (struct slow){ .shape = SLOW_START_UP,
                        .rank = JUDGE_ALL,
                        .peer = JUDGE_ALL,
                        .part = JUDGE_ALL,
                        .last = (uint32_t)n - 1,
                        .n = (uint32_t)n,
                        .noise_ns = j->out->noise_ns };
    for (size_t i = 0; i < n; i++)
        f->lost_ns += later(0, j->off[i]);
    f->excess_ns = f->lost_ns / (double)n;
    f->share = j->sum_ns > 0 ? f->lost_ns / j->sum_ns : 0;
}

/* What is usual, now that it is known which steps are not; and how much longer than that the others take. */
static void findings_settle(struct judging *j)
{
    const struct judgement *out = j->out;
    size_t k = 0;
    for (size_t i = out->n_startup; i < j->t->n_steps; i++)
        if (!out->is_slow[i] && !isnan(j->whole[i]))
            j->scratch[k++] = j->whole[i];
    if (k == 0)
        return;
    j->out->usual_ns = middle_of(j->scratch, k).median;
    for (size_t f = 0; f < out->n; f++) {
        struct slow *x = &out->at[f];
        if ((x->rank != JUDGE_ALL && j->t->n_ranks > 1) || j->t->class_of || j->t->size ||
            (x->shape > SLOW_SINCE && x->shape != SLOW_PERIOD))
            continue;
        k = 0;
        for (uint32_t i = x->first; i <= x->last; i++)
            if (slow_contains(x, i) && !isnan(j->whole[i]))
                j->scratch[k++] = j->whole[i];
        const double more_ns = middle_of(j->scratch, k).median - j->out->usual_ns;
        if (more_ns < x->excess_ns / 2)
            continue;
        x->excess_ns = more_ns;
        x->lost_ns = more_ns * (double)x->n;
        x->share = j->sum_ns > 0 ? x->lost_ns / j->sum_ns : 0;
    }
}

static bool run_hand_over(struct judging *j, struct arena *mem)
{
    struct judgement *out = j->out;
    out->n = j->found.n;
    out->at = arena_take(mem, out->n, sizeof *out->at);
    out->is_slow = arena_take(mem, j->t->n_steps, sizeof *out->is_slow);
    out->is_once = arena_take(mem, j->t->n_steps, sizeof *out->is_once);
    if (!out->at || !out->is_slow || !out->is_once)
        return false;
    if (out->n > 0)
        memcpy(out->at, j->found.at, out->n * sizeof *out->at);
    for (size_t i = 0; i < out->n; i++) {
        const struct slow *f = &out->at[i];
        const bool is_once = f->shape == SLOW_ONCE || f->shape == SLOW_STEPS,
                   is_of_steps = is_once || f->shape == SLOW_SINCE || f->shape == SLOW_PERIOD;
        for (uint32_t s = f->first; s <= f->last; s++) {
            out->is_slow[s] |= is_of_steps && slow_concerns(j, f, s);
            out->is_once[s] |= is_once && slow_concerns(j, f, s);
        }
    }
    for (size_t i = 0; i < j->t->n_steps; i++)
        out->n_slow += out->is_slow[i];
    findings_settle(j);
    if (out->n > 0)
        qsort(out->at, out->n, sizeof *out->at, by_loss);
    return true;
}

bool judge(struct judgement *out, const struct judge_table *t, struct arena *mem)
{
    const size_t n = t->n_steps, n_scratch = n > t->n_ranks ? n : t->n_ranks;
    struct judging j = { .t = t, .out = out, .spare = arena_new() };
    struct judge_one_series s = { 0 };
    uint32_t n_classes = 1;
    bool done = j.spare != NULL;
    *out = (struct judgement){ 0 };
    if (done) {
        arena_columns(j.spare, n, j.whole, j.off, j.level, j.is_in);
        j.usual_part = arena_take(j.spare, t->n_parts, sizeof *j.usual_part);
        j.scratch = arena_take(j.spare, n_scratch + 1, sizeof *j.scratch);
        j.sorted = arena_take(j.spare, n + 1, sizeof *j.sorted);
        done = !arena_failed(j.spare);
    }
    for (size_t i = 0; t->class_of && i < n; i++)
        n_classes = t->class_of[i] >= n_classes ? t->class_of[i] + 1 : n_classes;
    const bool has_ranks = t->n_ranks > 1 && t->own_ns;
    uint32_t own_parts = 0;
    for (uint32_t p = 0; p < t->n_parts; p++)
        own_parts += !(t->waiting_parts >> p & 1);
    j.n_series = (double)n_classes * (1 + (double)t->n_parts + (has_ranks ? (double)t->n_ranks * (1 + own_parts) : 0));
    if (done && n > 0 && t->n_ranks > 0)
        done = run_prepare(&j, n_classes) && steps_judge(&j, &s, n_classes) &&
               (!has_ranks || ranks_look(&j, &s, n_classes));
    if (done) {
        singles_join(&j);
        startup_join(&j);
        startup_add(&j);
    }
    done = done && !arena_failed(j.spare) && run_hand_over(&j, mem);
    arena_free(j.spare);
    return done;
}

bool judge_series(struct judgement *out, const int64_t *time_ns, size_t n, struct arena *mem)
{
    return judge(out, &(struct judge_table){ .n_steps = n, .n_ranks = 1, .time_ns = time_ns }, mem);
}
