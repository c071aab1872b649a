/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory/region.h"

enum { MIB = 1 << 20, LARGEST_PAGE = 1 << 16 };

static struct region the_region;

/* In place of the C library's: as a kernel whose pages have 64 KiB does it. */
int madvise(void *at, size_t bytes, int advice)
{
    if (((char *)at - the_region.at) % LARGEST_PAGE == 0)
        return (int)syscall(SYS_madvise, at, bytes, advice);
    errno = EINVAL;
    return -1;
}

static struct region *opened(size_t bytes)
{
    the_region = (struct region)REGION_NONE;
    region_open(&the_region, bytes);
    assert_non_null(the_region.at);
    return &the_region;
}

static unsigned char *filled(struct region *r, size_t bytes, int with)
{
    unsigned char *at = region_take(r, bytes, 0);
    assert_non_null(at);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(at[i], 0);
    memset(at, with, bytes);
    return at;
}

static void what_was_given_back_is_taken_again_and_zero(void **state)
{
    struct region *r = opened(16 * MIB);
    unsigned char *a = filled(r, 3 * MIB, 1), *b = filled(r, MIB, 2);
    assert_true(region_give(r, a));
    unsigned char *c = filled(r, 2 * MIB, 3), *d = filled(r, MIB - 64 * 1024, 4);
    assert_ptr_equal(c, a);
    assert_true(d > c && d < b);
    const size_t touched = region_touched(r);
    assert_true(touched < 5 * MIB);
    assert_true(region_give(r, c) && region_give(r, d)); /* both are one again, and with the next as well */
    assert_ptr_equal(filled(r, 3 * MIB, 5), a);
    assert_true(region_give(r, a) && region_give(r, b));
    assert_int_equal(region_touched(r), touched);
    assert_ptr_equal(filled(r, 10 * MIB, 6), a); /* what is free at the end, and more than that */
    assert_false(region_give(r, state));
}

static void the_rest_of_a_column_is_free(void **state)
{
    (void)state;
    struct region *r = opened(16 * MIB);
    unsigned char *a = filled(r, 10 * MIB, 1);
    assert_null(region_take(r, 7 * MIB, 0));
    assert_true(region_trim(r, a, 2 * MIB));
    for (size_t i = 0; i < 2 * MIB; i++)
        assert_int_equal(a[i], 1);
    unsigned char *b = filled(r, 13 * MIB, 2);
    assert_true(b > a && region_give(r, b));
    region_rest(r, 14 * MIB);
    assert_true(region_touched(r) > 14 * MIB);
    region_rest(r, 0);
    assert_true(region_touched(r) < 3 * MIB);
    filled(r, 13 * MIB, 3);
}

static void large_pages_are_zero_again(void **state)
{
    (void)state;
    struct region *r = opened(16 * MIB);
    unsigned char *a = filled(r, 300 * 1024, 1), *b = filled(r, 300 * 1024, 2);
    assert_true(region_give(r, b));
    region_rest(r, 0);
    assert_ptr_equal(filled(r, 500 * 1024, 3), b);
    assert_true(region_give(r, a) && region_give(r, b));
    region_rest(r, 0);
    filled(r, 2 * MIB, 4);
}

static void columns_leave_some_room(void **state)
{
    (void)state;
    struct region *r = opened(16 * MIB);
    assert_null(region_take(r, 13 * MIB, 4 * MIB));
    void *column = region_take(r, 11 * MIB, 4 * MIB), *other = region_take(r, 4 * MIB, 0);
    assert_non_null(column);
    assert_non_null(other);
    assert_true(region_give(r, other));
    assert_null(region_take(r, 2 * MIB, 4 * MIB)); /* it would lie in the room that is left */
    assert_non_null(region_take(r, 2 * MIB, 0));
    assert_null(region_take(r, SIZE_MAX - 1, 0));
}

/* Columns of many sizes, in an order that looks like none: nothing of one is ever seen in another. */
static void many_columns_do_not_meet(void **state)
{
    (void)state;
    enum { HELD = 24, ROUNDS = 2000 };
    struct region *r = opened(64 * MIB);
    struct {
        unsigned char *at;
        size_t bytes;
        unsigned char with;
    } held[HELD] = { 0 };
    uint64_t dice = RANDOM_SEED;
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t i = random_next(&dice) % HELD, bytes = 4096 + random_next(&dice) % (3 * MIB);
        if (held[i].at) {
            for (size_t k = 0; k < held[i].bytes; k += 997)
                assert_int_equal(held[i].at[k], held[i].with);
            if (round % 3 == 0 && held[i].bytes > 9000)
                region_trim(r, held[i].at, held[i].bytes / 2);
            assert_true(region_give(r, held[i].at));
        }
        if (round % 100 == 99)
            region_rest(r, 0);
        held[i].at = region_take(r, bytes, 0);
        held[i].bytes = bytes;
        held[i].with = (unsigned char)(1 + round % 255);
        if (!held[i].at)
            continue;
        for (size_t k = 0; k < bytes; k += 997)
            assert_int_equal(held[i].at[k], 0);
        memset(held[i].at, held[i].with, bytes);
    }
    for (size_t i = 0; i < HELD; i++)
        if (held[i].at)
            assert_true(region_give(r, held[i].at));
    region_rest(r, 0);
    assert_int_equal(region_touched(r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_back_is_taken_again_and_zero),
        cmocka_unit_test(the_rest_of_a_column_is_free),
        cmocka_unit_test(large_pages_are_zero_again),
        cmocka_unit_test(columns_leave_some_room),
        cmocka_unit_test(many_columns_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
