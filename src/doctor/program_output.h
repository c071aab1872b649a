/* SPDX-License-Identifier: Apache-2.0 */
/* program_output.h - runs a program within a time limit and returns its output.
 *
 * The program is not trusted: it may hang, print without end, leave children that keep its output open, or not be
 * executable. Its standard input is /dev/null. It and its process group are killed at the time limit, and it is killed
 * when the calling thread ends.
 */
#ifndef ASCOPE_DOCTOR_PROGRAM_OUTPUT_H
#define ASCOPE_DOCTOR_PROGRAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_OUTPUT_MOST = 64 << 10 };

struct program_output {
    int why;        /* errno value if it could not be started; 0: it was started */
    bool is_late;   /* it was killed at the time limit */
    bool is_cut;    /* it was killed because it printed too much */
    int exit_code;  /* -1: it was killed, by us or by another signal */
    size_t n_bytes; /* of standard output and standard error */
    char text[PROGRAM_OUTPUT_MOST + 1];
};

void program_run(char *const argv[], unsigned limit_ms, struct program_output *out); /* argv[0]: a path */

#endif
