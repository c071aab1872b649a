/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - records a program, a running process or the machine from outside: `ascope run` and `msprof` after parsing the
 * command line.
 *
 * The session, with its writer and samplers, is in this process; the samplers observe the program and its descendants.
 * The program finds the session through its environment (collect/session/handover.h) and gets no thread and no
 * descriptor. The vendor's libraries inside the program read their settings from the environment, too, and write their
 * own PROF directories, which are collected at the end.
 */
#ifndef ASCOPE_RUN_RUN_H
#define ASCOPE_RUN_RUN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/text/error.h"

/* Notifications while recording. All functions are called on the caller's thread; any may be NULL. */
struct run_listener {
    void (*started)(const char *path); /* a collection is being recorded */
    void (*stopped)(const char *path); /* the collection is complete */
    void (*answer)(const char *text);  /* a line of the interactive mode */
    void (*prompt)(void);              /* the interactive mode waits for a command */
};

struct recorded_run {
    struct ascope_options recorder; /* what is recorded and where; layout PROF */
    char *const *program;           /* its argv; NULL: no program */
    const char *environment;        /* more variables for it: "K=V;K2=V2"; NULL: none */
    const char *sample_config;      /* PROFILER_SAMPLECONFIG, for the vendor's libraries in it; NULL: none */
    pid_t host_pid;                 /* the process that is sampled; 0: the program */
    bool ends_with_host;            /* without a program: the recording ends when that process does */
    uint32_t delay_s, duration_s;   /* of the recording; 0: from the start, to the end */
    uint32_t period_s;              /* without a program: length of the recording; 0: until it is interrupted */
    bool is_interactive;            /* start, stop, quit are read from standard input */
    const pid_t *pids;              /* interactive, without a program: the processes to attach to */
    size_t n_pids;
    const struct run_listener *listener; /* NULL: none */
};

struct run_result {
    char **collections; /* paths, in the order in which they were made */
    size_t n_collections;
    bool has_program;
    int status;        /* of the program, as from waitpid(); -1: it is still running */
    struct rusage use; /* of the program and of the children that it waited for, once it has ended */
    double wall_s;     /* from its start to its end */
    bool was_interrupted;
};

/* False: see e; FAULT_ASKED: the program cannot be started. Collections made before the failure are kept and listed
 * in *out. */
bool run_collect(const struct recorded_run *r, struct run_result *out, struct error *e);
void run_result_free(struct run_result *r);

#endif
