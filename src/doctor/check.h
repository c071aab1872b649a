/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - checks of a machine as rows of tables: a function that examines it, and what each state means for a
 * recording.
 *
 * A check starts no recording and leaves no file behind. Files of the system are read below `root`, and system calls
 * are made through `tries`, so that tests can describe a machine of their own.
 */
#ifndef ASCOPE_DOCTOR_CHECK_H
#define ASCOPE_DOCTOR_CHECK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/finding.h"
#include "doctor/system_tries.h"

struct python_answer;

struct examined {
    const char *root; /* "" for this machine */
    const struct system_tries *tries;
    const char *out;                    /* the directory of recordings */
    const struct python_answer *python; /* filled by python_ask() */
};

struct machine_check {
    const char *name;
    bool is_needed; /* if its state is missing, the host cannot be recorded */
    /* Sets the fact and the places that were examined; also effect and advice, if they depend on more than the
     * state. */
    enum finding_state (*look)(const struct examined *m, struct machine_finding *f);
    const char *effect[FINDING_STATES], *advice[FINDING_STATES]; /* used if look() has set none */
};

void check_run(const struct machine_check *c, const struct examined *m, struct machine_finding *f);

/* Set the texts of a finding, or append to them; texts that are too long end with "...". place_add() separates
 * places by ", ". */
void fact_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fact_add(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void effect_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advice_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void place_add(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a small file of /proc or /sys, without trailing line feeds. False: *why is the errno value. */
bool text_of(const struct examined *m, const char *path, char *out, size_t size, int *why);
bool number_of(const struct examined *m, const char *path, int64_t *out, int *why);

/* Lists the names in a directory that have the prefix, sorted and separated by blanks. Returns their number; 0 also
 * if the directory cannot be read. */
size_t names_in(const struct examined *m, const char *path, const char *prefix, char *out, size_t size);

/* Whether the process has a capability, by its number: CapEff of /proc/self/status. */
enum { CAPABILITY_NET_ADMIN = 12, CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };
bool has_capability(const struct examined *m, unsigned number);
bool status_field(const struct examined *m, const char *field, char *out, size_t size); /* of /proc/self/status */

/* Finds an executable file in the absolute directories of PATH. False: there is none, and `out` is empty. */
bool program_find(const char *name, char out[PATH_MAX]);

#endif
