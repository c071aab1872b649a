/* SPDX-License-Identifier: Apache-2.0 */
/* system_tries.h - what only the kernel can answer: each call is tried once, on this process, and undone. */
#ifndef ASCOPE_DOCTOR_SYSTEM_TRIES_H
#define ASCOPE_DOCTOR_SYSTEM_TRIES_H

#include <stdbool.h>
#include <stdint.h>

/* An event that was counted while this process made what it counts. Opening it is no proof: events that leave the kernel out are opened,
 * and stay at 0. */
struct perf_count {
    int why; /* errno of opening it; 0: it is open */
    uint64_t made, counted;
};

struct system_tries {
    struct perf_count (*perf_faults)(void); /* page faults outside of the kernel: what anybody may count */
    bool (*kernel_calls)(const char **why); /* kernel_calls_permitted(): system calls; why not */
    int (*task_stats)(void);                /* 0, or errno */
    int (*membarrier)(void);
    int (*populate)(void);
    double (*clock_ns)(void); /* what a reading of CLOCK_MONOTONIC_RAW takes */
};
extern const struct system_tries system_tries_real;

#endif
