/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/path_name.h"
#include "collect/options/options.h"
#include "collect/os_calls/preload.h"
#include "collect/session/handover.h"
#include "collect/session/recorder_session.h"

enum { PATIENCE_S = 10 }; /* how long a program may take to end after SIGTERM or SIGHUP before recording stops */

struct program_run {
    const struct recorded_run *r;
    struct run_result *out;
    struct run_events events;
    struct run_sample sample;
    struct handover *handover; /* the page through which the program finds the session; NULL: no program */
    struct run_launch launch;
    struct ascope_session *session; /* NULL: not recording */
    uint32_t n_recordings;
    uint64_t began_ns; /* start of the program */
    bool has_cuda;     /* libascope.so is loaded into it when it uses CUDA */
    struct run_cuda cuda;
    bool has_mspti; /* the same for NPUs */
    struct run_mspti mspti;
    bool has_preloaded;                /* libascope-run.so, which records calls, is preloaded into the program */
    char not_preloaded[PATH_MAX + 64]; /* why it is not; "": calls are not wanted */
};

static const struct run_listener *listener(const struct program_run *x)
{
    static const struct run_listener none;
    return x->r->listener ? x->r->listener : &none;
}

static void run_answer(const struct program_run *x, const char *text)
{
    if (listener(x)->answer)
        listener(x)->answer(text);
}

static void collection_add(void *to, const char *path)
{
    struct run_result *const out = to;
    char **const more = realloc(out->collections, (out->n_collections + 1) * sizeof *more);
    if (!more)
        return;
    out->collections = more;
    if ((more[out->n_collections] = strdup(path)))
        out->n_collections++;
}

void run_result_free(struct run_result *r)
{
    for (size_t i = 0; i < r->n_collections; i++)
        free(r->collections[i]);
    free(r->collections);
    *r = (struct run_result){ .status = -1 };
}

/* ---- one recording ---- */

static bool recording_start(struct program_run *x, struct error *e)
{
    struct ascope_error why = { "" };
    const struct session_target of = { .pid = x->r->program ? x->launch.pid : x->r->host_pid,
                                       .name = x->r->program ? path_name(x->r->program[0]) : NULL,
                                       .has_preloaded = x->has_preloaded,
                                       .not_preloaded = *x->not_preloaded ? x->not_preloaded : NULL,
                                       .command = &x->sample.command };
    struct ascope_options own = x->r->recorder;
    if (x->r->program && own.device && (strcmp(own.device, "cuda") == 0 || strcmp(own.device, "mspti") == 0))
        own.device = "none"; /* they are recorded by libascope.so inside the program */
    x->session = session_new_for(&of, &own, x->n_recordings > 0, &why);
    if (!x->session || !ascope_session_start(x->session, &why)) {
        ascope_session_discard(x->session);
        x->session = NULL;
        return error_set(e, FAULT_IO, "%s", why.text);
    }
    x->n_recordings++;
    if (x->handover)
        handover_open(x->handover);
    if (listener(x)->started)
        listener(x)->started(ascope_session_path(x->session));
    return true;
}

static bool recording_stop(struct program_run *x, struct error *e)
{
    struct ascope_error why = { "" };
    char path[PATH_MAX];
    if (!x->session)
        return true;
    snprintf(path, sizeof path, "%s", ascope_session_path(x->session));
    if (x->handover)
        handover_close(x->handover);
    const bool is_done = ascope_session_end(x->session, &why);
    x->session = NULL;
    collection_add(x->out, path);
    if (listener(x)->stopped)
        listener(x)->stopped(path);
    return is_done || error_set(e, FAULT_IO, "%s", why.text);
}

/* ---- the program ---- */

/* Finds libascope-run.so. False: calls are not wanted, or it cannot be preloaded; the session then reports
 * not_preloaded. */
static bool preload_choose(struct program_run *x, char path[PATH_MAX])
{
    const char *const program = x->r->program[0], *why;
    if (!(x->r->recorder.host_sys & ASCOPE_HOST_OSRT))
        return false;
    if (!preload_find(path)) {
        snprintf(x->not_preloaded, sizeof x->not_preloaded,
                 PRELOAD_NAME " is not installed with this ascope (ASCOPE_RUN_LIBRARY can name it)");
        return false;
    }
    if (!preload_can_name(path)) {
        snprintf(x->not_preloaded, sizeof x->not_preloaded,
                 "ld.so loads nothing from a path with a blank or a colon: %.*s", PATH_MAX - 1, path);
        return false;
    }
    if (!preload_works(program, &why))
        snprintf(x->not_preloaded, sizeof x->not_preloaded, "%s %s", program, why);
    return !why;
}

