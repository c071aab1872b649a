/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/schedule.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/record.h"
#include "collect/marks/mark_domain.h"
#include "collect/monitor/monitor_steps.h"
#include "collect/session/message.h"
#include "collect/options/options.h"
#include "collect/session/recorder_session.h"
#include "collect/options/sized.h"
#include "collect/samplers/step_thread.h"

struct ascope_profiler {
    struct ascope_options o;
    bool is_checked; /* the options were checked in the first cycle: problems are reported once */
    bool has_plan;
    struct ascope_schedule plan;
    ascope_action_fn asks;
    ascope_ready_fn ready;
    void *user;

    uint64_t step;
    enum ascope_action action;
    bool is_stopped, was_started;
    bool was_active; /* some step of the schedule was active */
    struct ascope_session *session;
    char path[PATH_MAX]; /* collection of the last session that was completed */

    struct ascope_op range;
    uint64_t mark;
    char range_name[40];
    struct step_thread thread; /* of the step that has begun */
    uint64_t number;           /* of that step */
};

/* ---- what happens between two steps ---- */

static struct ascope_session *session_of(const struct ascope_profiler *p)
{
    return session_is_open(p->session) ? p->session : NULL;
}

static void profiler_report(bool went_well, const struct ascope_error *e)
{
    if (!went_well) /* an error, because warnings of other ranks are rarely read */
        message(ASCOPE_ERROR, "%s", e->text);
}

static void do_init(struct ascope_profiler *p)
{
    struct ascope_error e;
    if (!p->is_checked)
        options_check(&p->o);
    p->is_checked = true;
    p->session = session_new(&p->o, true, &e);
    profiler_report(p->session, &e);
    if (p->session)
        session_schedule(p->session, p->has_plan ? &p->plan : NULL);
}

static void do_warmup(struct ascope_profiler *p)
{
    struct ascope_error e;
    profiler_report(!session_of(p) || ascope_session_warmup(p->session, &e), &e);
}

static void do_start(struct ascope_profiler *p)
{
    struct ascope_error e;
    if (session_of(p))
        profiler_report(ascope_session_start(p->session, &e), &e);
    /* a session was recorded and ended: the schedule warms up again after its active phase */
    else if (*p->path)
        message(ASCOPE_WARNING, "start: the collection has already ended; nothing is recorded in this cycle");
}

static void do_stop(struct ascope_profiler *p)
{
    struct ascope_error e;
    profiler_report(!session_of(p) || ascope_session_stop(p->session, &e), &e);
}

static void do_finish(struct ascope_profiler *p)
{
    struct ascope_error e;
    if (!session_of(p))
        return;
    snprintf(p->path, sizeof p->path, "%s", ascope_session_path(p->session));
    profiler_report(ascope_session_end(p->session, &e), &e);
    p->session = NULL;
}

static void do_ready(struct ascope_profiler *p)
{
    if (p->ready && *p->path)
        p->ready(p->path, p->user);
}

static void do_delete(struct ascope_profiler *p)
{
    ascope_session_discard(session_of(p));
    p->session = NULL;
}

/* F before D is the document's, where finishing closes files; what is deleted need not be described. */
enum { LEAVES = ASCOPE_RECORD_AND_SAVE + 1 }; /* stop(), beside the actions */
static const struct profiler_move {
    const char *steps; /* I init, W warm-up, S start, T stop, F finish, R ready, D delete */
    const char *warns;
} moves[ASCOPE_RECORD_AND_SAVE + 1][LEAVES + 1] = {
    [ASCOPE_NONE] = { [ASCOPE_WARMUP] = { "IW", NULL },
                      [ASCOPE_RECORD] = { "IS", NULL },
                      [ASCOPE_RECORD_AND_SAVE] = { "IS", NULL } },
    [ASCOPE_WARMUP] = { [ASCOPE_NONE] = { "STF", "the schedule ends after a warm-up: the collection will be empty" },
                        [ASCOPE_RECORD] = { "S", NULL },
                        [ASCOPE_RECORD_AND_SAVE] = { "S", NULL },
                        [LEAVES] = { "D", NULL } },
    [ASCOPE_RECORD] = { [ASCOPE_NONE] = { "TF", "the schedule ends a recording without saving: it is on disk, "
                                                "on_trace_ready is not called" },
                        [ASCOPE_WARMUP] = { "TF",
                                            "the schedule warms up after a recording that was not saved: it is on "
                                            "disk, on_trace_ready is not called" },
                        [LEAVES] = { "TFR", "stopped while recording: the last step may be incomplete" } },
    [ASCOPE_RECORD_AND_SAVE] = { [ASCOPE_NONE] = { "TFR", NULL },
                                 [ASCOPE_WARMUP] = { "TFRIW", NULL },
                                 [ASCOPE_RECORD] = { "TFRIS", NULL },
                                 [ASCOPE_RECORD_AND_SAVE] = { "TFRIS", NULL },
                                 [LEAVES] = { "TFR", "stopped while recording: the last step may be incomplete" } },
};

