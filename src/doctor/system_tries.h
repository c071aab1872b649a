/* SPDX-License-Identifier: Apache-2.0 */
/* system_tries.h - system calls whose support only a try can show: each is made once, on this process, and undone. */
#ifndef ASCOPE_DOCTOR_SYSTEM_TRIES_H
#define ASCOPE_DOCTOR_SYSTEM_TRIES_H

#include <stdbool.h>
#include <stdint.h>

/* The count of an event while this process caused `made` of them. That an event can be opened proves nothing: on
 * some machines it stays at 0. */
struct perf_count {
    int why; /* errno value of perf_event_open(); 0: it was opened */
    uint64_t made, counted;
};

struct system_tries {
    struct perf_count (*perf_faults)(void); /* counts page faults in user space, which every user may count */
    bool (*kernel_calls)(
        const char **why);   /* kernel_calls_permitted(): whether system calls can be traced; *why: the reason if not */
    int (*task_stats)(void); /* 0, or errno */
    int (*membarrier)(void);
    int (*populate)(void);
    double (*clock_ns)(void); /* duration of a reading of CLOCK_MONOTONIC_RAW */
};
extern const struct system_tries system_tries_real;

#endif
