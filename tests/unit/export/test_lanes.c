/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "export/lanes.h"

static void slices_that_moved_to_another_lane_are_found_again(void **state)
{
    enum { MOVES = 2000 };
    struct lanes *l = lanes_new();
    (void)state;
    assert_int_equal(lanes_moved(l, 1, 2, 3), 0);
    for (unsigned i = 0; i < MOVES; i++)
        assert_true(lanes_move(l, i % 3, i % 5, i, 1 + i % 7));
    for (unsigned i = 0; i < MOVES; i++) {
        assert_int_equal(lanes_moved(l, i % 3, i % 5, i), 1 + i % 7);
        assert_int_equal(lanes_moved(l, i % 3 + 3, i % 5, i), 0);
    }
    assert_true(lanes_move(l, 0, 0, 0, 6));
    assert_int_equal(lanes_moved(l, 0, 0, 0), 6);
    lanes_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_that_moved_to_another_lane_are_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