/* Whether stop() always ends the recording within a step. */
static bool ends_by_stop(const struct ascope_profiler *p)
{
    return p->has_plan ? p->plan.active == ASCOPE_EVERY_STEP : !p->asks;
}

static void transit(struct ascope_profiler *p, unsigned from, unsigned to)
{
    static const struct {
        char letter;
        void (*act)(struct ascope_profiler *);
    } acts[] = { { 'I', do_init },   { 'W', do_warmup }, { 'S', do_start }, { 'T', do_stop },
                 { 'F', do_finish }, { 'R', do_ready },  { 'D', do_delete } };
    const struct profiler_move *m = &moves[from][to];
    p->was_active |= to == ASCOPE_RECORD || to == ASCOPE_RECORD_AND_SAVE;
    if (m->warns && session_of(p)) /* without a session, the failure was reported already */
        message(from == ASCOPE_RECORD && ends_by_stop(p) ? ASCOPE_INFO : ASCOPE_WARNING, "%s", m->warns);
    for (const char *c = m->steps ? m->steps : ""; *c; c++)
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
            if (acts[i].letter == *c)
                acts[i].act(p);
}

/* ---- the step as a range ---- */

static bool has_schedule(const struct ascope_profiler *p)
{
    return p->has_plan || p->asks;
}

static void range_begin(struct ascope_profiler *p)
{
    const uint64_t number = p->step + (uint64_t)(p->has_plan && p->plan.first_step > 0 ? p->plan.first_step : 0);
    if (session_of(p))
        ascope_session_step(p->session, number);
    if (!has_schedule(p))
        return;
    p->number = number;
    step_thread_begin(&p->thread);
    snprintf(p->range_name, sizeof p->range_name, "ProfilerStep#%llu", (unsigned long long)number);
    p->mark =
        ascope_range_begin(NULL, p->range_name, ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_current_stream() : NULL);
    ascope_op_begin(&p->range, p->range_name);
    p->range.scope = ASCOPE_SCOPE_USER; /* set after ascope_op_begin(), which clears it */
}

static void range_end(struct ascope_profiler *p)
{
    ascope_op_end(&p->range);
    ascope_range_end(NULL, p->mark);
    if (session_of(p) && p->range.begin > 0 && ascope_records(ASCOPE_RECORDS_OPERATORS))
        step_thread_end(&p->thread, p->number);
    p->range.begin = p->mark = 0;
    p->thread.begin = 0;
}

/* ---- life ---- */

static enum ascope_action action_at(const struct ascope_profiler *p, uint64_t step)
{
    const enum ascope_action a = p->asks       ? p->asks(step, p->user)
                                 : p->has_plan ? ascope_schedule_action(&p->plan, step)
                                               : ASCOPE_RECORD;
    return a <= ASCOPE_RECORD_AND_SAVE ? a : ASCOPE_NONE;
}

static bool plan_take(struct ascope_profiler *p, const struct ascope_schedule *plan, struct error *e)
{
    p->has_plan = plan != NULL;
    if (!plan)
        return true;
    if (!sized_copy(&p->plan, sizeof p->plan, plan))
        return error_set(e, FAULT_ASKED, "schedule of %u bytes: set its size to sizeof(struct ascope_schedule)",
                         plan->size);
    if (sized_has_unknown(plan, sizeof p->plan))
        message(ASCOPE_WARNING, "schedule: the program sets a field unknown to libascope " ASCOPE_VERSION "; ignored");
    ascope_schedule_check(&p->plan);
    return true;
}

