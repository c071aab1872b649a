/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h - each step of the program, always: one record of fixed size in a ring file, for `ascope top DIR`.
 *
 *     struct ascope_monitor how = { .size = sizeof how, .dir = "monitor", .rank = -1 };
 *     ascope_monitor_start(&how, &e);
 *     for (...) { train(); ascope_monitor_step(); }
 *     ascope_monitor_stop();                              (also at exit)
 *
 * ASCOPE_MONITOR=DIR in the environment starts it with the first step, without a call of start. Steps are those of the
 * first of these that the program calls: ascope_monitor_step(), ascope_dynamic_step(), ascope_flight_step(),
 * ascope_profiler_step(), ascope_monitor_iteration(); others are ignored. The first call ends nothing: what came before
 * it is no step. Steps that are shorter than `every_ms` share a record: its values are sums over them.
 *
 * A step costs a reading of the clock. A record costs three system calls and one write, at most every `every_ms`. There
 * is no thread, no lock, and no socket. A value that nobody has passed is stored as not recorded, never as 0. If the file
 * cannot be written (no space), records are lost and counted, with one message; the program continues.
 *
 * After fork() the child is not monitored; it may call start for itself.
 */
#ifndef ASCOPE_MONITOR_H
#define ASCOPE_MONITOR_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of a step. Times are in ns and of the whole step; each is a sum that ascope_monitor_add() adds to. */
enum ascope_monitor_value {
    ASCOPE_MONITOR_COMPUTING,     /* the device computed */
    ASCOPE_MONITOR_COMMUNICATION, /* communication that nothing overlapped */
    ASCOPE_MONITOR_WAIT,          /* of that: waiting for other ranks */
    ASCOPE_MONITOR_TRANSFER,      /* of that: the rest */
    ASCOPE_MONITOR_COPY,          /* the device copied memory */
    ASCOPE_MONITOR_DATA,          /* the step's thread waited for data */
    ASCOPE_MONITOR_GC,            /* garbage collection */
    ASCOPE_MONITOR_CPU,           /* the step's thread ran; by the library */
    ASCOPE_MONITOR_PREEMPTED,     /* the step's thread waited for a processor; by the library */
    ASCOPE_MONITOR_TOKENS,        /* tokens, or samples */
    /* Not sums: the last value that ascope_monitor_set() has set. */
    ASCOPE_MONITOR_ALLOCATED, /* bytes of the device's memory */
    ASCOPE_MONITOR_RESERVED,
    ASCOPE_MONITOR_PEAK,
    ASCOPE_MONITOR_RESIDENT,  /* bytes of the process' memory; by the library */
    ASCOPE_MONITOR_CLOCK_MHZ, /* of the device */
    ASCOPE_MONITOR_POWER_MW,
    ASCOPE_MONITOR_VALUES
};

/* Texts are copied. */
struct ascope_monitor {
    uint32_t size;       /* sizeof(struct ascope_monitor) */
    int32_t rank;        /* below 0: $RANK, or not known */
    const char *dir;     /* of the file; created with its parents. NULL: $ASCOPE_MONITOR */
    uint32_t world_size; /* 0: $WORLD_SIZE, or not known */
    uint32_t every_ms;   /* shorter steps share a record; default: 500. 1: nearly each step has its own */
    uint64_t file_bytes; /* the ring's size at most; default: 8 MiB, six hours and more */
};

/* Errors: false, and e: it runs already, the size is not set, there is no directory or it cannot be written. The
 * program can go on without. Threads: one at a time, for start, step, iteration and stop. */
ASCOPE_API bool ascope_monitor_start(const struct ascope_monitor *how, struct ascope_error *e);

/* A step ends, and the next one begins. Errors: none; ignored while it does not run. Threads: one at a time. */
ASCOPE_API void ascope_monitor_step(void);

/* The same for what is probably a step, such as that of an optimizer: counts as long as nothing better is called.
 * Returns whether a record was written: the time to set what is costly to find out. Errors: none. Threads: one at a
 * time. */
ASCOPE_API bool ascope_monitor_iteration(void);

/* Adds to a value of the current step. Adding 0 means that it is recorded from now on. Errors: none. Threads: any. */
ASCOPE_API void ascope_monitor_add(enum ascope_monitor_value value, int64_t n);
ASCOPE_API void ascope_monitor_set(enum ascope_monitor_value value, int64_t n);

/* Becomes known later than start, as of a process group. Errors: none. Threads: any. */
ASCOPE_API void ascope_monitor_rank(int32_t rank, uint32_t world_size);

/* Its file, lent until it is stopped. Errors: NULL: it does not run. Threads: one at a time. */
ASCOPE_API const char *ascope_monitor_path(void);

/* Writes the steps since the last record. The file stays. Errors: none. Threads: one at a time. */
ASCOPE_API void ascope_monitor_stop(void);

#ifdef __cplusplus
}
#endif
#endif
