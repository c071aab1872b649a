/* command.h - the commands that ascope knows, and what their exit codes mean. */
#ifndef ASCOPE_CLI_COMMAND_H
#define ASCOPE_CLI_COMMAND_H

#include "cli/option_table.h"

extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name); /* by its name or another one; NULL: there is none */

/* What to type instead of a word that is a command in other tools; NULL: it is in none that we know. */
const char *command_hint(const char *word);

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
int exit_code(enum face face, enum outcome outcome);
enum outcome arguments_refused(
    const struct arguments *a); /* why a command line was not taken: it is wrong, or no memory */

/* For help and manual: what the codes of `ascope` itself mean. */
struct exit_meaning {
    int code;
    const char *text;
};
extern const struct exit_meaning exit_meanings[];
extern const size_t n_exit_meanings;

int run_export(struct arguments *a);
int run_import(struct arguments *a);
int run_query(struct arguments *a);
int run_communication(struct arguments *a);
int run_analyse(struct arguments *a);
int run_export_memory_timeline(struct arguments *a);
int run_export_stacks(struct arguments *a);
int run_export_trace(struct arguments *a);
int run_info(struct arguments *a);
int run_recover(struct arguments *a);
int run_sim(struct arguments *a);
int run_help(struct arguments *a);
int run_completion(struct arguments *a);

void help_overview(void);
void help_command(enum face face, const struct command *c);
void manual_print(void);
void recorder_manual_print(void); /* options of a recording, in Markdown */

/* The whole of `msprof` and `msprof.py`. */
int msprof_main(int argc, char **argv);
int msprof_py_main(int argc, char **argv);

#endif
