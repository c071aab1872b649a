/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/gate.h"

#include <math.h>

#include "noise.h"
#include "test.h"

enum { STEPS_MOST = 200, RUNS_MOST = 8 };

/* How a program behaves: steps of 10 ms, 8 of them computing by two kernels. */
struct behaviour {
    const char *what;
    double noise, dependence; /* of a step, and how much of it the next one has */
    double drift;             /* from the first to the last step; its direction differs from run to run */
    double outliers;          /* part of the steps that take half as much again */
    double run_noise;         /* by which runs differ */
    size_t n_steps, n_runs;
};

static struct names *names;
static struct arena *mem;

static void rank_make(struct measured_rank *out, const struct behaviour *b, double factor)
{
    static const double step_ns = 10e6;
    const double drift = b->drift * (uniform() < 0.5 ? -1 : 1), level = factor * (1 + b->run_noise * normal());
    double off = normal();
    *out = (struct measured_rank){ .path = "run",
                                   .has_device = true,
                                   .is_gpu = true,
                                   .has_steps = true,
                                   .n_steps = b->n_steps,
                                   .allocated_bytes = -1,
                                   .reserved_bytes = -1 };
    out->step = arena_take(mem, b->n_steps, sizeof *out->step);
    assert_non_null(out->step);
    for (size_t i = 0; i < b->n_steps; i++) {
        const double at = (double)i / (double)b->n_steps - 0.5;
        const double time = step_ns * level * (1 + b->noise * off + drift * at) * (uniform() < b->outliers ? 1.5 : 1);
        off = b->dependence * off + sqrt(1 - b->dependence * b->dependence) * normal();
        out->step[i].part_ns[RUN_STEP] = (int64_t)time;
        out->step[i].part_ns[RUN_COMPUTING] = (int64_t)(time * 0.8);
        out->step[i].part_ns[RUN_FREE] = out->step[i].part_ns[RUN_STEP] - out->step[i].part_ns[RUN_COMPUTING];
    }
    struct measuring m;
    assert_true(measuring_begin(&m, out, names, mem));
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const double time = (double)out->step[i].part_ns[RUN_COMPUTING];
        measuring_add(&m, MEASURE_KERNEL, names_addz(names, "gemm"), NAME_EMPTY, i, time * 0.75);
        measuring_add(&m, MEASURE_KERNEL, names_addz(names, "add"), NAME_EMPTY, i, time * 0.25);
    }
    assert_true(measuring_end(&m));
}

static void sides_make(struct measured_run run[2 * RUNS_MOST], const struct behaviour *b, double more)
{
    for (size_t i = 0; i < 2 * b->n_runs; i++) {
        run[i] = (struct measured_run){ .name = "run", .n = 1, .rank = arena_take(mem, 1, sizeof *run->rank) };
        rank_make(run[i].rank, b, i < b->n_runs ? 1 : 1 + more);
    }
}

static void compare(struct comparison *c, struct measured_run *run, size_t n_runs)
{
    struct error e = { 0 };
    assert_true(compare_runs(c, run, n_runs, n_runs, names, mem, &e));
}

static void begin(void)
{
    mem = arena_new();
    names = names_new();
    assert_true(mem && names);
}

static void end(void)
{
    names_free(names);
    arena_free(mem);
}

/* Parts of the pairs. */
struct pair_parts {
    double real, real_step; /* anything differs beyond noise; a step does */
    double verdict[GATE_REGRESSED + 1];
};

static struct gate pair_judge(const struct behaviour *b, double more, double allow, struct comparison *c)
{
    const double allowed[GATE_MEASURES] = { allow, NAN, NAN, NAN, allow, NAN };
    struct measured_run run[2 * RUNS_MOST];
    struct gate g;
    sides_make(run, b, more);
    compare(c, run, b->n_runs);
    gate_judge(&g, c, allowed, false);
    return g;
}

static struct pair_parts pairs_judge(const struct behaviour *b, double more, double allow, size_t n_pairs)
{
    const double one = 1 / (double)n_pairs;
    struct pair_parts sum = { 0 };
    for (size_t i = 0; i < n_pairs; i++) {
        struct comparison c;
        begin();
        sum.verdict[pair_judge(b, more, allow, &c).verdict] += one;
        bool is_real = false;
        for (unsigned k = 0; k < RUN_PARTS; k++)
            is_real |= c.part[k].state == DIFFERENCE_REAL;
        for (size_t k = 0; k < c.n; k++)
            is_real |= c.row[k].difference.state == DIFFERENCE_REAL;
        sum.real += is_real * one;
        sum.real_step += (c.part[RUN_STEP].state == DIFFERENCE_REAL) * one;
        end();
    }
    return sum;
}

