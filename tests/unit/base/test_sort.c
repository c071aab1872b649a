/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/memory/sort.h"

static void small_tables_sort_as_the_eye_sees(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        uint64_t key[6];
        uint32_t order[6];
    } row[] = {
        { "nothing", 0, { 0 }, { 0 } },
        { "one", 1, { 7 }, { 0 } },
        { "two, in order", 2, { 1, 2 }, { 0, 1 } },
        { "two, reversed", 2, { 2, 1 }, { 1, 0 } },
        { "all equal keep their order", 4, { 5, 5, 5, 5 }, { 0, 1, 2, 3 } },
        { "equals among others keep theirs", 5, { 2, 1, 2, 1, 2 }, { 1, 3, 0, 2, 4 } },
        { "the top byte decides", 3, { UINT64_MAX, 0, 1ull << 63 }, { 1, 2, 0 } },
        { "far bytes, equal in between", 3, { 1ull << 56 | 1, 2, 1 }, { 2, 1, 0 } },
        { "reversed", 6, { 6, 5, 4, 3, 2, 1 }, { 5, 4, 3, 2, 1, 0 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        uint32_t order[6] = { 0 };
        order_fill(order, row[i].n);
        assert_true(order_by_u64(order, row[i].n, row[i].key));
        assert_memory_equal(order, row[i].order, row[i].n * sizeof *order);
    }
    (void)state;
}

static const uint64_t *compared_key;

static int by_key_then_place(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (compared_key[x] != compared_key[y])
        return compared_key[x] < compared_key[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void random_keys_sort_as_qsort_does(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        uint64_t mask;
    } row[] = {
        { "full width", 100000, UINT64_MAX },          { "two values", 100000, 1 },  { "one byte", 50000, 0xFF },
        { "only a middle byte", 50000, 0xFF0000 },     { "16 bits", 50000, 0xFFFF }, { "32 bits", 50000, 0xFFFFFFFF },
        { "both ends", 50000, 0xFF000000000000FFull }, { "few", 3, UINT64_MAX },
    };
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const size_t n = row[i].n;
        uint64_t *key = malloc(n * sizeof *key);
        uint32_t *key32 = malloc(n * sizeof *key32), *order = malloc(n * sizeof *order),
                 *want = malloc(n * sizeof *want);
        uint16_t *key16 = malloc(n * sizeof *key16);
        for (size_t k = 0; k < n; k++) {
            key[k] = random_next(&random) & row[i].mask;
            key32[k] = (uint32_t)key[k];
            key16[k] = (uint16_t)key[k];
        }
        for (int width = 64; width >= 16; width /= 2) {
            for (size_t k = 0; k < n; k++)
                key[k] = width == 64 ? key[k] : width == 32 ? key32[k] : key16[k];
            order_fill(order, n);
            order_fill(want, n);
            compared_key = key;
            qsort(want, n, sizeof *want, by_key_then_place);
            assert_true(width == 64   ? order_by_u64(order, n, key)
                        : width == 32 ? order_by_u32(order, n, key32)
                                      : order_by_u16(order, n, key16));
            assert_memory_equal(order, want, n * sizeof *order);
        }
        free(key);
        free(key32);
        free(key16);
        free(order);
        free(want);
    }
    (void)state;
}

static void several_keys_sort_last_one_first(void **state)
{
    /* by stream, then by time */
    const uint16_t stream[] = { 2, 1, 2, 1, 1 };
    const uint64_t time[] = { 10, 30, 5, 20, 30 };
    const uint32_t want[] = { 3, 1, 4, 2, 0 };
    uint32_t order[5];
    order_fill(order, 5);
    assert_true(order_by_u64(order, 5, time));
    assert_true(order_by_u16(order, 5, stream));
    assert_memory_equal(order, want, sizeof want);
    (void)state;
}

static void applying_an_order_moves_whole_elements(void **state)
{
    static const size_t sizes[] = { 1, 2, 3, 4, 8, 24 };
    const uint32_t order[] = { 3, 0, 0, 2 };
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < ROWS(sizes); i++) {
        const size_t size = sizes[i];
        _Alignas(8) unsigned char in[4 * 24], out[4 * 24] = { 0 };
        for (size_t b = 0; b < sizeof in; b++)
            in[b] = (unsigned char)random_next(&random);
        order_apply(out, in, order, 4, size);
        for (size_t k = 0; k < 4; k++)
            assert_memory_equal(out + k * size, in + order[k] * size, size);
    }
    (void)state;
}

static void a_search_ends_where_the_condition_does(void **state)
{
    (void)state;
    for (size_t low = 0; low < 9; low++)
        for (size_t high = low; high < 9; high++)
            for (size_t first = low; first <= high; first++) {
                size_t n_asked = 0;
                const size_t found = SEARCH_FIRST_NOT(
                    i, low, high, (n_asked++, assert_true(i >= low), assert_true(i < high), i < first));
                assert_int_equal(found, first);
                assert_true(n_asked <= 4);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tables_sort_as_the_eye_sees),
        cmocka_unit_test(random_keys_sort_as_qsort_does),
        cmocka_unit_test(several_keys_sort_last_one_first),
        cmocka_unit_test(applying_an_order_moves_whole_elements),
        cmocka_unit_test(a_search_ends_where_the_condition_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
