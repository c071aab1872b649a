/* SPDX-License-Identifier: Apache-2.0 */
/* supervise.h - stays beside a program that is recorded from inside, and completes what it leaves behind.
 *
 * The front ends of the program and of the processes that it starts append a line to the file $ASCOPE_SUPERVISED when a
 * recording begins and when it has ended. A recording without an end is one whose process was killed, crashed or
 * called _exit(): it is recovered and analysed here. What this prints goes to standard error: standard output belongs
 * to the program.
 */
#ifndef ASCOPE_CLI_RUN_SUPERVISE_H
#define ASCOPE_CLI_RUN_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

struct supervised {
    char *const *command; /* argv, NULL at the end */
    const char *name;     /* of the script, for messages */
    bool is_raw;          /* collections are not analysed */
    bool is_quiet;
    uint32_t hang_after_s; /* without a step or collective of any rank; 0: hangs are not looked for */
};

/* Starts the command, forwards signals to it and waits for its end. Returns the exit code of this process, or ends it
 * by the signal that ended the program, as if it had been the program itself. */
int supervise(const struct supervised *s);

#endif
