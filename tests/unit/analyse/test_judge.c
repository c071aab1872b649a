/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/framework/steps/judge.h"

enum { MOST_STEPS = 40, MOST_RANKS = 4, MOST_FOUND = 4 };

/* Times in ms, one line for each rank, and what is found: shape, rank, first, last, period. */
struct case_row {
    const char *what;
    size_t n_ranks, n;
    double ms[MOST_RANKS][MOST_STEPS];
    size_t n_found;
    struct slow found[MOST_FOUND];
};

#define ALL UINT32_MAX

/* Small differences that no step of a real run is without. */
static double jitter(size_t i)
{
    return 0.01 * (double)(i * 7 % 5);
}

static struct judgement judged(const double *ms, size_t n_ranks, size_t n, size_t stride, struct arena *mem)
{
    int64_t *time_ns = arena_take(mem, n_ranks * n, sizeof *time_ns),
            *own_ns = arena_take(mem, n_ranks * n, sizeof *own_ns);
    for (size_t s = 0; s < n; s++) {
        double most = 0;
        for (size_t r = 0; r < n_ranks; r++)
            most = fmax(most, ms[r * stride + s]);
        for (size_t r = 0; r < n_ranks; r++) {
            own_ns[r * n + s] = (int64_t)(1e6 * ms[r * stride + s]);
            time_ns[r * n + s] = (int64_t)(1e6 * (most + 1)); /* the fast ones wait */
        }
    }
    struct judgement out;
    assert_true(judge(
        &out, &(struct judge_table){ .n_steps = n, .n_ranks = n_ranks, .time_ns = time_ns, .own_ns = own_ns }, mem));
    return out;
}

