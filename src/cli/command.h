/* command.h - the commands that ascope knows, and what their exit codes mean. */
#ifndef ASCOPE_CLI_COMMAND_H
#define ASCOPE_CLI_COMMAND_H

#include "cli/option_table.h"

/* How a command ended. Each face has its own exit code for it: see outcome.c. */
enum outcome {
    OUTCOME_DONE,      /* everything that was asked for is there */
    OUTCOME_LOSSES,    /* it is there, but something that was collected is missing from it */
    OUTCOME_NOTHING,   /* nothing could be done */
    OUTCOME_USAGE,     /* the command line cannot be understood */
    OUTCOME_PARAMETER, /* a value on it cannot be used */
    OUTCOME_PATH,      /* a path on it cannot be used */
    OUTCOMES
};

/* For help and manual: what the codes of `ascope` itself mean. */
struct exit_meaning {
    int code;
    const char *text;
};

#endif
