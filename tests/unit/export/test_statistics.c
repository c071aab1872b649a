/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "export/msprof/prof_outputs.h"

static void tasks_are_counted_as_sqlite_counts(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        double ns[4], total, min, max, average;
    } row[] = {
        { "none", 0, { 0 }, 0, 0, 0, 0 },
        { "one", 1, { 1500 }, 1500, 1500, 1500, 1500 },
        { "whole numbers: the rest is dropped", 3, { 10, 10, 12 }, 32, 10, 12, 10 },
        { "half a nanosecond is dropped too", 2, { 177857, 0 }, 177857, 0, 177857, 88928 },
        { "a fraction anywhere: an exact average", 3, { 10, 10.5, 12 }, 32.5, 10, 12, 32.5 / 3 },
        { "any order", 4, { 3, 1, 4, 1 }, 9, 1, 4, 2 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct task_statistics s = { 0 };
        for (size_t k = 0; k < row[i].n; k++)
            task_statistics_add(&s, row[i].ns[k]);
        assert_int_equal(s.n, row[i].n);
        assert_true(s.total_ns == row[i].total && s.min_ns == row[i].min && s.max_ns == row[i].max);
        assert_true(task_statistics_average_ns(&s) == row[i].average);
    }
    (void)state;
}

static void calls_have_a_variance_around_a_rounded_average(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        double ns[4], total, min, max;
        double average, variance;
        bool rounds_each;
    } row[] = {
        { "one has none", 1, { 2530 }, 2530, 2530, 2530, 2.53, 0, false },
        { "two of 2.34 and 2.53", 2, { 2340, 2530 }, 4870, 2340, 2530, 2.435, 0.009025, false },
        { "each square rounded", 2, { 2340, 2530 }, 4870, 2340, 2530, 2.435, 0.009, true },
        { "the average has three decimals", 3, { 1000, 1000, 1001 }, 3001, 1000, 1001, 1, 0.000001 / 3, false },
        { "fractions of a nanosecond count", 2, { 0.5, 1 }, 1.5, 0.5, 1, 0.001, 0.000000125, false },
        { "none at all", 0, { 0 }, 0, 0, 0, 0, 0, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct call_statistics s = { 0 };
        for (size_t k = 0; k < row[i].n; k++)
            call_statistics_add(&s, row[i].ns[k]);
        call_statistics_settle(&s, row[i].rounds_each);
        for (size_t k = 0; k < row[i].n; k++)
            call_statistics_spread(&s, row[i].ns[k], row[i].rounds_each);
        assert_int_equal(s.n, row[i].n);
        assert_true(s.total_ns == row[i].total && s.min_ns == row[i].min && s.max_ns == row[i].max);
        assert_true(s.average_us == row[i].average);
        const double off = call_statistics_variance(&s) - row[i].variance;
        assert_true(off > -1e-12 && off < 1e-12);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_counted_as_sqlite_counts),
        cmocka_unit_test(calls_have_a_variance_around_a_rounded_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
