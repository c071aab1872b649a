/* SPDX-License-Identifier: Apache-2.0 */
/* ending.h - how the command ends on a signal, or when a file is truncated while it is read. */
#ifndef ASCOPE_CLI_ENDING_H
#define ASCOPE_CLI_ENDING_H

#include "cli/command.h"

/* Call before there are threads. From here on:
 *
 * SIGINT, SIGTERM and SIGHUP remove what is half-written and then do what they always do, so that whoever waits for us sees by
 * which one we ended. A thread waits for them; unlike a handler it may lock and call what it likes.
 *
 * SIGBUS comes when a file has become shorter since it was mapped, or when its disk cannot give it. It could be survived with
 * zeros in place of what is gone, but numbers that were checked a moment ago would no longer be the same: no bound would hold.
 * Copying all files first would survive it too, at twice the memory and time for everybody. So it is the end, with one line that
 * names the file, without half-written results, and with the exit code for "nothing could be done"; the next export, when nobody
 * writes to the collection any more, is whole.
 *
 * SIGXFSZ is left to the writer, who sees the error and says what is wrong with which file. SIGPIPE stays as it is: nobody reads
 * what we print. */
void ending_prepare(enum face face);

/* Signals are as they were before: for a program that we start. Afterwards it can be prepared again. */
void ending_fini(void);

#endif
