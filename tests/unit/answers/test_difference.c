/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/difference.h"

#include <math.h>

#include "noise.h"
#include "test.h"

enum { STEPS_MOST = 60, RUNS_MOST = 6 };

/* How a program behaves: steps of 1 with noise, each like the one before, and runs that differ. */
struct behaviour {
    const char *what;
    double noise, dependence, run_noise;
    size_t n_steps, n_runs;
};

static struct run_value run_make(const struct behaviour *b, double level)
{
    double x[STEPS_MOST], mean = 0, off = normal();
    level *= 1 + b->run_noise * normal();
    for (size_t i = 0; i < b->n_steps; i++) {
        x[i] = level * (1 + b->noise * off);
        off = b->dependence * off + sqrt(1 - b->dependence * b->dependence) * normal();
        mean += x[i] / (double)b->n_steps;
    }
    for (size_t i = 0; i < b->n_steps; i++)
        x[i] -= mean;
    return run_value_of(mean, x, b->n_steps);
}

static struct difference pair_make(const struct behaviour *b, double more)
{
    struct run_value x[2][RUNS_MOST];
    for (size_t i = 0; i < b->n_runs; i++) {
        x[0][i] = run_make(b, 1);
        x[1][i] = run_make(b, 1 + more);
    }
    const struct chance c = chance_of(x[0], b->n_runs, x[1], b->n_runs, 0);
    return difference_of(x[0], b->n_runs, x[1], b->n_runs, &c, 1e-4);
}

/* docs/compare.md has these figures. */
static void equal_runs_are_equal_and_others_are_not(void **state)
{
    enum { PAIRS = 400, FALSE_MOST = PAIRS / 100 };
    static const struct behaviour row[] = {
        { "steps independent, 10 of them", 0.03, 0, 0, 10, 1 },
        { "noise 1 %, autocorrelation 0.3", 0.01, 0.3, 0, 20, 1 },
        { "noise 3 %, autocorrelation 0.3", 0.03, 0.3, 0, 20, 1 },
        { "noise 10 %, autocorrelation 0.3", 0.10, 0.3, 0, 20, 1 },
        { "noise 1 %, autocorrelation 0.5", 0.01, 0.5, 0, 20, 1 },
        { "noise 3 %, autocorrelation 0.5, 10 steps", 0.03, 0.5, 0, 10, 1 },
        { "noise 10 %, autocorrelation 0.5", 0.10, 0.5, 0, 20, 1 },
        { "noise 1 %, autocorrelation 0.8", 0.01, 0.8, 0, 30, 1 },
        { "noise 3 %, autocorrelation 0.8", 0.03, 0.8, 0, 30, 1 },
        { "noise 10 %, autocorrelation 0.8", 0.10, 0.8, 0, 30, 1 },
        { "3 runs that differ by 2 %", 0.01, 0, 0.02, 20, 3 },
        { "3 runs that differ by 2 %, autocorrelation 0.5", 0.01, 0.5, 0.02, 20, 3 },
        { "5 runs that differ by 3 %", 0.01, 0.3, 0.03, 10, 5 },
        { "5 equal runs", 0.03, 0.3, 0, 10, 5 },
        { "5 runs without steps", 0, 0, 0.02, 1, 5 },
    };
    seed = 1;
    for (size_t i = 0; i < ROWS(row); i++) {
        size_t n_false = 0, n_above = 0, n_found = 0;
        double noise = 0;
        for (size_t k = 0; k < PAIRS; k++) {
            const struct difference same = pair_make(&row[i], 0);
            n_false += same.state == DIFFERENCE_REAL;
            noise += same.noise_ns / PAIRS;
            for (double more = 0.01; more < 2; more *= 1.5) { /* what exceeds the noise that is reported by a quarter */
                const struct difference d = pair_make(&row[i], more);
                n_above += more > 1.25 * d.noise_ns;
                n_found += more > 1.25 * d.noise_ns && d.state == DIFFERENCE_REAL;
            }
        }
        print_message("  %s: %zu of %d false, mean noise %.1f %%, found %.3f of what is above it\n", row[i].what,
                      n_false, PAIRS, noise * 100, (double)n_found / (double)n_above);
        assert_true(n_false <= FALSE_MOST);
        assert_true(n_above > PAIRS && (double)n_found >= 0.95 * (double)n_above);
    }
    (void)state;
}

static void what_is_known(void **state)
{
    static const struct {
        const char *what;
        size_t n_steps, n_runs;
        enum difference_state state;
    } row[] = {
        { "two steps", 2, 1, DIFFERENCE_UNKNOWN },
        { "three steps", 3, 1, DIFFERENCE_NOISE },
        { "two runs of a step on each side", 1, 2, DIFFERENCE_NOISE },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct behaviour b = { NULL, 0.1, 0, 0, row[i].n_steps, row[i].n_runs };
        print_message("  %s\n", row[i].what);
        assert_int_equal(pair_make(&b, 0).state, row[i].state);
    }
    (void)state;
}

/* Known values: one run on each side, and no autocorrelation. */
static void chance_of_independent_steps(void **state)
{
    static const double off[2][4] = { { 3, -3, -3, 3 }, { 1, -1, -1, 1 } };
    const struct run_value a = run_value_of(100, off[0], 4), b = run_value_of(120, off[1], 4);
    const struct chance c = chance_of(&a, 1, &b, 1, 0);
    assert_true(fabs(c.steps - (36.0 / 3 / 4 + 4.0 / 3 / 4)) < 1e-9);
    assert_true(c.dependence == 0 && c.runs == 0 && c.is_known);
    assert_true(fabs(c.steps_freedom - (10.0 / 3) * (10.0 / 3) / (3 * 3 / 3.0 + 1.0 / 9 / 3)) < 1e-9);
    assert_true(fabs(chance_bound(&c, 0.05) / sqrt(c.steps) - 2.88) < 0.03); /* t of 3.66 degrees of freedom */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_runs_are_equal_and_others_are_not),
                                        cmocka_unit_test(what_is_known),
                                        cmocka_unit_test(chance_of_independent_steps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
