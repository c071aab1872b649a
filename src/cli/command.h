/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of ascope, and their exit codes. */
#ifndef ASCOPE_CLI_COMMAND_H
#define ASCOPE_CLI_COMMAND_H

#include "cli/option_table.h"

/* How a command ended. Each face has its own exit code for it: see exit_status.c. */
enum exit_status {
    STATUS_DONE,      /* all requested results are complete */
    STATUS_LOSSES,    /* it is there, but something that was collected is missing from it */
    STATUS_NOTHING,   /* nothing could be done */
    STATUS_USAGE,     /* the command line cannot be understood */
    STATUS_PARAMETER, /* a value on it cannot be used */
    STATUS_PATH,      /* a path on it cannot be used */
    STATUSES
};

/* For help and manual: what the codes of `ascope` itself mean. */
struct exit_meaning {
    int code;
    const char *text;
};

#endif
