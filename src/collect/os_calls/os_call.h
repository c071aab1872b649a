/* SPDX-License-Identifier: Apache-2.0 */
/* os_call.h - one call of the operating system, or of its thread library: the record in a ring, and the line that a
 * file has of it.
 *
 * Lines are those of the tracers that the reference starts (perf trace, ltrace), in the form that its reader takes
 * whole: each names its thread, and has exactly one argument. All times are of CLOCK_MONOTONIC_RAW. Readers place the
 * first line of a file at the start of the collection: each slice begins with a line for that instant, of thread 0,
 * which no reader reports.
 *
 * A program's threads read the counter (host_clock.h), which is cheap; the writer, and recovery, turn it into
 * nanoseconds.
 */
#ifndef ASCOPE_COLLECT_OS_CALLS_OS_CALL_H
#define ASCOPE_COLLECT_OS_CALLS_OS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OS_CALL_COMMAND = 16, OS_CALL_LINE_MOST = 256 };
#define OS_CALL_UNKNOWN INT64_MIN
enum os_call_clock { OS_CALL_RAW_NS, OS_CALL_COUNTER };

struct os_call {
    uint64_t begin, duration; /* in the clock's units */
    int64_t argument;         /* the first one */
    int64_t result;           /* of a system call as the kernel has it: -errno when it failed; OS_CALL_UNKNOWN */
    uint32_t thread;
    uint16_t number;               /* of a system call: the kernel's; else enum thread_call */
    uint16_t clock;                /* enum os_call_clock */
    char command[OS_CALL_COMMAND]; /* name of the thread */
};

/* Calls of the thread library. Those that may wait and the four that the reference traces. */
/* clang-format off */
#define THREAD_CALLS(X) \
    X(pthread_attr_init) X(pthread_barrier_wait) X(pthread_cond_clockwait) X(pthread_cond_timedwait) \
    X(pthread_cond_wait) X(pthread_create) X(pthread_join) X(pthread_mutex_clocklock) X(pthread_mutex_init) \
    X(pthread_mutex_lock) X(pthread_mutex_timedlock) X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock) \
    X(sem_clockwait) X(sem_timedwait) X(sem_wait)
/* clang-format on */

enum thread_call {
#define ROW(name) THREAD_CALL_##name,
    THREAD_CALLS(ROW)
#undef ROW
        THREAD_CALL_KINDS
};

/* How counters become times; the writer's latest reading of both clocks, which every commit holds. */
struct os_call_times {
    uint64_t begin_ns; /* start of the collection */
    uint64_t count, raw_ns;
    double ns_per_count;
    int64_t wall_less_raw_ns; /* the wall clock, at the start */
};

/* NULL: not one of those that are reported. */
const char *system_call_name(unsigned number);

/* The line of a record, with its end; 0: no thread has put such a record. */
size_t system_call_line(const struct os_call_times *t, const uint8_t *record, size_t bytes,
                        char line[OS_CALL_LINE_MOST]);
size_t thread_call_line(const struct os_call_times *t, const uint8_t *record, size_t bytes,
                        char line[OS_CALL_LINE_MOST]);
/* The first line of a slice. */
size_t system_calls_head(const struct os_call_times *t, char line[OS_CALL_LINE_MOST]);
size_t thread_calls_head(const struct os_call_times *t, char line[OS_CALL_LINE_MOST]);

#endif
