/* SPDX-License-Identifier: Apache-2.0 */
/* term.h - texts and numbers for people: plain in a pipe, a little colour on a terminal. */
#ifndef ASCOPE_CLI_TERM_H
#define ASCOPE_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum ink { INK_END, INK_BOLD, INK_DIM, INK_GOOD, INK_WARN, INK_BAD, INK_COUNT };

struct term {
    FILE *to;
    bool has_colour; /* a terminal, and the user has not set NO_COLOR */
    int columns;     /* of the terminal; 0 in a pipe, where nothing is cut */
};

void term_init(struct term *t, FILE *to);
const char *term_ink(const struct term *t, enum ink ink); /* an escape sequence, or "" */

/* Text that came from a file: control characters, and those that change the direction of writing, become '?', so that no name
 * can drive the terminal. Cut, with "..." at the cut, when it is longer than `most` columns (0: never). */
void term_text(const struct term *t, const char *text, int most);
int term_width(const char *text); /* columns that it takes, counting UTF-8 characters as one each */

/* Numbers as people read them. They return `out`. */
enum { TERM_NUMBER = 32 };
char *term_count(char out[TERM_NUMBER], uint64_t n);     /* 12,345,678 */
char *term_bytes(char out[TERM_NUMBER], uint64_t bytes); /* 998 B, 1.2 KiB, 35 MiB: powers of 1024 */
char *term_duration(char out[TERM_NUMBER], double ns);   /* 75.8 us, 14.125 ms, 1.204 s, 2 min 05 s */
char *term_time(char out[TERM_NUMBER], int64_t wall_ns); /* 2024-07-03 02:17:25.939512, local */

/* One line on stderr: "ascope: ...". The program's name is the one it was called by. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void complain_to(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* a stream that is printed later */
void complain_no_memory(const char *what);
void complain_as(const char *program); /* lent for good */
const char *complain_name(void);

#endif
