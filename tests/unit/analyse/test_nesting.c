/* SPDX-License-Identifier: Apache-2.0 */
/* call_tree.c: the order of intervals, beside a comparison of two. */
#include "test.h"

#include <stdlib.h>

#include "analyse/host/host_analysis.h"

enum { MOST = 600 };
static int64_t begin_ns[MOST], end_ns[MOST];

static int by_rule(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (begin_ns[a] != begin_ns[b])
        return begin_ns[a] < begin_ns[b] ? -1 : 1;
    if (end_ns[a] != end_ns[b])
        return end_ns[a] > end_ns[b] ? -1 : 1;
    return (a < b) == (end_ns[a] > begin_ns[a]) ? 1 : -1;
}

static void outer_ones_come_first(void **state)
{
    uint32_t at = 7, found[MOST], wanted[MOST];
    for (size_t turn = 0; turn < 300; turn++) {
        const size_t n = turn * 2;
        /* From all at the same moment to hardly any, before and behind zero; some end before they begin. */
        const uint32_t moments = 1u << turn % 12, lengths = turn % 3 == 0 ? 2 : 50;
        for (size_t i = 0; i < n; i++) {
            at = at * 1664525 + 1013904223;
            begin_ns[i] = (int64_t)((at >> 8) % moments) - moments / 2;
            at = at * 1664525 + 1013904223;
            end_ns[i] = begin_ns[i] + (int64_t)((at >> 8) % lengths) - (turn % 5 == 0);
            wanted[i] = (uint32_t)i;
        }
        qsort(wanted, n, sizeof *wanted, by_rule);
        assert_true(nesting_order(found, n, begin_ns, end_ns));
        assert_memory_equal(found, wanted, n * sizeof *found);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(outer_ones_come_first) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
