/* SPDX-License-Identifier: Apache-2.0 */
/* program_output.h - what a program prints within a time limit.
 *
 * The program is not trusted: it may hang, print without end, leave children that keep its output open, or not be a program at all. It
 * reads nothing, and it and its children are killed when the time is over or when the calling thread ends.
 */
#ifndef ASCOPE_DOCTOR_PROGRAM_OUTPUT_H
#define ASCOPE_DOCTOR_PROGRAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_OUTPUT_MOST = 64 << 10 };

struct program_output {
    int why;        /* errno: it could not be started; 0: it was */
    bool is_late;   /* it was killed at the time limit */
    bool is_cut;    /* it was killed because it printed too much */
    int exit_code;  /* -1: it was killed, by us or by another signal */
    size_t n_bytes; /* of standard output and standard error */
    char text[PROGRAM_OUTPUT_MOST + 1];
};

void program_run(char *const argv[], unsigned limit_ms, struct program_output *out); /* argv[0]: a path */

#endif
