/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of ascope, and their exit codes. */
#ifndef ASCOPE_CLI_OPTIONS_COMMAND_H
#define ASCOPE_CLI_OPTIONS_COMMAND_H

#include "cli/options/option_table.h"

/* How a command ended. Each face has its own exit code for it: see exit_status.c. */
enum exit_status {
    STATUS_DONE,         /* all requested results are complete */
    STATUS_LOSSES,       /* there are results, but some collected data is missing from them */
    STATUS_NOTHING,      /* nothing could be done */
    STATUS_USAGE,        /* the command line is invalid */
    STATUS_PARAMETER,    /* a value on it is invalid */
    STATUS_PATH,         /* a path on it cannot be used */
    STATUS_REGRESSED,    /* of gate: something is slower than allowed */
    STATUS_INCONCLUSIVE, /* of gate: nobody can tell */
    STATUSES
};

/* The meaning of an exit code of `ascope`, for help and manual. */
struct exit_meaning {
    int code;
    const char *text;
};

#endif
