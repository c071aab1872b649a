/* schedule.h - which steps are recorded: wait, warm up, be active, and again.
 *
 *     struct ascope_schedule plan = { .wait = 1, .active = 2, .warmup = 1, .repeat = 1 };
 *     struct ascope_profiler *p = ascope_profiler_new(&options, &plan, ready, NULL);
 *     ascope_profiler_start(p);
 *     for (...) { train(); ascope_profiler_step(p); }
 *     ascope_profiler_stop(p);
 *     ascope_profiler_free(p);
 *
 * Each turn of the schedule is a session with a directory of its own; `ready` is called when it is complete. Trouble never
 * stops the program: it is told as a message (base.h), and the profiler goes on without recording. One thread at a time.
 */
#ifndef ASCOPE_SCHEDULE_H
#define ASCOPE_SCHEDULE_H

#include "ascope/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ascope_action { ASCOPE_NONE, ASCOPE_WARMUP, ASCOPE_RECORD, ASCOPE_RECORD_AND_SAVE };

/* As `active`: all steps from there on; the recording ends with stop. */
#define ASCOPE_EVERY_STEP INT64_MAX

struct ascope_schedule {
    int64_t wait, active, warmup, repeat, skip_first, skip_first_wait;
};

/* Values that cannot be become their defaults (0, active 1), each with a warning. */
ASCOPE_API void ascope_schedule_check(struct ascope_schedule *s);
ASCOPE_API enum ascope_action ascope_schedule_action(const struct ascope_schedule *s, uint64_t step);

struct ascope_profiler;
typedef void (*ascope_ready_fn)(const char *path,
                                void *user); /* the directory; on the thread that called step or stop */

/* A schedule of NULL records every step into one session. */
ASCOPE_API struct ascope_profiler *ascope_profiler_new(const struct ascope_options *o,
                                                       const struct ascope_schedule *plan, ascope_ready_fn ready,
                                                       void *user);
/* For doors whose schedule is a function: asked for every step, in order. */
typedef enum ascope_action (*ascope_action_fn)(uint64_t step, void *user);
ASCOPE_API struct ascope_profiler *ascope_profiler_new_with(const struct ascope_options *o, ascope_action_fn plan,
                                                            ascope_ready_fn ready, void *user);
ASCOPE_API void ascope_profiler_start(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_step(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_stop(struct ascope_profiler *p);
ASCOPE_API void ascope_profiler_free(struct ascope_profiler *p); /* stops it first; NULL is fine */

ASCOPE_API struct ascope_session *ascope_profiler_session(struct ascope_profiler *p); /* NULL: none is open */
ASCOPE_API enum ascope_action ascope_profiler_action(const struct ascope_profiler *p);

#ifdef __cplusplus
}
#endif
#endif
