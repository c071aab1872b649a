/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_line.h - registry: parses a command line of msprof.
 *
 * As in the reference, words are read in order and the first invalid one ends the parsing; conflicts between options
 * are checked afterwards. Messages are passed to say(). `ascope run` uses the same options through msprof_take().
 * docs/msprof.md lists the differences from the reference.
 */
#ifndef ASCOPE_CLI_MSPROF_MSPROF_LINE_H
#define ASCOPE_CLI_MSPROF_MSPROF_LINE_H

#include <stdlib.h>
#include <sys/types.h>

#include "base/memory/arena.h"
#include "cli/msprof/msprof_rows.h"
#include "collect/session/devices.h"
#include "run/run.h"

/* The machine for which a line is checked. */
struct msprof_machine {
    int chip;               /* platform number; -1: no NPU, and options of all chips are accepted */
    const unsigned *device; /* numbers of the devices that are online */
    size_t n_devices;
    bool is_virtual_device; /* a container with a part of a device (vNPU) */
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
    struct arena *mem; /* of converted values */
    bool is_friendly;  /* `ascope run`: a recording without a program may last until it is interrupted */
    const char *value[MSPROF_OPTIONS];     /* NULL: not given */
    bool is_friendly_name[MSPROF_OPTIONS]; /* `ascope run`: it was given under the name that this command has for it */
    char *const *program;                  /* argv of the program; NULL: none */
    const char *program_dir; /* of --application: the default output directory; NULL: the working directory */
    pid_t *pid;
    size_t n_pids;
    enum msprof_mode mode;
};

/* Parses a whole line; argv[0] is the command. The caller sets on, say, to and mem; the rest is zero. */
enum msprof_verdict msprof_read(struct msprof_line *l, int argc, char **argv);

/* Parses in parts: one word "--name=value", and the final checks. */
enum msprof_verdict msprof_take(struct msprof_line *l, const char *word);
enum msprof_verdict msprof_end(struct msprof_line *l);

/* The name of an option in messages: as the user of the command writes it. */
static inline const char *msprof_name(const struct msprof_line *l, const struct msprof_row *r)
{
    return l->is_friendly_name[r - msprof_rows] && r->friendly ? r->friendly : r->name;
}

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

/* msprof_values.c: checks the values of msprof's options, by kind and by rules of single options. */

/* False: the value is invalid, which was reported. *value may be replaced by its normal form. */
bool msprof_value_check(struct msprof_line *l, const struct msprof_row *r, const char **value);

/* Describes the accepted values on the line's chip: "on, off"; "integers from 1 to 100". Allocated in l->mem. */
const char *msprof_accepted(const struct msprof_line *l, const struct msprof_row *r);

/* Rules of rows. */
#define MSPROF_RULE(name) bool name(struct msprof_line *l, const struct msprof_row *r, const char **value)
MSPROF_RULE(msprof_check_application);
MSPROF_RULE(msprof_check_storage_limit);
MSPROF_RULE(msprof_check_program_file);
MSPROF_RULE(msprof_check_pids);
MSPROF_RULE(msprof_check_live_pid);
MSPROF_RULE(msprof_check_devices);
MSPROF_RULE(msprof_check_sorted_names);
MSPROF_RULE(msprof_check_npu_events);
MSPROF_RULE(msprof_check_core_metrics);
MSPROF_RULE(msprof_check_nts_metrics);
MSPROF_RULE(msprof_check_memory_rate);
MSPROF_RULE(msprof_check_going_away);

/* Checks --output after everything else. must_exist: it is read; otherwise it is created. */
bool msprof_check_output(struct msprof_line *l, bool must_exist);

/* msprof_request.c: converts a valid command line of msprof to a request for the recorder. */

/* For a line that collects. Texts belong to the line. */
struct recorded_run msprof_request(const struct msprof_line *l);

/* msprof_request.c: describes this machine for the command line of msprof. */

/* The result refers to `devices`. */
struct msprof_machine machine_here(struct devices_online *devices);

#endif
