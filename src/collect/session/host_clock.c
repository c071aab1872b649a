/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/host_clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/record.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Among so many tries one is not interrupted. A first estimate over this time is good to some 10 ppm; programs mostly
 * open their first session so long after they were loaded, and nobody waits. */
enum { TRIES = 16, CALIBRATION_NS = 4000000 };

atomic_bool host_clock_is_counter;
static bool has_counter;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct clock_reading loaded;      /* reading when the library was loaded; its uncertainty is in counts */
static double first_mhz, first_relative; /* and how far it may be off, as a part of it */

#if defined(__x86_64__)
/* The kernel watches the TSC while it keeps time with it, and turns to another clock when cores or sleep states
 * disagree. */
static bool kernel_trusts_tsc(void)
{
    char text[8] = "";
    const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n >= 4 && strcmp(text, "tsc\n") == 0;
}

static bool counter_is_trusted(void)
{
    enum { POWER_MANAGEMENT = 0x80000007, INVARIANT_TSC = 1 << 8 };
    unsigned a, b, c, d = 0;
    return __get_cpuid((unsigned)POWER_MANAGEMENT, &a, &b, &c, &d) && (d & INVARIANT_TSC) && kernel_trusts_tsc();
}
#else
static bool counter_is_trusted(void)
{
#if defined(__aarch64__)
    return true;
#else
    return false;
#endif
}
#endif

/* Reads the clocks several times and returns the most exact reading. The wall clock is read some 20 ns later. */
static struct clock_reading best_reading(void)
{
    struct clock_reading best = { .uncertainty_ns = UINT64_MAX };
    for (int i = 0; i < TRIES; i++) {
        struct timespec wall;
        const uint64_t before = host_clock_now(), raw_ns = host_clock_raw_ns(), after = host_clock_now();
        clock_gettime(CLOCK_REALTIME, &wall);
        const uint64_t counts = (after - before) / 2 + 1; /* a slow counter may not have moved at all */
        if (counts < best.uncertainty_ns)
            best = (struct clock_reading){ .count = before + (after - before) / 2,
                                           .mono_raw_ns = raw_ns,
                                           .wall_ns = (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec,
                                           .uncertainty_ns = counts };
    }
    if (!host_clock_is_counter) { /* both are the same clock */
        best.count = best.mono_raw_ns;
        best.uncertainty_ns = 0;
    }
    return best;
}

static double counts_per_us(const struct clock_reading *a, const struct clock_reading *b)
{
    return (double)(b->count - a->count) * 1000 / (double)(b->mono_raw_ns - a->mono_raw_ns);
}

/* With the library, so that no two readings of a process are of different clocks. */
__attribute__((constructor)) void host_clock_init(void)
{
    const char *const asked = getenv("ASCOPE_CLOCK");
    has_counter = !(asked && strcmp(asked, "ns") == 0) && counter_is_trusted();
    host_clock_is_counter = has_counter;
    loaded = best_reading();
}

uint64_t host_clock_now_ns(void)
{
    return host_clock_raw_ns();
}

bool host_clock_follow(bool is_counter)
{
    if (is_counter && !has_counter)
        return false;
    if (has_counter && !is_counter)
        host_clock_first_mhz(); /* measured now, while the counter is still the clock */
    host_clock_is_counter = is_counter;
    return true;
}

static void calibrate(void)
{
    if (!host_clock_is_counter) {
        first_mhz = 1000;
        return;
    }
#if defined(__aarch64__)
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    if (hz > 0) {
        first_mhz = (double)hz / 1e6;
        first_relative = 1e-7; /* the kernel rounds the factor that it makes of it */
        return;
    }
#endif
    const uint64_t past_ns = host_clock_raw_ns() - loaded.mono_raw_ns;
    if (past_ns < CALIBRATION_NS) {
        struct timespec rest = { .tv_nsec = (long)(CALIBRATION_NS - past_ns) };
        while (nanosleep(&rest, &rest) != 0)
            ;
    }
    const struct clock_reading now = best_reading();
    first_mhz = counts_per_us(&loaded, &now);
    first_relative = (double)(loaded.uncertainty_ns + now.uncertainty_ns) / (double)(now.count - loaded.count);
}

double host_clock_first_mhz(void)
{
    pthread_once(&once, calibrate);
    return host_clock_is_counter ? first_mhz : 1000;
}

struct clock_reading host_clock_read(void)
{
    const double mhz = host_clock_first_mhz();
    struct clock_reading r = best_reading();
    r.uncertainty_ns = (uint64_t)((double)r.uncertainty_ns * 1000 / mhz + 0.999);
    return r;
}

double host_clock_mhz(const struct clock_reading *first, const struct clock_reading *last)
{
    const double before = host_clock_first_mhz();
    if (!host_clock_is_counter || last->mono_raw_ns <= first->mono_raw_ns)
        return before;
    const double between_ns = (double)(last->mono_raw_ns - first->mono_raw_ns);
    const double relative = (double)(first->uncertainty_ns + last->uncertainty_ns) / between_ns;
    return relative < first_relative ? counts_per_us(first, last) : before;
}

uint64_t ascope_now(void)
{
    return host_clock_now();
}
