/* SPDX-License-Identifier: Apache-2.0 */
/* framework_checks.h - the Python interpreter, and which frameworks and front ends it finds.
 *
 * The interpreter is asked once, in a process of its own: frameworks load drivers, print, hang and crash. It answers in parts, quick ones
 * first, so that a framework that hangs when it is imported hides nothing but itself.
 */
#ifndef ASCOPE_DOCTOR_FRAMEWORK_CHECKS_H
#define ASCOPE_DOCTOR_FRAMEWORK_CHECKS_H

#include <jansson.h>

#include "doctor/check.h"

struct python_answer {
    char path[PATH_MAX]; /* of the interpreter; "": none was found */
    char trouble[300];   /* why it said nothing, or not everything; "": it did */
    json_t *said;        /* an object; see framework_checks.c */
};

/* name: a path, or the name of a program in the PATH. */
void python_ask(struct python_answer *a, const char *name, unsigned limit_ms);
void python_forget(struct python_answer *a);

extern const struct check framework_checks[]; /* the last one has no name */

/* "PyTorch 1.13.0 with listener" into `out`, for one line about everything; "" without a framework. */
const char *frameworks_text(const struct python_answer *a, char *out, size_t size);

#endif