static bool program_hold(struct program_run *x, struct error *e)
{
    const struct ascope_options *const o = &x->r->recorder;
    char page[HANDOVER_PATH_BYTES], own[16], library[PATH_MAX], *preload = NULL;
    snprintf(own, sizeof own, "%d", (int)getpid());
    x->has_preloaded = preload_choose(x, library);
    x->has_cuda = run_cuda_choose(x->r, &x->cuda);
    x->has_mspti = run_mspti_choose(x->r, &x->mspti);
    const struct handover_wish wish = { .recorded = options_recorded(o),
                                        .calls = x->has_preloaded ? os_trace_wrapped(o->osrt) : 0,
                                        .domain_include = o->mstx_domain_include,
                                        .domain_exclude = o->mstx_domain_exclude };
    if (!(x->handover = handover_make(page, e)) || !handover_wish(x->handover, &wish, e))
        return false;
    const char *const others = getenv("LD_PRELOAD");
    const char *const part[] = { x->has_mspti ? x->mspti.preload : "", x->has_preloaded ? library : "",
                                 others ? others : "" };
    if ((x->has_preloaded || x->has_mspti) &&
        asprintf(&preload, "%s%s%s%s%s", part[0], *part[0] && (*part[1] || *part[2]) ? ":" : "", part[1],
                 *part[1] && *part[2] ? ":" : "", part[2]) < 0)
        return error_no_memory(e, "the environment of the program");
    const char *const mode = x->r->is_interactive                        ? "dynamic"
                             : x->r->delay_s > 0 || x->r->duration_s > 0 ? "delay_or_duration"
                                                                         : NULL;
    const char *const ours[] = { HANDOVER_VARIABLE,
                                 page,
                                 "LD_PRELOAD",
                                 preload,
                                 CUDA_INJECTION,
                                 x->has_cuda ? x->cuda.library : NULL,
                                 NVTX_INJECTION,
                                 x->has_cuda && x->cuda.has_nvtx ? x->cuda.library : NULL,
                                 "ASCOPE_CUDA_INJECTION",
                                 x->has_cuda ? x->cuda.where : NULL,
                                 "ASCOPE_MSPTI_INJECTION",
                                 x->has_mspti ? x->mspti.where : NULL,
                                 "PROFILER_SAMPLECONFIG",
                                 x->r->sample_config,
                                 "PROFILING_MODE",
                                 x->r->sample_config ? mode : NULL,
                                 "DYNAMIC_PROFILING_KEY_PID",
                                 x->r->sample_config && x->r->is_interactive ? own : NULL,
                                 NULL };
    char **const environment = environment_make(environ, x->r->environment, ours, e);
    free(preload);
    const struct launch_of of = {
        .program = x->r->program, .environment = environment, .mask = &x->events.mask, .no_input = x->r->is_interactive
    };
    const bool is_held = environment && launch_hold(&x->launch, &of, e);
    environment_free(environment);
    return is_held;
}

/* Starts recording before the program, so that its first instruction is recorded, unless recording begins later by
 * request. */
static bool program_start(struct program_run *x, struct error *e)
{
    if (!program_hold(x, e))
        return false;
    if (x->r->delay_s == 0 && !x->r->is_interactive && !recording_start(x, e)) {
        launch_abandon(&x->launch);
        return false;
    }
    x->began_ns = run_now_ns();
    if (!launch_go(&x->launch, x->r->program[0], e)) {
        if (x->session) {
            ascope_session_discard(x->session);
            x->session = NULL;
        }
        return false;
    }
    x->out->has_program = true;
    x->events.program = x->launch.pid;
    return true;
}

/* ---- waiting ---- */

static uint64_t seconds_from_now(uint32_t s)
{
    return run_now_ns() + (uint64_t)s * 1000000000;
}

/* Forwards a signal that a process sent to the collector. One from the terminal has reached the program already. */
static void pass_on(const struct program_run *x)
{
    if (x->events.program > 0 && !x->events.has_ended && x->events.is_sent)
        kill(x->events.program, x->events.number);
}

/* Waits for the end of the program or of the period. After the first Ctrl-C it still waits for the program, after
 * the second not. */
