/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - registry: the commands of ascope, and their exit codes. */
#ifndef ASCOPE_CLI_OPTIONS_COMMAND_H
#define ASCOPE_CLI_OPTIONS_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/options/option_table.h"
#include "open/inputs.h"

/* How a command ended. Each face has its own exit code for it: see command.c. */
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

/* command.c: exit codes: one for each status and name of the command. */

int exit_code(enum face face, enum exit_status status);
enum exit_status arguments_refused(
    const struct arguments *a); /* the status of a rejected command line: invalid, or no memory */
extern const struct exit_meaning exit_meanings[];
extern const size_t n_exit_meanings;

/* ending.c: how the command ends on a signal, or when a file is truncated while it is read. */

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

/* command.c: the inputs on a command line; what cannot be used is reported. */

/* Finds the inputs of -dir and all words; *n_refused: those without one. `also`: see inputs_add(). Anything but
 * STATUS_DONE: there are none. */
enum exit_status given_inputs(struct inputs *t, size_t *n_refused, struct arguments *a, unsigned also);

/* Appends the inputs of one path. */
enum exit_status given_add(struct inputs *t, const char *path, unsigned also);

/* command.c: a result that may go to standard output. */

FILE *report_stream(const char *out); /* for the text report: stdout, or stderr if the result goes to stdout */
/* False: --json and the result would both use standard output, which was reported. */
bool json_has_room(const struct arguments *a, const char *what, const char *out);

/* command.c: suggests a known word for a mistyped one: commands, options, actions. */

enum { NEAREST_WORD_MOST = 40 }; /* longer words are never similar to others */

/* The most similar of n words, if it differs by a typing error or two only; otherwise NULL. */
const char *nearest_word(const char *given, const char *const *word, size_t n);

/* command.c: the value of --export-type: which kinds of results are written. */

/* Adds WANT_TEXT and WANT_DB to *want for "text", "db" or "text,db". NULL, an option that was not given, adds
 * nothing. False: another value, which was reported on stderr. */
bool export_types_read(const char *text, unsigned *want);

/* help.c: `ascope help` and --help, made from the tables of commands and options. */

int run_help(struct arguments *a);
void help_overview(void);
int help_unknown(const char *word); /* reports an unknown command with a suggestion; returns the exit code */
void help_command(enum face face, const struct command *c);
void help_row(const char *option, const char *help); /* an option in a list, on one or more lines */

/* completion.c: `ascope completion`: completions for shells, made from the tables of commands and options. */

int run_completion(struct arguments *a);

#endif
