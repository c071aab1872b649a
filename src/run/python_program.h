/* SPDX-License-Identifier: Apache-2.0 */
/* python_program.h - a command line that starts Python: which of its words are what, and the same script under the front end. */
#ifndef ASCOPE_RUN_PYTHON_PROGRAM_H
#define ASCOPE_RUN_PYTHON_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "ascope/session.h"
#include "base/arena.h"

/* Words are lent by the command line, or are in the arena. */
struct python_program {
    const char *interpreter; /* as execvp() takes it */
    char *const *option;     /* of the interpreter */
    size_t n_options;
    char *const
        *launcher; /* torchrun or msrun and its options, behind those of the interpreter; without "-m" for the script */
    size_t n_launcher; /* 0: the script is started as it is */
    const char *script;
    bool is_module;
    char *const *argument; /* of the script; NULL behind the last */
};

/* "python3 [OPTION...] SCRIPT|-m MODULE ...", a script whose first line names Python, torchrun, msrun. False: another program, or no memory. */
bool python_read(struct python_program *out, char *const *program, struct arena *mem);

/* What `ascope run` was asked for. */
struct python_run {
    const struct ascope_options *recorder;
    const char *environment; /* more variables: "K=V;K2=V2"; NULL: none */
    const char *outside;     /* an option that only the collector has; NULL: none was given */
    bool is_raw;             /* the collection is not analysed at the end */
    bool is_quiet;           /* errors only */
};

/* "python3 [OPTION...] -m ascope record [OPTION...] SCRIPT ..."; torchrun and msrun start that in each rank. NULL: no memory. */
char **python_command(const struct python_program *p, const struct python_run *r, struct arena *mem);

/* A command line that grows; begins as { .mem = mem }. NULL behind the last; without memory `at` is NULL, and the arena has failed. */
struct words {
    char **at;
    size_t n, room;
    struct arena *mem;
};
void words_add(struct words *w, const char *word);

#endif
