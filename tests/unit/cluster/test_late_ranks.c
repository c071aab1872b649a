/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cluster/verdicts/verdicts.h"

static void the_shortest_is_late_if_it_is_far_from_the_others(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        int64_t ns[14];
        int late; /* which one; -1: none */
    } row[] = {
        { "nobody", 0, { 0 }, -1 },
        { "two are too few", 2, { 1, 100 }, -1 },
        { "three are too few: they have three values at most", 3, { 1, 100000, 100001 }, -1 },
        { "four, and one far below", 4, { 100000, 99000, 2000, 101000 }, 2 },
        { "four with three values", 4, { 100000, 100000, 2000, 101000 }, -1 },
        { "four: 0.915 is below the critical value 0.920", 4, { 0, 91500, 95000, 100000 }, -1 },
        { "four: 0.925 is above it", 4, { 0, 92500, 95000, 100000 }, 0 },
        { "seven against the largest: 0.69", 7, { 0, 69000, 70000, 80000, 90000, 95000, 100000 }, 0 },
        { "seven against the largest: 0.67", 7, { 0, 67000, 70000, 80000, 90000, 95000, 100000 }, -1 },
        { "eight against the second largest: 0.73", 8, { 0, 73000, 74000, 80000, 90000, 95000, 100000, 900000 }, 0 },
        { "eleven: the third against the second largest",
          11,
          { 0, 1, 71000, 72000, 73000, 74000, 75000, 80000, 90000, 100000, 900000 },
          0 },
        { "fourteen: the third against the third largest",
          14,
          { 0, 1, 68000, 72000, 73000, 74000, 75000, 80000, 81000, 82000, 83000, 100000, 800000, 900000 },
          0 },
        { "the first of several that are equally short", 6, { 900, 901, 902, 5, 903, 904 }, 3 },
        { "one far above is none of them", 5, { 100, 110, 120, 130, 90000 }, -1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        bool is_late[14];
        double scratch[14];
        print_message("  %s\n", row[i].what);
        assert_int_equal(late_ranks(row[i].ns, row[i].n, is_late, scratch), row[i].late >= 0);
        for (size_t k = 0; k < row[i].n; k++)
            assert_int_equal(is_late[k], (int)k == row[i].late);
    }
    (void)state;
}

static void many_ranks_are_judged_by_three_deviations(void **state)
{
    enum { N = 150 };
    int64_t ns[N];
    bool is_late[N];
    double scratch[N];
    for (size_t i = 0; i < N; i++)
        ns[i] = 100000 + (int64_t)(i % 7) * 100;
    assert_int_equal(late_ranks(ns, N, is_late, scratch), 0);
    ns[77] = 20000;
    assert_int_equal(late_ranks(ns, N, is_late, scratch), 1);
    assert_true(is_late[77]);
    ns[77] = 99999;
    ns[3] = 200000; /* somebody waited for the shortest */
    assert_int_equal(late_ranks(ns, N, is_late, scratch), 1);
    assert_true(is_late[77]);
    (void)state;
}

static void critical_values_fall_within_each_formula(void **state)
{
    static const size_t first[] = { 3, 8, 11, 14, DIXON_MOST + 1 };
    for (size_t f = 0; f + 1 < ROWS(first); f++)
        for (size_t n = first[f] + 1; n < first[f + 1]; n++)
            assert_true(dixon_995[n - DIXON_LEAST] <= dixon_995[n - 1 - DIXON_LEAST]);
    assert_true(dixon_995[0] == .994 && dixon_995[30 - DIXON_LEAST] == .484 &&
                dixon_995[DIXON_MOST - DIXON_LEAST] == .341);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_is_late_if_it_is_far_from_the_others),
        cmocka_unit_test(many_ranks_are_judged_by_three_deviations),
        cmocka_unit_test(critical_values_fall_within_each_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
