/* SPDX-License-Identifier: Apache-2.0 */
/* ending.h - how the command ends on a signal, or when a file is truncated while it is read. */
#ifndef ASCOPE_CLI_OPTIONS_ENDING_H
#define ASCOPE_CLI_OPTIONS_ENDING_H

#include <signal.h>

#include "cli/options/command.h"

/* Call before threads are created. From here on:
 *
 * SIGINT, SIGTERM and SIGHUP remove temporary files and then take their usual effect, so that the parent sees by
 * which one the process ended. A thread waits for them; unlike a handler it may lock and call anything.
 *
 * SIGBUS is raised if a file became shorter after it was mapped, or if its disk fails. Continuing with zeros in
 * place of the missing bytes would be possible, but numbers that were checked before would change: no bound would
 * hold. Copying all files first would avoid it, too, at twice the memory and time in all cases. The process
 * therefore ends, with one line that names the file, without incomplete results, and with the exit code for "nothing
 * could be done"; the next export, once nothing is written to the collection any more, is complete.
 *
 * SIGXFSZ is ignored, so that the writer sees the error and reports the file. SIGPIPE is unchanged: it ends the
 * command when its output is not read. */
void ending_prepare(enum face face);

/* Fills the set with SIGINT, SIGTERM and SIGHUP, except those that were ignored at the start (nohup): a blocked
 * signal would be received although it is ignored. Returns one of them; 0: all are ignored. */
int ending_signals(sigset_t *set);

/* Restores the signals, for example before a program is started. ending_prepare() may be called again. */
void ending_fini(void);

#endif