static struct ascope_profiler *profiler_new(const struct ascope_options *o, const struct ascope_schedule *plan,
                                            ascope_action_fn asks, ascope_ready_fn ready, void *user)
{
    struct ascope_profiler *p = calloc(1, sizeof *p);
    struct error e = { 0 };
    if (!p)
        error_no_memory(&e, "the profiler");
    if (!p || !plan_take(p, plan, &e) || !options_take(&p->o, o, &e)) {
        message(ASCOPE_ERROR, "%s", e.text);
        free(p);
        return NULL;
    }
    p->asks = asks;
    p->ready = ready;
    p->user = user;
    p->action = action_at(p, 0);
    return p;
}

struct ascope_profiler *ascope_profiler_new(const struct ascope_options *o, const struct ascope_schedule *plan,
                                            ascope_ready_fn ready, void *user)
{
    return profiler_new(o, plan, NULL, ready, user);
}

struct ascope_profiler *ascope_profiler_new_with(const struct ascope_options *o, ascope_action_fn plan,
                                                 ascope_ready_fn ready, void *user)
{
    return profiler_new(o, NULL, plan, ready, user);
}

void ascope_profiler_start(struct ascope_profiler *p)
{
    if (!p)
        return;
    if (p->was_started && !p->is_stopped) {
        message(ASCOPE_WARNING, "start() ignored: the profiler is already started");
        return;
    }
    p->was_started = true;
    p->is_stopped = false;
    transit(p, ASCOPE_NONE, p->action);
    range_begin(p);
}

void ascope_profiler_step(struct ascope_profiler *p)
{
    if (!p)
        return;
    if (p->is_stopped) {
        message(ASCOPE_WARNING, "step() ignored: the profiler is stopped");
        return;
    }
    monitor_step(BY_PROFILER, -1);
    range_end(p);
    const enum ascope_action before = p->action;
    p->action = action_at(p, ++p->step);
    transit(p, before, p->action);
    range_begin(p);
}

/* Reports why there is no output in cases that the program may not expect. */
static void report_why_nothing(const struct ascope_profiler *p)
{
    const char *const phase = p->action == ASCOPE_WARMUP ? "warm-up" : "wait";
    if (!has_schedule(p) || p->action > ASCOPE_WARMUP || (p->was_active && p->action == ASCOPE_NONE))
        return;
    if (p->was_active)
        message(ASCOPE_WARNING, "stopped during the warm-up: this cycle recorded nothing, its directory is deleted");
    else if (p->step == 0)
        message(ASCOPE_WARNING, "nothing was recorded: step() was never called, and the schedule begins with %s steps",
                phase);
    else
        message(
            ASCOPE_WARNING,
            "nothing was recorded: stop() was called at step %llu, a %s step before the schedule's first active one",
            (unsigned long long)p->step, phase);
}

void ascope_profiler_stop(struct ascope_profiler *p)
{
    if (!p || p->is_stopped)
        return;
    if (p->has_plan && p->plan.active == ASCOPE_EVERY_STEP &&
        p->step > 0) /* the time after the last step is not a step */
        mark_range_drop(p->mark);
    else
        range_end(p);
    report_why_nothing(p);
    transit(p, p->action, LEAVES);
    p->is_stopped = true;
}

void ascope_profiler_free(struct ascope_profiler *p)
{
    if (!p)
        return;
    /* step() without start() may have opened a session */
    if (!p->is_stopped && (p->was_started || session_of(p)))
        ascope_profiler_stop(p);
    options_fini(&p->o);
    free(p);
}

struct ascope_session *ascope_profiler_session(struct ascope_profiler *p)
{
    return p ? session_of(p) : NULL;
}

enum ascope_action ascope_profiler_action(const struct ascope_profiler *p)
{
    return p ? p->action : ASCOPE_NONE;
}
