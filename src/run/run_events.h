/* SPDX-License-Identifier: Apache-2.0 */
/* run_events.h - what a collector waits for: signals, the end of the program, the clock, a line of input. One at a time, on one thread. */
#ifndef ASCOPE_RUN_RUN_EVENTS_H
#define ASCOPE_RUN_RUN_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

enum run_event { RUN_PROGRAM_ENDED, RUN_INTERRUPTED, RUN_TIME, RUN_LINE, RUN_END_OF_INPUT };

struct run_events {
    int signals;   /* a descriptor */
    sigset_t mask; /* as it was: the program's */
    struct sigaction child_was;
    pid_t program;  /* 0: none */
    bool has_ended; /* the program; its entry in /proc is there until run_events_reap() */
    int other;      /* pidfd of a process that is not ours, and counts as the program; 0: none */
    int status;     /* of the program, once it has ended */
    struct rusage use;
    uint64_t ended_ns;
    int number;     /* of the signal that came last */
    bool is_sent;   /* by a process, to this one alone; false: by the terminal, to the program as well */
    bool has_input; /* lines are read from standard input, until it ends */
    char input[256], line[256];
    size_t n_input;
};

bool run_events_begin(struct run_events *v, struct error *e); /* before the program is started */
void run_events_reap(struct run_events *v);                   /* of a program that has ended: status and use */
bool run_events_end(struct run_events *v); /* true: one that ends a recording had come, and nobody has seen it */

uint64_t run_now_ns(void);                                               /* a clock that does not jump */
enum run_event run_events_next(struct run_events *v, uint64_t until_ns); /* 0: however long it takes */

#endif
