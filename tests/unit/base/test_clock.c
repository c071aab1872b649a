/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/process/clock.h"

static void a_frequency_is_an_exact_fraction(void **state)
{
    static const struct {
        const char *what, *mhz;
        uint64_t num, den; /* 0: refused */
    } row[] = {
        { "50 MHz: 20 ns", "50.000000", 20, 1 },
        { "without decimals", "50", 20, 1 },
        { "48 MHz: 20 and five sixths", "48", 125, 6 },
        { "not quite a third", "33.333333", 1000000000, 33333333 },
        { "an x86 counter", "2596.246094", 500000000, 1298123047 },
        { "1000 MHz: nanoseconds already", "1000.000000", 1, 1 },
        { "slow", "0.001", 1000000, 1 },
        { "a point at the end", "50.", 20, 1 },
        { "no digit before the point", ".5", 2000, 1 },
        { "more decimals than mean anything", "50.00000000000000000000001", 20, 1 },
        { "empty", "", 0, 0 },
        { "zero", "0.000000", 0, 0 },
        { "a point alone", ".", 0, 0 },
        { "two points", "5.0.0", 0, 0 },
        { "negative", "-50", 0, 0 },
        { "an exponent", "5e1", 0, 0 },
        { "a unit", "50MHz", 0, 0 },
        { "a blank in front", " 50", 0, 0 },
        { "faster than light", "99999999999999999999", 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct ticks t = { 0 };
        assert_int_equal(ticks_from_mhz(&t, row[i].mhz), row[i].num != 0);
        assert_int_equal(t.num, row[i].num);
        assert_int_equal(t.den, row[i].den);
    }
    (void)state;
}

static void ticks_become_nanoseconds_rounded_down(void **state)
{
    static const struct {
        const char *what, *mhz;
        int64_t ticks, ns;
    } row[] = {
        { "none", "50", 0, 0 },
        { "one of 50 MHz", "50", 1, 20 },
        { "backwards at 50 MHz", "50", -3, -60 },
        { "one of 48 MHz drops its fraction", "48", 1, 20 },
        { "six of 48 MHz are even", "48", 6, 125 },
        { "backwards it rounds down as well", "48", -1, -21 },
        { "backwards and even", "48", -6, -125 },
        { "three of 33.333333 MHz", "33.333333", 3, 90 },
        { "a second of 33.333333 MHz", "33.333333", 33333333, 1000000000 },
        { "a day of 33.333333 MHz, no drift", "33.333333", 86400ll * 33333333, 86400ll * 1000000000 },
        { "a hundred years of 48 MHz", "48", 3155760000ll * 48000000, 3155760000000000000ll },
        { "more than any collection has", "50", INT64_MAX, STAMP_MOST },
        { "as much backwards", "48", INT64_MIN, -STAMP_MOST },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct ticks t;
        assert_true(ticks_from_mhz(&t, row[i].mhz));
        assert_true(ticks_to_ns(t, row[i].ticks) == row[i].ns);
    }
    (void)state;
}

/* Products of 64 bits and of 128 give the same. */
static void long_distances_are_divided_like_short_ones(void **state)
{
    static const struct ticks tick[] = {
        { 500000, 1399999 }, { 1000, 1 }, { 1, 1 }, { 3, 7 }, { UINT64_MAX, UINT64_MAX - 1 }
    };
    for (size_t i = 0; i < sizeof tick / sizeof *tick; i++)
        for (unsigned bit = 0; bit < 63; bit++)
            for (int64_t near = -2; near <= 2; near++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    const int64_t n = sign * (int64_t)((UINT64_C(1) << bit) + (uint64_t)near);
                    const __int128 scaled = (__int128)n * tick[i].num, den = (__int128)tick[i].den;
                    const __int128 floor = scaled / den - (scaled % den < 0);
                    assert_true(ticks_to_ns(tick[i], n) == stamp_held(floor));
                }
    (void)state;
}

static void damaged_stamps_give_a_number_and_no_harm(void **state)
{
    static const char *const mhz[] = { "50", "48", "33.333333", "0.000001", "100000" };
    static const uint64_t stamp[] = { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX };
    for (size_t i = 0; i < ROWS(mhz); i++)
        for (size_t k = 0; k < ROWS(stamp); k++)
            for (size_t m = 0; m < ROWS(stamp); m++) {
                struct clock c = { .cnt = stamp[m], .ns = INT64_MAX };
                assert_true(ticks_from_mhz(&c.tick, mhz[i]));
                const int64_t ns = clock_ns(&c, stamp[k]); /* the sanitizer watches */
                assert_true(ns >= -STAMP_MOST && ns <= STAMP_MOST);
            }
    (void)state;
}

static void a_clock_counts_from_where_it_was_read(void **state)
{
    struct clock c = { .cnt = 1000, .ns = 5000000 };
    assert_true(ticks_from_mhz(&c.tick, "50"));
    assert_true(clock_ns(&c, 1000) == 5000000);
    assert_true(clock_ns(&c, 1050) == 5001000);
    assert_true(clock_ns(&c, 950) == 4999000);
    c.cnt = UINT64_MAX - 9; /* the counter wraps: ten ticks later it is 0 */
    assert_true(clock_ns(&c, 0) == 5000200);
    (void)state;
}

static void exact_durations_keep_the_fraction(void **state)
{
    struct ticks t;
    assert_true(ticks_from_mhz(&t, "48"));
    assert_true(ticks_to_ns_exact(t, 6) == 125.0);
    assert_true(ticks_to_ns_exact(t, 3) == 62.5);
    assert_true(ticks_to_ns_exact(t, 1) == 20.0 + 5.0 / 6.0);
    assert_true(ticks_from_mhz(&t, "50"));
    assert_true(ticks_to_ns_exact(t, 7) == 140.0);
    assert_true(ticks_to_ns_exact(t, UINT64_MAX) == 0x1p62); /* a damaged stamp: still a number of ns */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frequency_is_an_exact_fraction),
        cmocka_unit_test(ticks_become_nanoseconds_rounded_down),
        cmocka_unit_test(long_distances_are_divided_like_short_ones),
        cmocka_unit_test(damaged_stamps_give_a_number_and_no_harm),
        cmocka_unit_test(a_clock_counts_from_where_it_was_read),
        cmocka_unit_test(exact_durations_keep_the_fraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
