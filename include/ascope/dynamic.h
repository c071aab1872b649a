/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic.h - collections that are started while the job runs, by editing a file: DIR/profiler_config.json.
 *
 *     struct ascope_dynamic_setup setup = { .size = sizeof setup, .path = "config_dir" };
 *     ascope_dynamic_init(&setup, &e);
 *     for (...) { train(); ascope_dynamic_step(); }
 *     ascope_dynamic_end();                        (also at exit)
 *
 * Init writes the file when it is missing, with every key and its default; whoever edits it starts a collection. A
 * thread watches the file (it blocks all signals); of the processes of one host that were given the same directory one
 * does so for all, and when it ends, however it ends, another one takes over. They share a page of memory,
 * /dev/shm/DynamicProfileNpuShm*, which contains what `ascope dyn DIR status` shows (src/dynamic/board.h): the ranks
 * that listen, their steps, what they do and have done.
 *
 * All decisions are made in ascope_dynamic_step(), on the thread that calls it, and so are all calls of the hooks. A
 * step with nothing to do costs one store, one load and one comparison: no system call, no lock. Steps are counted from
 * 1: during the n-th call the current step is n. A request with start_step N begins in the N-th call; what follows is
 * recorded, until warmup + active calls later. start_step -1 begins in the next call that sees the request; with
 * several ranks in a step that all of them can still reach, and all of them begin in it.
 *
 * A front end records in its own way by hooks. Without hooks sessions of libascope are recorded (schedule.h), and
 * analysed by the command `ascope` if the file asks for that. Values of the file are checked when it is read: an
 * invalid one falls back to its default, with a line in the log that has the line number, key, value and accepted
 * values. Nothing in the file stops the job.
 *
 * Messages. DIR/log/dp_{host}_{pid}_rank_{rank}.log has all of them, DIR/log/monitor_dp_... those about the file; at
 * 200 KB a log is renamed to .log.1. What the user should see at once (a start step that has passed, problems of
 * start()) is also passed to the `message` hook, or without one to ascope_on_message().
 *
 * After fork() the child neither watches nor collects, and its steps are ignored; it may call init for itself.
 */
#ifndef ASCOPE_DYNAMIC_H
#define ASCOPE_DYNAMIC_H

#include "ascope/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the file contains, and the rules that differ (src/dynamic/kinds.c). */
enum ascope_dynamic_kind {
    /* active, warmup, start_step, is_rank, rank_list, ... A file from before the job starts nothing until it changes. */
    ASCOPE_DYNAMIC_PYTORCH,
    /* start_step and stop_step, both recorded. A file from before the job counts; a step between the two begins late;
     * no logs. The other keys are the front end's: it reads `json` of the request. */
    ASCOPE_DYNAMIC_MINDSPORE
};

enum ascope_dynamic_state {
    ASCOPE_DYNAMIC_OFF, /* no init, or end */
    ASCOPE_DYNAMIC_IDLE,
    ASCOPE_DYNAMIC_READY, /* waits for a start step */
    ASCOPE_DYNAMIC_RUNNING
};

/* An element of an array: it has no size and never changes. */
struct ascope_dynamic_metadata {
    const char *key;
    const char *json; /* the value */
};

/* A collection that begins now. Filled by the library, and lent until the end hook has returned. A program that reads a
 * field which a later version has added compares the size first. */
struct ascope_dynamic_request {
    uint32_t size; /* sizeof(struct ascope_dynamic_request), as the library knows it */
    int32_t rank;  /* -1: not known */
    int64_t step;  /* the current step: names of steps continue with it (ProfilerStep#{step}) */
    int64_t warmup, active;
    bool analyse, async_mode; /* analyse: after the rules about is_rank */
    bool is_from_start;       /* by ascope_dynamic_start(), not by the watched file */
    bool is_late;             /* MindSpore: start_step has passed, stop_step has not */
    bool is_rank;             /* the file names ranks, and this is one of them */
    uint8_t unused[3];
    /* What to record, as texts: ascope_options_get(options, "profiler_level"). prof_dir is parent_dir. Each value is
     * valid; rules between them are ascope_session_new()'s. */
    const struct ascope_options *options;
    const struct ascope_dynamic_metadata *metadata; /* n_metadata of them */
    uint64_t n_metadata;
    const char *json; /* the whole text of the file */
    const char *file; /* its path */
    uint64_t id;      /* of this text with its time of change; 0: from start() */
};

/* Texts are copied. Hooks are called on the thread that calls step, start or end; NULL: libascope's own. */
struct ascope_dynamic_setup {
    uint32_t size;    /* sizeof(struct ascope_dynamic_setup) */
    uint32_t kind;    /* enum ascope_dynamic_kind */
    const char *path; /* the directory; created with its parents (0750) */
    /* The rank, asked for at init and for each request; -1: not known. NULL: $RANK, or not known */
    int32_t (*rank)(void *user);
    /* Begins a collection. False: it could not, and nothing is running. */
    bool (*begin)(const struct ascope_dynamic_request *r, void *user);
    void (*step)(void *user); /* in each call of step while it runs, also in the last one, before `end` */
    /* Ends it: all steps are there, or (is_cut) the job ends or somebody stopped it. Returns the directory that was
     * written, lent until the next call; NULL: not known. */
    const char *(*end)(bool is_cut, void *user);
    void (*message)(enum ascope_severity severity, const char *text, void *user);
    void *user;
    uint32_t poll_ms; /* of the file; 0: 2000, then the length of a step, 1 to 50 s */
    /* Ranks of the whole job; 0: $WORLD_SIZE, or those of this host. More than listen on this host: hosts agree through
     * files in `path`. */
    uint32_t world_size;
    /* Which job this process is a rank of: ranks with the same text agree on steps. NULL: $TORCHELASTIC_RUN_ID,
     * $MASTER_ADDR and $MASTER_PORT; without them the ranks that have the same parent process; without a rank this
     * process alone. */
    const char *job;
};

/* Begins to listen. A second call is ignored with a warning, until end. Errors: false, and e: the size is not set, the
 * path is a file or cannot be written, no memory. The job can go on without. Threads: one at a time, for all functions
 * of this header. */
ASCOPE_API bool ascope_dynamic_init(const struct ascope_dynamic_setup *setup, struct ascope_error *e);

/* One call at the end of each iteration.
 * Errors: reported as messages; without init each call is one, and is counted all the same. Threads: one at a time. */
ASCOPE_API void ascope_dynamic_step(void);

/* A collection that begins now, by the keys of this file; start_step, is_rank and rank_list are ignored. NULL, "" or a
 * file that cannot be used: the watched one, read at this moment. A request that waits for its step is dropped. Errors:
 * false, with a message, too: a collection is running, no init, neither file is usable. Threads: one at a time. */
ASCOPE_API bool ascope_dynamic_start(const char *config_file, struct ascope_error *e);

/* The number of the current step, for jobs that resume; before and after init.
 * Errors: false: below 0, nothing is changed. Threads: one at a time. */
ASCOPE_API bool ascope_dynamic_set_step(int64_t step);
ASCOPE_API int64_t ascope_dynamic_current_step(void);
ASCOPE_API enum ascope_dynamic_state ascope_dynamic_state(void);

/* Ends a collection that is running (is_cut), stops listening. Called at exit by libascope unless there are hooks: a
 * front end that has some calls it while they can still run. Errors: none. Threads: one at a time. */
ASCOPE_API void ascope_dynamic_end(void);

#ifdef __cplusplus
}
#endif
#endif
