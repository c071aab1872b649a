/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - records a program, or the machine, from outside: what `ascope run` and `msprof` do once their command line is understood.
 *
 * The session is this process's: its writer, its samplers, which look at the program and its descendants. The program is started with
 * the session handed over (collect/handover.h), and gets neither a thread nor a descriptor of ours. Where the vendor's libraries are,
 * they read their settings from the same environment and write directories of their own, which are found at the end.
 */
#ifndef ASCOPE_RUN_RUN_H
#define ASCOPE_RUN_RUN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/error.h"

/* What there is to say while it goes on. All functions are called on the caller's thread; NULL: nobody listens. */
struct run_listener {
    void (*started)(const char *path); /* a collection is being recorded */
    void (*stopped)(const char *path); /* and now it is complete */
    void (*answer)(const char *text);  /* a line of the interactive mode */
    void (*prompt)(void);              /* the interactive mode waits for a command */
};

struct run_request {
    struct ascope_options recorder; /* what is recorded and where; layout PROF */
    char *const *program;           /* its arguments, NULL behind the last; NULL: none */
    const char *environment;        /* more variables for it: "K=V;K2=V2"; NULL: none */
    const char *sample_config;      /* PROFILER_SAMPLECONFIG, for the vendor's libraries in it; NULL: none */
    pid_t host_pid;                 /* whose threads and memory are sampled; 0: the program's */
    bool ends_with_host;            /* without a program: the recording ends when that process does */
    uint32_t delay_s, duration_s;   /* of the recording; 0: from the start, to the end */
    uint32_t period_s;              /* without a program: how long; 0: until it is interrupted */
    bool is_interactive;            /* start, stop, quit are read from standard input */
    const pid_t *pids;              /* interactive, without a program: the processes */
    size_t n_pids;
    const struct run_listener *listener; /* NULL: none */
};

struct run_result {
    char **collections; /* paths, in the order in which they were made */
    size_t n_collections;
    bool has_program;
    int status;        /* of the program, as of waitpid(); -1: it is still there */
    struct rusage use; /* of the program and of the children that it waited for, once it has ended */
    double wall_s;     /* from its start to its end */
    bool was_interrupted;
};

/* False: e says why. What was collected until then is in *out all the same, and stays. A program that cannot be started is FAULT_ASKED. */
bool run_collect(const struct run_request *r, struct run_result *out, struct error *e);
void run_result_free(struct run_result *r);

#endif
