/* SPDX-License-Identifier: Apache-2.0 */
/* term.h - prints texts for people: plain in a pipe, with colours on a terminal. */
#ifndef ASCOPE_REPORT_TERM_H
#define ASCOPE_REPORT_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/readable.h"

enum ink { INK_END, INK_BOLD, INK_DIM, INK_GOOD, INK_WARN, INK_BAD, INK_COUNT };

struct term {
    FILE *to;
    bool has_colour; /* a terminal, and the user has not set NO_COLOR */
    int columns;     /* of the terminal; 0 in a pipe, where nothing is cut */
};

void term_init(struct term *t, FILE *to);
const char *term_ink(const struct term *t, enum ink ink); /* an escape sequence, or "" */

/* Prints untrusted text: control characters, and those that change the direction of writing, become '?', so that a
 * name cannot control the terminal. Texts of more than `most` columns are truncated and end with "..." (0: never). */
void term_text(const struct term *t, const char *text, int most);
int term_width(const char *text); /* its width in columns, one per UTF-8 character */

/* One line on stderr: "ascope: ...". The program's name is the one it was called by. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void complain_line(const char *line);
void complain_to(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* to a stream that is printed later, or to stderr */
void complain_no_memory(const char *what);
bool has_complained(void);             /* whether one of these has printed to stderr */
void complain_as(const char *program); /* must stay valid */
const char *complain_name(void);

#endif
