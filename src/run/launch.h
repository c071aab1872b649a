/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - starts a program in two steps, so that its process id is known and recording has begun before it runs.
 *
 * launch_hold() forks; the child waits before exec(). launch_go() releases it. If this process ends in between, the
 * child ends, too.
 */
#ifndef ASCOPE_RUN_LAUNCH_H
#define ASCOPE_RUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/text/error.h"

struct run_launch {
    pid_t pid;
    int go, trouble; /* a byte sent to `go` releases the child; `trouble` is a pipe with the errno of exec() */
};

struct launch_of {
    char *const *program, *const *environment; /* both end with NULL */
    const sigset_t *mask;                      /* signal mask of the program */
    bool no_input; /* the program reads /dev/null: the command reads standard input itself */
};

bool launch_hold(struct run_launch *l, const struct launch_of *of, struct error *e);
bool launch_go(struct run_launch *l, const char *name,
               struct error *e);           /* false, FAULT_ASKED: it cannot be started; the child has been waited for */
void launch_abandon(struct run_launch *l); /* instead of launch_go(): the program never runs */

#endif
