/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/memory/keys.h"

static void places_are_those_of_first_appearance(void **state)
{
    static const uint64_t in[] = { 7, 7, 0, UINT64_MAX, 7, 0, 5 };
    static const uint32_t place[] = { 0, 0, 1, 2, 0, 1, 3 };
    struct arena *mem = arena_new();
    struct keys k = { 0 };
    for (size_t i = 0; i < ROWS(in); i++)
        assert_int_equal(keys_add(&k, in[i], mem), place[i]);
    assert_int_equal(k.key.n, 4);
    assert_int_equal(k.key.at[2], UINT64_MAX);
    arena_free(mem);
    (void)state;
}

static void many_keys_and_few_in_turn(void **state)
{
    struct arena *mem = arena_new();
    struct keys k = { 0 };
    static const size_t sizes[] = { 3, 8, 9, 1, 20000, 8, 40000, 2 };
    for (size_t round = 0; round < ROWS(sizes); round++) {
        print_message("  %zu keys\n", sizes[round]);
        for (size_t i = 0; i < sizes[round]; i++)
            assert_int_equal(keys_add(&k, i * 4096 + round, mem), i);
        for (size_t i = 0; i < sizes[round]; i++)
            assert_int_equal(keys_add(&k, i * 4096 + round, mem), i);
        for (size_t i = 0; i < sizes[round]; i++)
            assert_int_equal(keys_find(&k, i * 4096 + round), i);
        assert_int_equal(keys_find(&k, 4095), KEYS_NONE);
        assert_int_equal(k.key.n, sizes[round]);
        keys_clear(&k);
        assert_int_equal(k.key.n, 0);
    }
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_those_of_first_appearance),
        cmocka_unit_test(many_keys_and_few_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