/* docs/compare.md has these figures: ASCOPE_TABLE=1 prints its rows. */
static void equal_runs_pass_and_slower_ones_do_not(void **state)
{
    enum { PAIRS = 100 };
    static const struct {
        struct behaviour b;
        double least_5, least_10; /* parts of the pairs in which 5 % and 10 % more are found */
    } row[] = {
        { { "1 %", 0.01, 0, 0, 0, 0, 30, 1 }, 0.99, 0.99 },
        { { "1 %, autocorrelation 0.5", 0.01, 0.5, 0, 0, 0, 30, 1 }, 0.95, 0.99 },
        { { "1 %, autocorrelation 0.8", 0.01, 0.8, 0, 0, 0, 30, 1 }, 0.4, 0.7 },
        { { "1 %, autocorrelation 0.8, 100 steps", 0.01, 0.8, 0, 0, 0, 100, 1 }, 0.95, 0.99 },
        { { "1 %, drift of 3 %", 0.01, 0, 0.03, 0, 0, 30, 1 }, 0.95, 0.99 },
        { { "1 %, a tenth of the steps slow by half", 0.01, 0, 0, 0.1, 0, 30, 1 }, 0.97, 0.99 },
        { { "1 %, 5 runs that differ by 1 %", 0.01, 0.3, 0, 0, 0.01, 20, 5 }, 0.5, 0.99 },
        { { "3 %", 0.03, 0, 0, 0, 0, 30, 1 }, 0.9, 0.99 },
        { { "3 %, autocorrelation 0.5", 0.03, 0.5, 0, 0, 0, 30, 1 }, 0.2, 0.8 },
        { { "3 %, autocorrelation 0.8", 0.03, 0.8, 0, 0, 0, 30, 1 }, 0, 0.2 },
        { { "3 %, autocorrelation 0.5, 200 steps", 0.03, 0.5, 0, 0, 0, 200, 1 }, 0.99, 0.99 },
        { { "3 %, drift of 5 %", 0.03, 0, 0.05, 0, 0, 30, 1 }, 0.5, 0.99 },
        { { "10 %", 0.1, 0, 0, 0, 0, 30, 1 }, 0, 0.15 },
        { { "10 %, autocorrelation 0.5", 0.1, 0.5, 0, 0, 0, 30, 1 }, 0, 0 },
        { { "10 %, autocorrelation 0.8", 0.1, 0.8, 0, 0, 0, 30, 1 }, 0, 0 },
        { { "10 %, 200 steps", 0.1, 0, 0, 0, 0, 200, 1 }, 0.75, 0.99 },
    };
    static const double more[] = { 0, 0.02, 0.05, 0.1 };
    const size_t n_pairs = getenv("ASCOPE_TABLE") ? 3 * PAIRS : PAIRS / test_stride(4);
    const double some = 3.5 / (double)n_pairs,
                 fewer = n_pairs < PAIRS ? some : 0; /* a part of the pairs scatters more */
    seed = 7;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct pair_parts o[ROWS(more)];
        for (size_t k = 0; k < ROWS(more); k++)
            o[k] = pairs_judge(&row[i].b, more[k], 0.01, n_pairs);
        print_message("  %s\n", row[i].b.what);
        if (getenv("ASCOPE_TABLE"))
            print_message("| %s | %.1f %% | %.0f, %.0f, %.0f %% | %.0f, %.0f, %.0f %% |\n", row[i].b.what,
                          100 * o[0].real, 100 * o[0].verdict[GATE_PASS], 100 * o[0].verdict[GATE_INCONCLUSIVE],
                          100 * o[0].verdict[GATE_REGRESSED], 100 * o[1].verdict[GATE_REGRESSED],
                          100 * o[2].verdict[GATE_REGRESSED], 100 * o[3].verdict[GATE_REGRESSED]);
        assert_true(o[0].real < some && o[0].verdict[GATE_REGRESSED] < some);
        for (size_t k = 1; k < ROWS(more); k++)
            assert_true(o[k].verdict[GATE_PASS] == 0);
        assert_true(o[2].verdict[GATE_REGRESSED] >= row[i].least_5 - fewer &&
                    o[3].verdict[GATE_REGRESSED] >= row[i].least_10 - fewer);
        assert_true(o[2].real_step >= row[i].least_5 - 0.05 - fewer &&
                    o[3].real_step >= row[i].least_10 - 0.05 - fewer);
    }
    (void)state;
}

/* With as many steps or runs as it asks for, most equal runs pass. */
static void what_is_asked_for_is_enough(void **state)
{
    enum { PAIRS = 60 };
    static const struct behaviour row[] = {
        { "steps", 0.03, 0, 0, 0, 0, 20, 1 },
        { "steps that depend on each other", 0.01, 0.5, 0, 0, 0, 20, 1 },
        { "runs", 0.01, 0, 0, 0, 0.003, 20, 3 },
    };
    seed = 3;
    for (size_t i = 0; i < ROWS(row); i++) {
        size_t n_asked = 0, n_passed = 0;
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < PAIRS; k++) {
            struct behaviour then = row[i];
            struct comparison c;
            begin();
            const struct gate g = pair_judge(&row[i], 0, 0.02, &c);
            const struct gate_row *step = &g.row[GATE_STEP];
            end();
            if (step->verdict != GATE_INCONCLUSIVE)
                continue;
            assert_true(row[i].n_runs > 1 ? step->for_runs > row[i].n_runs && step->for_steps == 0
                                          : step->for_steps >= row[i].n_steps && step->for_runs == 0);
            then.n_steps = step->for_steps > 0 ? step->for_steps : then.n_steps;
            then.n_runs = step->for_runs > 0 ? step->for_runs : then.n_runs;
            if (then.n_steps > STEPS_MOST || then.n_runs > RUNS_MOST)
                continue;
            n_asked++;
            begin();
            n_passed += pair_judge(&then, 0, 0.02, &c).verdict == GATE_PASS;
            end();
        }
        print_message("    %zu asked, %zu passed then\n", n_asked, n_passed);
        assert_true(n_asked >= 10 && 2 * n_passed > n_asked);
    }
    (void)state;
}

