/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a program, or a machine, is recorded from outside. */
#ifndef ASCOPE_RUN_RUN_H
#define ASCOPE_RUN_RUN_H

#include <sys/types.h>

#include "ascope/session.h"
#include "base/error.h"

struct run_request {
    struct ascope_options recorder; /* what is recorded and where; layout PROF */
    char *const *program;           /* argv, ends with NULL; NULL: none (system mode, or pids) */
    const char *environment;        /* of --environment: "K=V;K2=V2"; NULL: none */
    pid_t host_pid;                 /* --host-sys-pid: whose threads and memory are sampled; 0: the program's */
    uint32_t delay_s, duration_s;   /* 0: not given */
    uint32_t period_s;              /* --sys-period; 0: not given */
    bool is_interactive;            /* --dynamic=on: start, stop, quit from standard input */
    const pid_t *pids;
    size_t n_pids; /* --pid */
};

struct run_result {
    char **collections;
    size_t n_collections;
    bool has_program;
    int status; /* as of waitpid() */
    bool was_interrupted;
};

bool run_collect(const struct run_request *r, struct run_result *out, struct error *e);

#endif
