/* one_session.h - commands that make one file of one *_ascend_pt directory: "DIR OUT". */
#ifndef ASCOPE_CLI_ONE_SESSION_H
#define ASCOPE_CLI_ONE_SESSION_H

#include "cli/command.h"
#include "profile/session.h"

/* Loads and analyses the session that the first word names, and hands it over with the name of the file, the second word. What
 * is wrong with either is told. `wanted` says what the second one is: "the file to write, whose name ends with .log or .svg".
 * In a directory that is there the file is named `inside`; NULL: it must be a file. The exit code. */
int one_session_run(struct arguments *a, const char *wanted, const char *inside,
                    enum outcome (*write)(struct arguments *a, const struct session *s, const char *out));

#endif
