/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "cluster/rank/summary_file.h"

static bool is_near(double a, double b)
{
    return isnan(b) ? isnan(a) : fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* Wanted numbers are those of pandas 1.5.3: Series.describe(), .std(), .quantile(). */
static void describe_is_as_pandas_computes_it(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        int64_t ns[9];
        struct description wanted;
    } row[] = {
        { "one value has no deviation", 1, { 42 }, { 1, 42, (double)NAN, 0, 42, 42, 42, 42, 42, 42, 42, 42 } },
        { "two values: quartiles lie between them",
          2,
          { 10, 20 },
          { 2, 15, 7.0710678118654755, 5, 10, 12.5, 15, 17.5, 20, 30, 10, 20 } },
        { "equal values are one with a count", 4, { 7, 7, 7, 7 }, { 4, 7, 0, 0, 7, 7, 7, 7, 7, 28, 7, 7 } },
        { "any order",
          6,
          { 9, 1, 4, 1, 25, 16 },
          { 6, 9.3333333333333339, 9.563820714895625, 8.73053390247253, 1, 1.75, 6.5, 14.25, 25, 56, 1, 25 } },
        { "below zero", 3, { -5, 0, 5 }, { 3, 0, 5, 4.0824829046386304, -5, -2.5, 0, 2.5, 5, 0, -5, 5 } },
        { "large times keep their differences",
          3,
          { 1717211066000000000, 1717211066000000001, 1717211066000000002 },
          { 3, 1717211066e9, 1, 0.81649658092772603, 1717211066e9, 1717211066e9, 1717211066e9, 1717211066e9,
            1717211066e9, 5151633198000000003, 1717211066000000000, 1717211066000000002 } },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena *mem = arena_new();
        struct durations d = { 0 };
        struct description got;
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < row[i].n; k++)
            assert_true(durations_add(&d, row[i].ns[k], 1, mem));
        assert_true(durations_describe(&d, &got));
        const struct description *wanted = &row[i].wanted;
        assert_int_equal(got.count, wanted->count);
        assert_int_equal(got.sum, wanted->sum);
        assert_int_equal(got.min_ns, wanted->min_ns);
        assert_int_equal(got.max_ns, wanted->max_ns);
        assert_true(is_near(got.mean, wanted->mean));
        assert_true(is_near(got.std, wanted->std));
        assert_true(is_near(got.population_std, wanted->population_std));
        assert_true(is_near(got.min, wanted->min));
        assert_true(is_near(got.q1, wanted->q1));
        assert_true(is_near(got.median, wanted->median));
        assert_true(is_near(got.q3, wanted->q3));
        assert_true(is_near(got.max, wanted->max));
        arena_free(mem);
    }
    (void)state;
}

static void describe_does_not_depend_on_the_order(void **state)
{
    struct arena *mem = arena_new();
    struct durations up = { 0 }, down = { 0 };
    struct description a, b;
    enum { N = 5000 };
    for (int64_t i = 0; i < N; i++) {
        assert_true(durations_add(&up, i * i * 977 % 100003, 1 + (uint64_t)i % 3, mem));
        const int64_t k = N - 1 - i;
        assert_true(durations_add(&down, k * k * 977 % 100003, 1 + (uint64_t)k % 3, mem));
    }
    assert_true(durations_describe(&up, &a) && durations_describe(&down, &b));
    assert_memory_equal(&a, &b, sizeof a);
    durations_clear(&up);
    assert_true(durations_add(&up, 3, 1, mem) && durations_describe(&up, &a));
    assert_int_equal(a.count, 1);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe_is_as_pandas_computes_it),
        cmocka_unit_test(describe_does_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
