/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "export/framework/framework_files.h"

enum { MOST = 64 };

/* Operators of one thread, as "begin-end" in ns, and the lanes that they get. */
struct row {
    const char *what;
    size_t n;
    int64_t begin[8], end[8];
    uint8_t lane[8];
};

static void slices_that_do_not_nest_have_rows_of_their_own(void **state)
{
    static const struct row row[] = {
        { "inside each other", 3, { 0, 1, 2 }, { 9, 8, 7 }, { 0 } },
        { "one after the other", 3, { 0, 3, 6 }, { 3, 6, 9 }, { 0 } },
        { "the inner ones come first in the file", 3, { 2, 1, 0 }, { 7, 8, 9 }, { 0 } },
        { "one outlives that in which it began", 3, { 0, 2, 6 }, { 5, 9, 8 }, { 0, 1, 0 } },
        { "two of these", 3, { 0, 2, 3 }, { 5, 9, 12 }, { 0, 1, 2 } },
        { "they begin together: the longer is outside", 2, { 4, 4 }, { 5, 9 }, { 0 } },
        { "they end together", 2, { 4, 5 }, { 9, 9 }, { 0 } },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct framework f = { 0 };
        struct framework_lanes lanes;
        uint32_t process[8] = { 0 }, thread[8] = { 0 };
        int64_t begin[8], end[8];
        memcpy(begin, row[i].begin, sizeof begin);
        memcpy(end, row[i].end, sizeof end);
        f.ops = (struct framework_ops){
            .n = row[i].n, .begin_ns = begin, .end_ns = end, .process = process, .thread = thread
        };
        print_message("  %s\n", row[i].what);
        assert_true(framework_lanes_find(&lanes, &f, mem));
        uint8_t most = 0;
        for (size_t k = 0; k < row[i].n; k++) {
            assert_int_equal(lanes.lane[SLICES_OPS] ? lanes.lane[SLICES_OPS][k] : 0, row[i].lane[k]);
            most = row[i].lane[k] > most ? row[i].lane[k] : most;
        }
        assert_int_equal(lanes.further.n, most);
        arena_free(mem);
    }
}

/* A Python call and a range in it, on one thread and on two. */
static void tables_share_the_rows_of_a_thread(void **state)
{
    (void)state;
    for (uint32_t other = 0; other < 2; other++) {
        struct arena *mem = arena_new();
        struct framework f = { 0 };
        struct framework_lanes lanes;
        f.ops = (struct framework_ops){ .n = 1,
                                        .begin_ns = (int64_t[]){ 5 },
                                        .end_ns = (int64_t[]){ 50 },
                                        .process = (uint32_t[]){ 1 },
                                        .thread = (uint32_t[]){ 7 } };
        f.python = (struct python_calls){ .n = 1,
                                          .begin_ns = (int64_t[]){ 4 },
                                          .end_ns = (int64_t[]){ 9 },
                                          .process = (uint32_t[]){ 1 },
                                          .thread = (uint32_t[]){ 7 + other } };
        assert_true(framework_lanes_find(&lanes, &f, mem));
        assert_null(lanes.lane[SLICES_PYTHON]);
        assert_int_equal(lanes.further.n, 1 - other);
        if (other == 0) {
            assert_int_equal(lanes.lane[SLICES_OPS][0], 1);
            assert_int_equal(lanes.further.at[0].process, 1);
            assert_int_equal(lanes.further.at[0].thread, 7);
            assert_int_equal(lanes.further.at[0].lane, 1);
        }
        arena_free(mem);
    }
}

static void many_that_begin_together_are_nested_by_their_ends(void **state)
{
    struct arena *mem = arena_new();
    struct framework f = { 0 };
    struct framework_lanes lanes;
    int64_t begin[MOST], end[MOST];
    uint32_t process[MOST] = { 0 }, thread[MOST] = { 0 };
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        begin[i] = 100;
        end[i] = 101 + (int64_t)(i * 37 % MOST);
    }
    f.ops = (struct framework_ops){ .n = MOST, .begin_ns = begin, .end_ns = end, .process = process, .thread = thread };
    assert_true(framework_lanes_find(&lanes, &f, mem));
    assert_null(lanes.lane[SLICES_OPS]);
    assert_int_equal(lanes.further.n, 0);
    arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_that_do_not_nest_have_rows_of_their_own),
        cmocka_unit_test(tables_share_the_rows_of_a_thread),
        cmocka_unit_test(many_that_begin_together_are_nested_by_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
