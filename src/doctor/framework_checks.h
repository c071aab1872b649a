/* SPDX-License-Identifier: Apache-2.0 */
/* framework_checks.h - checks of the Python interpreter, and of the frameworks and front ends that it finds.
 *
 * The interpreter runs once, in a separate process, because frameworks load drivers, print, hang and crash. It prints
 * its answers in parts, the quick ones first, so that a framework that hangs during its import does not hide the
 * others.
 */
#ifndef ASCOPE_DOCTOR_FRAMEWORK_CHECKS_H
#define ASCOPE_DOCTOR_FRAMEWORK_CHECKS_H

#include <jansson.h>

#include "doctor/check.h"

struct python_answer {
    char path[PATH_MAX]; /* of the interpreter; "": none was found */
    char trouble[300];   /* why answers are missing; "": all are there */
    json_t *said;        /* the answers, an object; see the script in framework_checks.c */
};

/* name: a path, or the name of a program in the PATH. */
void python_ask(struct python_answer *a, const char *name, unsigned limit_ms);
void python_forget(struct python_answer *a);

extern const struct machine_check framework_checks[]; /* the last one has no name */

/* Writes "PyTorch 1.13.0 with listener" to `out`, for the verdict; "" without PyTorch. Returns `out`. */
const char *frameworks_text(const struct python_answer *a, char *out, size_t size);

#endif
