/* SPDX-License-Identifier: Apache-2.0 */
/* host_clock.h - the clock of all records: the CPU's counter where it can be trusted, else the raw monotonic clock in
 * ns.
 *
 * Trusted: aarch64's cntvct; x86-64's TSC where the CPU says that it is invariant and the kernel itself keeps time with
 * it. ASCOPE_CLOCK=ns in the environment takes the other one. The TSC's frequency is measured against
 * CLOCK_MONOTONIC_RAW between start and stop; the longer, the better.
 */
#ifndef ASCOPE_COLLECT_SESSION_HOST_CLOCK_H
#define ASCOPE_COLLECT_SESSION_HOST_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern atomic_bool host_clock_is_counter; /* decided when the library is loaded, and by host_clock_follow() */
void host_clock_init(void);               /* decides again; only for tests, which change the environment */

/* While nothing is recorded: the clock that another collector uses for its records of the host (a counter, or ns), so
 * that ours can lie beside them. False: the counter is not trusted here; it stays ns. */
bool host_clock_follow(bool is_counter);

static inline uint64_t host_clock_raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t host_clock_now_ns(void); /* the same, apart from what reads the counter, which needs no stack */

static inline uint64_t host_clock_now(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(atomic_load_explicit(&host_clock_is_counter, memory_order_relaxed), 1))
        return __rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(atomic_load_explicit(&host_clock_is_counter, memory_order_relaxed), 1)) {
        uint64_t count;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
    }
#endif
    return host_clock_now_ns();
}

/* The clocks at one instant: the best of several tries, each between two readings of the counter. */
struct clock_reading {
    uint64_t count;          /* host_clock_now() */
    uint64_t mono_raw_ns;    /* CLOCK_MONOTONIC_RAW */
    uint64_t wall_ns;        /* CLOCK_REALTIME */
    uint64_t uncertainty_ns; /* half of the time between the two readings */
};
struct clock_reading host_clock_read(void);

/* The raw clock that a collection has for its start or end: its wall clock is in us, and this is for the same us. */
static inline uint64_t clock_reading_window_ns(const struct clock_reading *r)
{
    return r->mono_raw_ns - r->wall_ns % 1000;
}

/* MHz from two readings; 1000 exactly where the clock is ns. Before the second reading: a first estimate, from what the
 * hardware says or from a few ms of measuring, which also is the answer for readings so close together that they are
 * less accurate. */
double host_clock_mhz(const struct clock_reading *first, const struct clock_reading *last);
double host_clock_first_mhz(void);

#endif
