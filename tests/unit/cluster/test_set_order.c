/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as list(set) of CPython 3.11 printed them. */
#include "test.h"

#include "cluster/results/base_tables.h"

static void ranks_are_in_the_order_of_a_set(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        int64_t rank[12], wanted[12];
    } row[] = {
        { "up to rank 7 ascending", 4, { 0, 1, 2, 7 }, { 0, 1, 2, 7 } },
        { "8 has the first place", 2, { 2, 8 }, { 8, 2 } },
        { "two that have the same place", 2, { 0, 8 }, { 0, 8 } },
        { "a pair of stages", 2, { 5, 11 }, { 11, 5 } },
        { "five are a larger table", 5, { 3, 9, 15, 21, 27 }, { 3, 9, 15, 21, 27 } },
        { "32 are behind", 7, { 1, 33, 65, 97, 129, 161, 193 }, { 65, 1, 129, 97, 33, 161, 193 } },
        { "neighbours",
          12,
          { 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352 },
          { 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        print_message("  %s\n", row[i].what);
        assert_memory_equal(set_order(row[i].rank, row[i].n, mem), row[i].wanted, row[i].n * sizeof(int64_t));
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranks_are_in_the_order_of_a_set) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
