/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "collect/session/host_clock.h"

static void readings_agree_with_the_raw_clock(void **state)
{
    const struct clock_reading a = host_clock_read();
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    const struct clock_reading b = host_clock_read();
    const double mhz = host_clock_mhz(&a, &b), past_ns = (double)(b.count - a.count) * 1000 / mhz;
    print_message("  %s, %.6f MHz, first %.6f, +-%llu ns\n", host_clock_is_counter ? "counter" : "ns", mhz,
                  host_clock_first_mhz(), (unsigned long long)a.uncertainty_ns);
    assert_true(a.count < b.count && a.mono_raw_ns < b.mono_raw_ns && a.wall_ns < b.wall_ns);
    /* 100 us: two readings that were interrupted in each of their tries. */
    assert_true(fabs(past_ns - (double)(b.mono_raw_ns - a.mono_raw_ns)) < 100000);
    assert_true(fabs(mhz / host_clock_first_mhz() - 1) < 0.01);
    (void)state;
}

static void readings_too_close_together_report_nothing_new(void **state)
{
    const struct clock_reading a = host_clock_read();
    struct clock_reading b = a;
    assert_true(host_clock_mhz(&a, &b) == host_clock_first_mhz());
    b.mono_raw_ns += 1000;
    b.count += 1;
    b.uncertainty_ns += 1000;
    assert_true(host_clock_mhz(&a, &b) == host_clock_first_mhz());
    (void)state;
}

static void the_environment_can_ask_for_ns(void **state)
{
    setenv("ASCOPE_CLOCK", "ns", 1);
    host_clock_init();
    assert_false(host_clock_is_counter);
    const uint64_t before = host_clock_raw_ns(), now = host_clock_now(), after = host_clock_raw_ns();
    assert_true(before <= now && now <= after);
    const struct clock_reading r = host_clock_read();
    assert_int_equal(r.count, r.mono_raw_ns);
    assert_int_equal(r.uncertainty_ns, 0);
    unsetenv("ASCOPE_CLOCK");
    host_clock_init();
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_agree_with_the_raw_clock),
        cmocka_unit_test(readings_too_close_together_report_nothing_new),
        cmocka_unit_test(the_environment_can_ask_for_ns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
