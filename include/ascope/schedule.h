/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - which steps are recorded: wait, warm up, be active, and again.
 *
 *     struct ascope_schedule plan = { .size = sizeof plan, .wait = 1, .active = 2, .warmup = 1, .repeat = 1 };
 *     struct ascope_profiler *p = ascope_profiler_new(&options, &plan, ready, NULL);
 *     ascope_profiler_start(p);
 *     for (...) { train(); ascope_profiler_step(p); }
 *     ascope_profiler_stop(p);
 *     ascope_profiler_free(p);
 *
 * Each cycle of the schedule is a session with a directory of its own; `ready` is called when it is complete. An error
 * never stops the program: it is reported as a message (base.h), and the profiler continues without recording. A
 * profiler of NULL is allowed in all of these functions, and does nothing.
 */
#ifndef ASCOPE_SCHEDULE_H
#define ASCOPE_SCHEDULE_H

#include "ascope/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ascope_action { ASCOPE_NONE, ASCOPE_WARMUP, ASCOPE_RECORD, ASCOPE_RECORD_AND_SAVE };

/* As `active`: all steps from there on; the recording ends with stop. What is recorded behind the last step is part of
 * none. */
#define ASCOPE_EVERY_STEP INT64_MAX

/* Numbers of steps. `repeat` is a number of cycles, 0: without end; `skip_first_wait` not 0: the first cycle does not
 * wait. The names of steps ("ProfilerStep#N") begin with `first_step`, below 0: with 0; the schedule counts from 0 in
 * any case. */
struct ascope_schedule {
    uint32_t size; /* sizeof(struct ascope_schedule) */
    int64_t wait, active, warmup, repeat, skip_first, skip_first_wait;
    int64_t first_step;
};

/* Invalid values fall back to their defaults (0, active 1), each with a warning.
 * Errors: a size that is not set is a warning, and nothing is changed. Threads: any, each with a schedule of its own. */
ASCOPE_API void ascope_schedule_check(struct ascope_schedule *s);

/* What the schedule does with a step, counted from 0. Invalid values count as their defaults.
 * Errors: ASCOPE_NONE: the size is not set. Threads: any. */
ASCOPE_API enum ascope_action ascope_schedule_action(const struct ascope_schedule *s, uint64_t step);

struct ascope_profiler;
/* Called when a directory is complete, on the thread that called step, stop or free. The path is lent for the call. */
typedef void (*ascope_ready_fn)(const char *path, void *user);
/* A schedule that is a function: called once for each step, in order. */
typedef enum ascope_action (*ascope_action_fn)(uint64_t step, void *user);

/* Options and schedule are copied; options of NULL: the defaults. Without a schedule every step is recorded, into one
 * session. Errors: NULL, with a message: no memory, or a size that is not set. Threads: any. */
ASCOPE_API struct ascope_profiler *ascope_profiler_new(const struct ascope_options *o,
                                                       const struct ascope_schedule *plan, ascope_ready_fn ready,
                                                       void *user);
ASCOPE_API struct ascope_profiler *ascope_profiler_new_with(const struct ascope_options *o, ascope_action_fn plan,
                                                            ascope_ready_fn ready, void *user);

/* The first step begins; the next one begins; all ends. Free stops it first.
 * Errors: reported as messages. Threads: one at a time. */
ASCOPE_API void ascope_profiler_start(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_step(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_stop(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_free(struct ascope_profiler *p);

/* Its open session, lent until the next step or stop, and what it does with this step.
 * Errors: NULL: none is open. Threads: one at a time. */
ASCOPE_API struct ascope_session *ascope_profiler_session(struct ascope_profiler *p);
ASCOPE_API enum ascope_action ascope_profiler_action(const struct ascope_profiler *p);

#ifdef __cplusplus
}
#endif
#endif