static void shapes_are_named(void **state)
{
    static const struct case_row row[] = {
        { "equal steps", 1, 6, { { 10, 10, 10, 10, 10, 10 } }, 0, { { 0 } } },
        { "of two steps none is slow", 1, 2, { { 10, 30 } }, 0, { { 0 } } },
        { "one of three", 1, 3, { { 10, 10, 28 } }, 1, { { .shape = SLOW_ONCE, .rank = ALL, .first = 2, .last = 2 } } },
        { "the first step is start-up",
          1,
          6,
          { { 30, 10, 10, 10, 10, 10 } },
          1,
          { { .shape = SLOW_START_UP, .rank = ALL } } },
        { "a first step that shows when a change of regime is known",
          1,
          19,
          { { 342, 264, 265, 296, 288, 380, 410, 427, 431, 444, 429, 406, 396, 278, 293, 269, 268, 258, 275 } },
          1,
          { { .shape = SLOW_STEPS, .rank = ALL, .first = 5, .last = 12 } } },
        { "a slow step behind the start-up, which is far shorter",
          1,
          16,
          { { 15, 13, 12, 60, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 } },
          2,
          { { .shape = SLOW_ONCE, .rank = ALL, .first = 3, .last = 3 },
            { .shape = SLOW_START_UP, .rank = ALL, .last = 2 } } },
        { "four times the usual, and others that take some more",
          1,
          19,
          { { 9.4, 8.6, 8.2, 8.0, 8.2, 8.2, 38, 10.6, 11.2, 8.7, 8.2, 8.2, 8.1, 8.4, 8.2, 9.4, 13, 8.2, 8.2 } },
          1,
          { { .shape = SLOW_ONCE, .rank = ALL, .first = 6, .last = 6 } } },
        { "a slow step beside one that is far slower",
          1,
          12,
          { { 10, 10, 10, 10, 10, 14, 90, 10, 10, 10, 10, 10 } },
          2,
          { { .shape = SLOW_ONCE, .rank = ALL, .first = 6, .last = 6 },
            { .shape = SLOW_ONCE, .rank = ALL, .first = 5, .last = 5 } } },
        { "a slow step beside the start-up, which is larger",
          1,
          8,
          { { 90, 10, 10, 10, 20, 10, 10, 10 } },
          2,
          { { .shape = SLOW_ONCE, .rank = ALL, .first = 4, .last = 4 }, { .shape = SLOW_START_UP, .rank = ALL } } },
        { "two steps together",
          1,
          10,
          { { 10, 10, 10, 10, 20, 20, 10, 10, 10, 10 } },
          1,
          { { .shape = SLOW_STEPS, .rank = ALL, .first = 4, .last = 5 } } },
        { "since a step",
          1,
          10,
          { { 10, 10, 10, 10, 10, 12, 12, 12, 12, 12 } },
          1,
          { { .shape = SLOW_SINCE, .rank = ALL, .first = 5, .last = 9 } } },
        { "every fourth",
          1,
          13,
          { { 10, 10, 14, 10, 10, 10, 14, 10, 10, 10, 14, 10, 10 } },
          1,
          { { .shape = SLOW_PERIOD, .rank = ALL, .first = 2, .last = 10, .period = 4 } } },
        { "every fourth, by far more than the others vary",
          1,
          19,
          { { 7.6, 7.3, 7.3, 18.9, 8.4, 12.2, 8.9, 17.3, 8.9, 9, 9.3, 17.4, 8.5, 8.8, 11.6, 22.1, 9.1, 9, 9.9 } },
          1,
          { { .shape = SLOW_PERIOD, .rank = ALL, .first = 3, .last = 15, .period = 4 } } },
        { "a drift",
          1,
          12,
          { { 10, 10.3, 10.6, 10.9, 11.2, 11.5, 11.8, 12.1, 12.4, 12.7, 13, 13.3 } },
          1,
          { { .shape = SLOW_DRIFT, .rank = ALL, .first = 0, .last = 11 } } },
        { "7 % in each step, of two ranks",
          2,
          8,
          { { 10, 10, 10, 10, 10, 10, 10, 10 }, { 10.7, 10.7, 10.7, 10.7, 10.7, 10.7, 10.7, 10.7 } },
          1,
          { { .shape = SLOW_ALWAYS, .rank = 1, .first = 0, .last = 7 } } },
        { "one bad step does not make a slow rank",
          2,
          8,
          { { 10, 10, 10, 10, 10, 10, 10, 10 }, { 10, 10, 10, 10, 30, 10, 10, 10 } },
          1,
          { { .shape = SLOW_ONCE, .rank = 1, .first = 4, .last = 4 } } },
        { "a slow rank is named before a pause of another one",
          3,
          8,
          { { 10, 10, 10, 10, 10, 10, 10, 10 },
            { 12, 12, 12, 12, 12, 12, 12, 12 },
            { 10, 10, 10, 10, 60, 10, 10, 10 } },
          2,
          { { .shape = SLOW_ALWAYS, .rank = 1, .first = 0, .last = 7 },
            { .shape = SLOW_ONCE, .rank = 2, .first = 4, .last = 4 } } },
        { "another rank in each step",
          4,
          8,
          { { 13, 10, 10, 10, 13, 10, 10, 10 },
            { 10, 13, 10, 10, 10, 13, 10, 10 },
            { 10, 10, 13, 10, 10, 10, 13, 10 },
            { 10, 10, 10, 13, 10, 10, 10, 13 } },
          1,
          { { .shape = SLOW_IN_TURNS, .rank = ALL, .first = 0, .last = 7 } } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct case_row *c = &row[i];
        double ms[MOST_RANKS][MOST_STEPS];
        struct arena *mem = arena_new();
        print_message("  %s\n", c->what);
        for (size_t r = 0; r < c->n_ranks; r++)
            for (size_t s = 0; s < c->n; s++)
                ms[r][s] = c->ms[r][s] + jitter(r * 3 + s);
        const struct judgement j = judged(&ms[0][0], c->n_ranks, c->n, MOST_STEPS, mem);
        assert_int_equal(j.n, c->n_found);
        for (size_t k = 0; k < j.n; k++) {
            assert_int_equal(j.at[k].shape, c->found[k].shape);
            assert_int_equal(j.at[k].rank, c->found[k].rank);
            assert_int_equal(j.at[k].first, c->found[k].first);
            assert_int_equal(j.at[k].last, c->found[k].last);
            assert_int_equal(j.at[k].period, c->found[k].period);
        }
        arena_free(mem);
    }
    (void)state;
}

/* Whole steps vary too much to show that every sixth one computes longer; computing does not. */
static void a_part_shows_a_period(void **state)
{
    static const double ms[] = { 15.7, 17.9, 19.4, 19.2, 20.6, 18.1, 18.4, 21.4, 20.5, 22.1, 25.9, 19.9,
                                 18.2, 22.3, 19,   18.6, 18.7, 19.3, 20.2, 22.2, 21.2, 20.5, 19.6, 18 },
                        computing_us[] = { 1352, 3018, 1359, 1359, 1357, 1360, 1361, 3034, 1358, 1362, 1353, 1358,
                                           1355, 3032, 1358, 1362, 1365, 1364, 1363, 3034, 1358, 1356, 1358, 1355 };
    enum { N = ROWS(ms), FIRST = 1, PERIOD = 6 };
    struct arena *mem = arena_new();
    int64_t time_ns[N], computing_ns[N];
    for (size_t i = 0; i < N; i++) {
        computing_ns[i] = (int64_t)(1e3 * computing_us[i]);
        time_ns[i] = (int64_t)(1e6 * ms[i]);
    }
    const int64_t *const part[] = { computing_ns };
    struct judgement out;
    assert_true(judge(
        &out, &(struct judge_table){ .n_steps = N, .n_ranks = 1, .time_ns = time_ns, .n_parts = 1, .part_ns = part },
        mem));
    assert_int_equal(out.n, 1);
    assert_int_equal(out.at[0].shape, SLOW_PERIOD);
    assert_int_equal(out.at[0].first, FIRST);
    assert_int_equal(out.at[0].period, PERIOD);
    assert_int_equal(out.at[0].n, 4);
    arena_free(mem);
    (void)state;
}

/* Most steps are short, because the device works off what was launched during the long one. They are not what is usual. */
static void steps_that_catch_up_are_not_usual(void **state)
{
    static const double ms[] = { 6.1, 6, 6.2, 6, 6.1, 178, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8 };
    int64_t time_ns[ROWS(ms)];
    bool is_catch_up[ROWS(ms)];
    struct arena *mem = arena_new();
    for (size_t i = 0; i < ROWS(ms); i++) {
        time_ns[i] = (int64_t)(1e6 * ms[i]);
        is_catch_up[i] = i > 5;
    }
    struct judgement out;
    assert_true(judge(
        &out,
        &(struct judge_table){ .n_steps = ROWS(ms), .n_ranks = 1, .time_ns = time_ns, .is_catch_up = is_catch_up },
        mem));
    assert_int_equal(out.n, 1);
    assert_int_equal(out.at[0].shape, SLOW_ONCE);
    assert_int_equal(out.at[0].first, 5);
    assert_int_equal((int)(out.usual_ns / 1e5), 61);
    arena_free(mem);
    (void)state;
}

/* ---- how often it is right: planted faults in noise -------------------------------------------------------------- */

struct noise {
    uint64_t state;
    double before; /* of steps that depend on each other */
};

static double uniform(struct noise *n)
{
    n->state = n->state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(n->state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct noise *n)
{
    return sqrt(-2 * log(uniform(n))) * cos(2 * M_PI * uniform(n));
}

/* A fault: how much more a step takes, in parts of a usual one. */
struct planted {
    const char *what;
    enum slow_shape shape; /* SLOW_SHAPES: healthy */
    size_t n_ranks, n_steps;
    double noise, depends, tail, more; /* tail: how far the largest numbers of the noise lie out, 0: as normal ones */
    double least,
        most; /* share of runs in which it is found, as what it is, in its place; of healthy ones, in which something
                 is */
};

static double planted_at(const struct planted *p, size_t rank, size_t step)
{
    const bool is_here = p->shape == SLOW_ONCE     ? step == p->n_steps / 2
                         : p->shape == SLOW_STEPS  ? step >= p->n_steps / 3 && step < p->n_steps / 3 + 5
                         : p->shape == SLOW_SINCE  ? step >= p->n_steps / 2
                         : p->shape == SLOW_PERIOD ? step % 6 == 3
                         : p->shape == SLOW_ALWAYS ? rank == 1
                                                   : p->shape == SLOW_DRIFT;
    return is_here ? p->more * (p->shape == SLOW_DRIFT ? 2 * (double)step / (double)p->n_steps : 1) : 0;
}

static bool is_found(const struct planted *p, const struct judgement *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (p->shape == SLOW_SHAPES ? j->at[i].shape != SLOW_START_UP
                                    : j->at[i].shape == p->shape && (p->shape != SLOW_ALWAYS || j->at[i].rank == 1) &&
                                          (p->shape != SLOW_ONCE || j->at[i].first == p->n_steps / 2))
            return true;
    return false;
}

static double share_found(const struct planted *p, size_t n_runs)
{
    size_t n = 0;
    struct noise of = { .state = 1 };
    for (size_t run = 0; run < n_runs; run++) {
        struct arena *mem = arena_new();
        double *ms = arena_take(mem, p->n_ranks * p->n_steps, sizeof *ms);
        for (size_t r = 0; r < p->n_ranks; r++)
            for (size_t s = 0; s < p->n_steps; s++) {
                of.before = p->depends * of.before + sqrt(1 - p->depends * p->depends) * normal(&of);
                const double x = of.before * (p->tail > 0 ? exp(p->tail * normal(&of)) : 1);
                ms[r * p->n_steps + s] = 10 * (1 + p->noise * (p->tail > 0 ? fabs(x) : x) + planted_at(p, r, s));
            }
        const struct judgement j = judged(ms, p->n_ranks, p->n_steps, p->n_steps, mem);
        n += is_found(p, &j);
        arena_free(mem);
    }
    return (double)n / (double)n_runs;
}

static void faults_above_the_noise_are_found_and_nothing_else(void **state)
{
    static const struct planted row[] = {
        { "healthy, 3 steps, 3 %", SLOW_SHAPES, 1, 3, 0.03, 0, 0, 0, 0, 0.02 },
        { "healthy, 5 steps, 10 %", SLOW_SHAPES, 1, 5, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 8 steps, 10 %", SLOW_SHAPES, 1, 8, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 5 steps that depend on each other", SLOW_SHAPES, 1, 5, 0.03, 0.5, 0, 0, 0, 0.02 },
        { "healthy, 6 steps, long tail", SLOW_SHAPES, 1, 6, 0.05, 0, 0.6, 0, 0, 0.05 },
        { "healthy, 8 ranks of 6 steps", SLOW_SHAPES, 8, 6, 0.03, 0, 0, 0, 0, 0.02 },
        { "healthy, 8 ranks of 6 steps that depend on each other", SLOW_SHAPES, 8, 6, 0.03, 0.5, 0, 0, 0, 0.03 },
        { "healthy, 16 ranks of 2 steps", SLOW_SHAPES, 16, 2, 0.03, 0, 0, 0, 0, 0.02 },
        { "healthy, 4 ranks of 2 steps, 10 %", SLOW_SHAPES, 4, 2, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 4 ranks of 3 steps, 10 %", SLOW_SHAPES, 4, 3, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 8 ranks of 6 steps, 10 %", SLOW_SHAPES, 8, 6, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 4 ranks of 6 steps, each much like the one before", SLOW_SHAPES, 4, 6, 0.03, 0.7, 0, 0, 0, 0.02 },
        { "healthy, 20 steps, 1 %", SLOW_SHAPES, 1, 20, 0.01, 0, 0, 0, 0, 0.02 },
        { "healthy, 20 steps, 10 %", SLOW_SHAPES, 1, 20, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 200 steps, 3 %", SLOW_SHAPES, 1, 200, 0.03, 0, 0, 0, 0, 0.02 },
        { "healthy, 100 steps that depend on each other", SLOW_SHAPES, 1, 100, 0.03, 0.5, 0, 0, 0, 0.03 },
        { "healthy, 24 steps, each much like the one before", SLOW_SHAPES, 1, 24, 0.03, 0.7, 0, 0, 0, 0.04 },
        { "healthy, 50 steps, each much like the one before", SLOW_SHAPES, 1, 50, 0.03, 0.7, 0, 0, 0, 0.03 },
        { "healthy, 8 ranks", SLOW_SHAPES, 8, 30, 0.03, 0, 0, 0, 0, 0.02 },
        { "healthy, 8 ranks whose steps depend on each other", SLOW_SHAPES, 8, 30, 0.03, 0.5, 0, 0, 0, 0.03 },
        { "healthy, 2 ranks of 10 steps", SLOW_SHAPES, 2, 10, 0.1, 0, 0, 0, 0, 0.02 },
        { "healthy, 20 steps, long tail", SLOW_SHAPES, 1, 20, 0.05, 0, 0.6, 0, 0, 0.17 },
        { "healthy, 100 steps, long tail", SLOW_SHAPES, 1, 100, 0.05, 0, 0.6, 0, 0, 0.15 },
        { "one step of 3, twice as long", SLOW_ONCE, 1, 3, 0.03, 0, 0, 1, 0.95, 1 },
        { "one step of 5, twice as long", SLOW_ONCE, 1, 5, 0.03, 0, 0, 1, 0.95, 1 },
        { "one step of 5 by 40 %, 0.2 % noise", SLOW_ONCE, 16, 5, 0.002, 0, 0, 0.4, 0.95, 1 },
        { "a rank of 2 by 30 % in 5 steps that depend on each other", SLOW_ALWAYS, 2, 5, 0.01, 0.7, 0, 0.3, 0.8, 1 },
        { "one step of 20 that depend on each other, 25 deviations", SLOW_ONCE, 1, 20, 0.01, 0.7, 0, 0.25, 0.9, 1 },
        { "one step of 24 that depend on each other, 15 deviations", SLOW_ONCE, 1, 24, 0.03, 0.6, 0, 0.45, 0.95, 1 },
        { "one step of 20, ten deviations", SLOW_ONCE, 1, 20, 0.03, 0, 0, 0.3, 0.9, 1 },
        { "one step of 6, 15 deviations", SLOW_ONCE, 1, 6, 0.02, 0, 0, 0.3, 0.65, 1 },
        { "one step of 200, ten deviations", SLOW_ONCE, 1, 200, 0.03, 0, 0, 0.3, 0.95, 1 },
        { "five steps together", SLOW_STEPS, 1, 40, 0.03, 0, 0, 0.2, 0.95, 1 },
        { "since the middle, four deviations", SLOW_SINCE, 1, 60, 0.03, 0, 0, 0.12, 0.9, 1 },
        { "every sixth, five deviations", SLOW_PERIOD, 1, 60, 0.03, 0, 0, 0.15, 0.95, 1 },
        { "a drift, two deviations in the mean", SLOW_DRIFT, 1, 60, 0.03, 0, 0, 0.06, 0.95, 1 },
        { "a rank by 10 % in each step", SLOW_ALWAYS, 2, 20, 0.03, 0, 0, 0.1, 0.95, 1 },
        { "a rank of 8 by 10 %", SLOW_ALWAYS, 8, 20, 0.03, 0, 0, 0.1, 0.95, 1 },
        { "a rank of 8 by 10 % in 6 steps", SLOW_ALWAYS, 8, 6, 0.03, 0, 0, 0.1, 0.45, 1 },
        { "a rank of 4 by 20 % in 3 steps", SLOW_ALWAYS, 4, 3, 0.03, 0, 0, 0.2, 0.6, 1 },
        { "a rank of 4 by half in 2 steps", SLOW_ALWAYS, 4, 2, 0.03, 0, 0, 0.5, 0.95, 1 },
        { "a rank of 4 by 30 %, 10 % noise", SLOW_ALWAYS, 4, 20, 0.1, 0, 0, 0.3, 0.9, 1 },
    };
    const size_t n_runs = getenv("ASCOPE_JUDGE_RUNS") ? (size_t)atoi(getenv("ASCOPE_JUDGE_RUNS")) : 200;
    for (size_t i = 0; i < ROWS(row); i++) {
        const double share = share_found(&row[i], n_runs);
        print_message("  %s: %.3f\n", row[i].what, share);
        assert_true(share >= row[i].least && share <= row[i].most + 1.5 / (double)n_runs);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes_are_named), cmocka_unit_test(a_part_shows_a_period),
                                        cmocka_unit_test(steps_that_catch_up_are_not_usual),
                                        cmocka_unit_test(faults_above_the_noise_are_found_and_nothing_else) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
