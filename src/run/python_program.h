/* SPDX-License-Identifier: Apache-2.0 */
/* python_program.h - recognises command lines that start a Python script, and rewrites them to run the script under
 * the front end. */
#ifndef ASCOPE_RUN_PYTHON_PROGRAM_H
#define ASCOPE_RUN_PYTHON_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "ascope/session.h"
#include "base/memory/arena.h"

/* A parsed command line. Words belong to the command line or to the arena. */
struct python_program {
    const char *interpreter; /* as execvp() takes it */
    char *const *option;     /* of the interpreter */
    size_t n_options;
    char *const *launcher; /* torchrun or msrun and its options, without the "-m" of the script */
    size_t n_launcher;     /* 0: no launcher */
    const char *script;
    bool is_module;
    char *const *argument; /* of the script; NULL after the last */
};

/* Parses "python3 [OPTION...] SCRIPT|-m MODULE ...", a script whose first line names Python, torchrun or msrun.
 * False: another program, or no memory. */
bool python_read(struct python_program *out, char *const *program, struct arena *mem);

/* The request of `ascope run`. */
struct python_run {
    const struct ascope_options *recorder;
    char *const *options;    /* of the front end, as given: "--active", "2"; NULL after the last. NULL: none */
    const char *environment; /* more variables: "K=V;K2=V2"; NULL: none */
    const char *outside;     /* an option that only the collector has; NULL: none was given */
    const char *dialect;     /* of the results; NULL: the default */
    bool is_raw;             /* the collection is not analysed at the end */
    bool is_quiet;           /* errors only */
};

/* Whether a word is an option of the front ends, by its full name: "--with-stack", "--export-type=db". */
enum python_option { PYTHON_OPTION_UNKNOWN, PYTHON_OPTION_LACKS_VALUE, PYTHON_OPTION_COMPLETE };
enum python_option python_option(const char *word, struct arena *mem);

/* The command line "python3 [OPTION...] -m ascope record [OPTION...] SCRIPT ..."; launchers start it in each rank.
 * NULL: no memory. */
char **python_command(const struct python_program *p, const struct python_run *r, struct arena *mem);

/* A growing command line, initialised as { .mem = mem }. `at` ends with NULL; it is NULL if the arena has failed. */
struct words {
    char **at;
    size_t n, room;
    struct arena *mem;
};
void words_add(struct words *w, const char *word);

#endif
