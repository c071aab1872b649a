/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_line.h - what a whole command line of msprof asks for.
 *
 * A line is read word by word, in its order, and the first bad word ends it, as the reference does; then come the checks of what
 * does not go together. Nothing is printed here: messages go to say(). `ascope run` takes the same rows through msprof_take().
 * docs/msprof.md lists what differs from the reference.
 */
#ifndef ASCOPE_CLI_MSPROF_LINE_H
#define ASCOPE_CLI_MSPROF_LINE_H

#include <stdlib.h>
#include <sys/types.h>

#include "base/arena.h"
#include "cli/msprof_rows.h"

/* What a line runs on. */
struct msprof_machine {
    int chip;               /* platform number; -1: no NPU here, and nothing is refused for its sake */
    const unsigned *device; /* numbers of the devices that are online */
    size_t n_devices;
    bool is_virtual_device; /* in a container that has a part of a device */
};

enum msprof_severity { MSPROF_INFO, MSPROF_WARNING, MSPROF_ERROR, MSPROF_UNKNOWN /* no such option */ };

enum msprof_verdict {
    MSPROF_GOOD,
    MSPROF_WANTS_HELP,
    MSPROF_REFUSED,
    MSPROF_NEEDS_USAGE, /* refused, and the list of options may help */
    MSPROF_NOT_HERE,    /* refused on this machine */
};

struct msprof_line {
    struct msprof_machine on;
    void (*say)(void *to, enum msprof_severity severity, const char *text);
    void *to;
    struct arena *mem;                 /* of what is made of the values */
    bool is_friendly;                  /* `ascope run`: a run without a program may last until it is interrupted */
    const char *value[MSPROF_OPTIONS]; /* NULL: not given */
    char *const *program;              /* argv of what is to run, ends with NULL; NULL: none */
    const char *program_dir; /* of --application: where results are without --output; NULL: the working directory */
    pid_t *pid;
    size_t n_pids;
    enum msprof_mode mode;
};

/* A whole line: argv[0] is the command itself. on, say, to and mem are set, the rest is zero. */
enum msprof_verdict msprof_read(struct msprof_line *l, int argc, char **argv);

/* In parts: one word "--name=value", and what is checked when all are there. */
enum msprof_verdict msprof_take(struct msprof_line *l, const char *word);
enum msprof_verdict msprof_end(struct msprof_line *l);

static inline bool msprof_is_on(const struct msprof_line *l, enum msprof_option id)
{
    return l->value[id] && l->value[id][0] == 'o' && l->value[id][1] == 'n' && !l->value[id][2];
}

static inline uint32_t msprof_number(const struct msprof_line *l, enum msprof_option id) /* 0: not given */
{
    return l->value[id] ? (uint32_t)strtoul(l->value[id], NULL, 10) : 0;
}

__attribute__((format(printf, 3, 4))) void msprof_say(const struct msprof_line *l, enum msprof_severity severity,
                                                      const char *fmt, ...);

#endif