/* Slow steps of A and B, of 60; what is allowed is 3 %. */
static void slow_steps_are_judged_by_their_number(void **state)
{
    static const struct {
        const char *what;
        size_t n[2];
        bool is_together; /* they are one event */
        enum gate_verdict verdict;
    } row[] = {
        { "none", { 0, 0 }, false, GATE_PASS },
        { "as many", { 6, 6 }, false, GATE_PASS },
        { "fewer", { 12, 0 }, false, GATE_PASS },
        { "one costs less than 3 %", { 0, 1 }, false, GATE_PASS },
        { "so few may be chance", { 0, 6 }, false, GATE_INCONCLUSIVE },
        { "many", { 0, 12 }, false, GATE_REGRESSED },
        { "many, at the same time", { 0, 12 }, true, GATE_INCONCLUSIVE },
    };
    static const double allowed[GATE_MEASURES] = { 0.03, NAN, NAN, NAN, 0.03, NAN };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct measured_run run[2];
        struct comparison c;
        struct gate g;
        print_message("  %s\n", row[i].what);
        begin();
        seed = 1;
        for (size_t k = 0; k < 2; k++) {
            const struct behaviour b = { NULL, 0.005, 0, 0, 0, 0, 60, 1 };
            run[k] = (struct measured_run){ .name = "run", .n = 1, .rank = arena_take(mem, 1, sizeof *run->rank) };
            rank_make(run[k].rank, &b, 1);
            for (size_t at = 0; at < row[i].n[k]; at++) {
                struct run_step *s = &run[k].rank->step[row[i].is_together ? 20 + at : 5 * at + 4];
                s->is_slow = true;
                s->part_ns[RUN_STEP] *= 2;
            }
        }
        compare(&c, run, 1);
        gate_judge(&g, &c, allowed, false);
        assert_int_equal(g.row[GATE_SLOW].verdict, row[i].verdict);
        assert_int_equal(g.verdict, row[i].verdict);
        assert_int_equal(g.row[GATE_SLOW].for_steps > 60, row[i].verdict == GATE_INCONCLUSIVE);
        end();
    }
    (void)state;
}

static void what_cannot_be_compared_is_inconclusive(void **state)
{
    static const double allowed[GATE_MEASURES] = { 0.03, NAN, NAN, NAN, 0.03, 0.1 };
    static const struct {
        const char *what;
        bool is_npu, has_no_steps, has_losses;
        int64_t a_bytes, b_bytes;
        enum gate_doubt doubt;
        enum gate_verdict verdict;
    } row[] = {
        { "alike", false, false, false, 100, 100, DOUBT_NONE, GATE_PASS },
        { "another device", true, false, false, 100, 100, DOUBT_DEVICES, GATE_INCONCLUSIVE },
        { "steps on one side", false, true, false, 100, 100, DOUBT_STEPS, GATE_INCONCLUSIVE },
        { "losses", false, false, true, 100, 100, DOUBT_LOSSES, GATE_INCONCLUSIVE },
        { "as much memory as is allowed", false, false, false, 100, 110, DOUBT_NONE, GATE_PASS },
        { "more memory", false, false, false, 100, 111, DOUBT_NONE, GATE_REGRESSED },
        { "no memory recorded", false, false, false, 100, -1, DOUBT_NONE, GATE_INCONCLUSIVE },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct behaviour b = { NULL, 0.005, 0, 0, 0, 0, 30, 1 };
        struct measured_run run[2 * RUNS_MOST];
        struct comparison c;
        struct gate g;
        print_message("  %s\n", row[i].what);
        begin();
        seed = 1;
        sides_make(run, &b, 0);
        run[0].rank->allocated_bytes = row[i].a_bytes;
        run[1].rank->allocated_bytes = row[i].b_bytes;
        run[1].rank->is_gpu = !row[i].is_npu;
        run[1].rank->has_steps = !row[i].has_no_steps;
        compare(&c, run, 1);
        gate_judge(&g, &c, allowed, row[i].has_losses);
        assert_int_equal(g.doubt, row[i].doubt);
        assert_int_equal(g.verdict, row[i].verdict);
        end();
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_runs_pass_and_slower_ones_do_not),
                                        cmocka_unit_test(what_is_asked_for_is_enough),
                                        cmocka_unit_test(slow_steps_are_judged_by_their_number),
                                        cmocka_unit_test(what_cannot_be_compared_is_inconclusive) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
