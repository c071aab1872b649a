/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/memory/arena.h"

static void memory_is_zeroed_aligned_and_separate(void **state)
{
    static const struct {
        const char *what;
        size_t n, size;
    } row[] = {
        { "nothing is still a place of its own", 0, 8 },
        { "one byte", 1, 1 },
        { "one more than the alignment", 17, 1 },
        { "a quarter of a block", 1 << 16, 1 },
        { "just too large to share a block", 65537, 1 },
        { "larger than a block", 300000, 8 },
        { "many small ones again", 3, 7 },
    };
    struct arena *a = arena_new();
    assert_non_null(a);
    unsigned char *taken[ROWS(row)][40];
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < 40; k++) {
            unsigned char *p = taken[i][k] = arena_take(a, row[i].n, row[i].size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t b = 0; b < row[i].n * row[i].size; b++)
                assert_int_equal(p[b], 0);
            memset(p, (int)(i * 40 + k) & 255, row[i].n * row[i].size);
        }
    }
    for (size_t i = 0; i < ROWS(row); i++)
        for (size_t k = 0; k < 40 && row[i].n > 0; k++) {
            assert_int_equal(taken[i][k][0], (i * 40 + k) & 255);
            assert_int_equal(taken[i][k][row[i].n * row[i].size - 1], (i * 40 + k) & 255);
        }
    assert_false(arena_failed(a));
    arena_free(a);
    arena_free(NULL);
    (void)state;
}

static void sizes_that_cannot_be_are_refused_and_remembered(void **state)
{
    static const struct {
        const char *what;
        size_t n, size;
    } row[] = {
        { "the product wraps to 0", SIZE_MAX / 2 + 1, 2 },
        { "the product wraps to a small size", SIZE_MAX / 8 + 2, 8 },
        { "rounding up would wrap", 1, SIZE_MAX },
        { "adding the block's head would wrap", 1, SIZE_MAX - 20 },
        { "both as large as they get", SIZE_MAX, SIZE_MAX },
        { "more than any machine has", SIZE_MAX / 4, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *a = arena_new();
        assert_non_null(arena_take(a, 1, 1));
        assert_false(arena_failed(a));
        assert_null(arena_take(a, row[i].n, row[i].size));
        assert_true(arena_failed(a));
        assert_non_null(arena_take(a, 1, 1)); /* and it goes on */
        assert_true(arena_failed(a));
        arena_free(a);
    }
    (void)state;
}

static void texts_are_copied_with_their_end(void **state)
{
    struct arena *a = arena_new();
    assert_string_equal(arena_text(a, "abcdef", 3), "abc");
    assert_string_equal(arena_text(a, NULL, 0), "");
    assert_memory_equal(arena_text(a, "a\0b", 3), "a\0b", 4);
    assert_null(arena_text(a, "", SIZE_MAX));
    char long_text[100001];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    const char *printed = arena_printf(a, "<%s|%d>", long_text, 7);
    assert_int_equal(strlen(printed), 100000 + 4);
    assert_string_equal(printed + 100001, "|7>");
    arena_free(a);
    (void)state;
}

static void a_list_keeps_what_was_added(void **state)
{
    struct pair {
        uint64_t x, y;
        char z;
    };
    struct arena *a = arena_new();
    LIST(struct pair) list = { 0 };
    for (uint64_t i = 0; i < 10000; i++) {
        struct pair *p = list_add(&list, a);
        assert_non_null(p);
        assert_true(p->x == 0 && p->y == 0 && p->z == 0);
        p->x = i;
        p->y = ~i;
    }
    assert_int_equal(list.n, 10000);
    for (uint64_t i = 0; i < list.n; i++)
        assert_true(list.at[i].x == i && list.at[i].y == ~i);
    arena_free(a);
    (void)state;
}

static void a_column_keeps_its_first_things(void **state)
{
    struct arena *a = arena_new();
    uint64_t *column = arena_take(a, 1 << 20, sizeof *column), *few = arena_take(a, 4, sizeof *few);
    for (uint64_t i = 0; i < 1 << 20; i++)
        column[i] = i;
    column = arena_trim(a, column, 1000, sizeof *column);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(column[i], i);
    column = arena_trim(a, column, 0, sizeof *column);
    assert_non_null(column);
    assert_ptr_equal(arena_trim(a, few, 1, sizeof *few), few); /* what is small stays as it is */
    arena_drop(a, column);
    arena_free(a);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_separate),
        cmocka_unit_test(sizes_that_cannot_be_are_refused_and_remembered),
        cmocka_unit_test(texts_are_copied_with_their_end),
        cmocka_unit_test(a_list_keeps_what_was_added),
        cmocka_unit_test(a_column_keeps_its_first_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
