/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "analyse/framework/judge.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes_are_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
