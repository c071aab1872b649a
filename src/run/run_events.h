/* SPDX-License-Identifier: Apache-2.0 */
/* run_events.h - the events that a collector waits for: signals, the end of the program, a deadline, a line of input.
 *
 * Used by one thread. Between begin and end SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked and read from a descriptor.
 */
#ifndef ASCOPE_RUN_RUN_EVENTS_H
#define ASCOPE_RUN_RUN_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/text/error.h"

enum run_event { RUN_PROGRAM_ENDED, RUN_INTERRUPTED, RUN_TIME, RUN_LINE, RUN_END_OF_INPUT };

struct run_events {
    int signals;   /* descriptor of signalfd() */
    sigset_t mask; /* before run_events_begin(); the program gets it */
    struct sigaction child_was;
    pid_t program;  /* 0: none */
    bool has_ended; /* the program has ended; its entry in /proc remains until run_events_reap() */
    int other;      /* pidfd of a process that we did not start, whose end is RUN_PROGRAM_ENDED; 0: none */
    int status;     /* of the program, once it has ended */
    struct rusage use;
    uint64_t ended_ns;
    int number;     /* of the last signal */
    bool is_sent;   /* a process sent it to this process only; false: the terminal sent it to the program, too */
    bool forwards;  /* set before begin: signals that programs use among themselves are read, too, to be forwarded */
    bool has_input; /* lines are read from standard input, until it ends */
    char input[256], line[256];
    size_t n_input;
};

bool run_events_begin(struct run_events *v, struct error *e); /* before the program is started */
void run_events_reap(struct run_events *v);                   /* after the program has ended: fills in status and use */
bool run_events_end(struct run_events *v);                    /* true: a signal that ends a recording was pending */

uint64_t run_now_ns(void); /* CLOCK_MONOTONIC */
enum run_event run_events_next(struct run_events *v,
                               uint64_t until_ns); /* until_ns: RUN_TIME at this time of run_now_ns(); 0: no deadline */

#endif
