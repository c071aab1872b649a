/* SPDX-License-Identifier: Apache-2.0 */
/* Rows found by connection, whether the numbers are close to each other or not. */
#include "cluster/rank/rank_parts.h"

#include "profile/calls.h"
#include "test.h"

enum { MOST = 8 };

static void the_first_row_of_a_number_is_found(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        uint64_t connection[MOST];
        struct {
            uint64_t wanted;
            uint32_t row;
        } find[MOST];
    } row[] = {
        { "counted", 4, { 3, 5, 4, 6 }, { { 3, 0 }, { 6, 3 }, { 4, 2 }, { 2, NO_ROW }, { 7, NO_ROW }, { 0, NO_ROW } } },
        { "twice", 3, { 9, 9, 8 }, { { 9, 0 }, { 8, 2 }, { 10, NO_ROW } } },
        { "far apart",
          3,
          { UINT64_MAX, 0, 1u << 30 },
          { { UINT64_MAX, 0 }, { 0, 1 }, { 1u << 30, 2 }, { 1, NO_ROW } } },
        { "nothing", 0, { 0 }, { { 0, NO_ROW }, { UINT64_MAX, NO_ROW }, { 1, NO_ROW } } },
        { "not connected", 3, { CONNECTION_NONE, 2, 1 }, { { CONNECTION_NONE, NO_ROW }, { 2, 1 }, { 1, 2 } } },
        { "none connected", 1, { CONNECTION_NONE }, { { CONNECTION_NONE, NO_ROW }, { UINT64_MAX, NO_ROW } } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct by_connection b;
        print_message("  %s\n", row[i].what);
        assert_true(by_connection_init(&b, row[i].connection, row[i].n, mem));
        for (size_t k = 0; k < MOST && (k == 0 || row[i].find[k].wanted > 0 || row[i].find[k].row > 0); k++)
            assert_int_equal(by_connection_find(&b, row[i].find[k].wanted), row[i].find[k].row);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_row_of_a_number_is_found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