static bool wait_for_end(struct program_run *x, struct error *e)
{
    const struct recorded_run *const r = x->r;
    const bool has_program = r->program != NULL;
    bool is_waiting = has_program && r->delay_s > 0;
    uint64_t next = is_waiting                         ? seconds_from_now(r->delay_s)
                    : has_program && r->duration_s > 0 ? seconds_from_now(r->duration_s)
                    : !has_program && r->period_s > 0  ? seconds_from_now(r->period_s)
                                                       : 0;
    for (;;) {
        switch (run_events_next(&x->events, next)) {
        case RUN_PROGRAM_ENDED: return recording_stop(x, e);
        case RUN_INTERRUPTED:
            if (!has_program || x->out->was_interrupted)
                return recording_stop(x, e);
            x->out->was_interrupted = true;
            is_waiting = false;
            pass_on(x);
            next = x->events.number == SIGINT ? 0 : seconds_from_now(PATIENCE_S);
            break;
        case RUN_TIME:
            if (is_waiting && !recording_start(x, e))
                return false;
            if (!is_waiting && !recording_stop(x, e))
                return false;
            if (!has_program || x->out->was_interrupted)
                return true;
            next = is_waiting && r->duration_s > 0 ? seconds_from_now(r->duration_s) : 0;
            is_waiting = false;
            break;
        default: break;
        }
    }
}

/* ---- commands ---- */

/* Executes a line of the interactive mode. False: quit. */
static bool command_do(struct program_run *x, const char *line)
{
    struct error e = { 0 };
    if (strcmp(line, "start") == 0 && x->session) {
        run_answer(x, "already recording");
    } else if (strcmp(line, "start") == 0) {
        if (recording_start(x, &e))
            run_answer(x, "recording");
    } else if (strcmp(line, "stop") == 0 && !x->session) {
        run_answer(x, "not recording; enter start to begin");
    } else if (strcmp(line, "stop") == 0) {
        if (recording_stop(x, &e))
            run_answer(x, "stopped");
    } else if (strcmp(line, "quit") == 0 || strcmp(line, "q") == 0) {
        return false;
    } else if (*line) {
        run_answer(x, "commands: start, stop, quit (q), help (h)");
    }
    if (e.fault != FAULT_NONE)
        run_answer(x, e.text);
    return true;
}

/* The interactive mode with a program. End of input means quit. */
static bool obey(struct program_run *x, struct error *e)
{
    x->events.has_input = true;
    for (bool goes_on = true; goes_on;) {
        if (listener(x)->prompt)
            listener(x)->prompt();
        switch (run_events_next(&x->events, 0)) {
        case RUN_LINE: goes_on = command_do(x, x->events.line); break;
        case RUN_INTERRUPTED:
            goes_on = x->events.number == SIGINT;
            x->out->was_interrupted = true;
            if (goes_on)
                run_answer(x, "quit ends the recording");
            break;
        default: goes_on = false;
        }
    }
    return recording_stop(x, e);
}

/* ---- the whole request ---- */

static bool collect(struct program_run *x, struct error *e)
{
    if (x->r->n_pids > 0)
        return attached_collect(x->r, x->out, &x->events, collection_add, e);
    if (x->r->program ? !program_start(x, e) : !x->r->is_interactive && !recording_start(x, e))
        return false;
    const bool is_done = x->r->is_interactive ? obey(x, e) : wait_for_end(x, e);
    while (x->r->is_interactive && x->events.program > 0 &&
           !x->events.has_ended) { /* the program continues unrecorded; its exit status is that of the command */
        if (run_events_next(&x->events, 0) == RUN_INTERRUPTED) {
            pass_on(x);
            if (x->out->was_interrupted)
                break;
            x->out->was_interrupted = true;
        }
    }
    return is_done;
}

bool run_collect(const struct recorded_run *r, struct run_result *out, struct error *e)
{
    struct program_run x = { .r = r, .out = out };
    *out = (struct run_result){ .status = -1 };
    if (!run_sample_init(&x.sample, r, e))
        return false;
    if (!run_events_begin(&x.events, e)) {
        run_sample_fini(&x.sample);
        return false;
    }
    if (r->ends_with_host) /* fails on kernels before 5.3: the recording then ends by a signal only */
        x.events.other = (int)syscall(SYS_pidfd_open, r->host_pid, 0);
    const bool is_done = collect(&x, e);
    if (!is_done)
        recording_stop(&x, &(struct error){ 0 });
    run_events_reap(&x.events);
    if (out->has_program && x.events.has_ended) {
        out->status = x.events.status;
        out->use = x.events.use;
        out->wall_s = (double)(x.events.ended_ns - x.began_ns) / 1e9;
    }
    run_cuda_take(r, collection_add, out);
    handover_free(x.handover);
    out->was_interrupted |= run_events_end(&x.events);
    run_sample_fini(&x.sample);
    return is_done;
}
