/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - checks of a machine as rows of tables: a function that looks, and what each state means for a recording.
 *
 * A check starts nothing and leaves nothing behind. Files of the system are read below `root`, so that tests can look at machines that
 * they have made up; what the kernel has to be asked for is in `tries`.
 */
#ifndef ASCOPE_DOCTOR_CHECK_H
#define ASCOPE_DOCTOR_CHECK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"
#include "doctor/system_tries.h"

struct python_answer;

struct examined {
    const char *root; /* "" for this machine */
    const struct system_tries *tries;
    const char *out;                    /* the directory of recordings */
    const struct python_answer *python; /* python_ask() */
};

struct check {
    const char *name;
    bool is_needed; /* the host cannot be recorded while it is missing */
    /* Writes the fact, the places that it looked at, and effect or advice where they depend on more than the state. */
    enum finding_state (*look)(const struct examined *m, struct finding *f);
    const char *effect[FINDING_STATES], *advice[FINDING_STATES]; /* where look() wrote none */
};

void check_run(const struct check *c, const struct examined *m, struct finding *f);

/* Texts of findings; cut where they do not fit. place_add() puts ", " before all but the first. */
void fact_set(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fact_add(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void effect_set(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advice_set(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void place_add(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A small file of /proc or /sys, without the line feed at its end. False: *why is errno. */
bool text_of(const struct examined *m, const char *path, char *out, size_t size, int *why);
bool number_of(const struct examined *m, const char *path, int64_t *out, int *why);

/* The names in a directory, sorted and separated by blanks, and how many there are; 0 as well where it cannot be read. */
size_t names_in(const struct examined *m, const char *path, const char *prefix, char *out, size_t size);

/* Whether the process has a capability, by its number: CapEff of /proc/self/status. */
enum { CAPABILITY_NET_ADMIN = 12, CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };
bool has_capability(const struct examined *m, unsigned number);
bool status_field(const struct examined *m, const char *field, char *out, size_t size); /* of /proc/self/status */

/* An executable file of that name in an absolute directory of the PATH: its path. */
bool program_find(const char *name, char out[PATH_MAX]);

#endif
