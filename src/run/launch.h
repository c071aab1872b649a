/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - a program that is there before it runs: its number is known, and nothing of it is missed.
 *
 * launch_hold() forks; the child waits in front of exec(). launch_go() lets it go. If this process ends in between, so does the child.
 */
#ifndef ASCOPE_RUN_LAUNCH_H
#define ASCOPE_RUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    pid_t pid;
    int go, trouble; /* ends of pipes: a byte lets it go; the number of an error comes back */
};

struct launch_of {
    char *const *program, *const *environment; /* both end with NULL */
    const sigset_t *mask;                      /* the program's */
    bool no_input;                             /* standard input is ours */
};

bool launch_hold(struct launch *l, const struct launch_of *of, struct error *e);
bool launch_go(struct launch *l, const char *name,
               struct error *e);       /* false, FAULT_ASKED: it cannot be started, and is gone */
void launch_abandon(struct launch *l); /* instead: it never runs */

#endif
