/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - loads streams of lines. Slices are joined first, so that no line is split. */
#ifndef ASCOPE_LOAD_PROF_TEXT_H
#define ASCOPE_LOAD_PROF_TEXT_H

#include "base/files/bytes.h"
#include "profile/source.h"

/* The whole text of a stream. Gaps between its slices are counted. False only without memory. */
bool stream_text(struct source *s, const struct stream *stream, struct bytes *out, struct error *e);

/* Splits a line at blanks into its first words, at most `most`; returns how many they are. Words are not terminated. */
struct word {
    const char *at;
    size_t len;
};
size_t line_words(const char *line, size_t len, struct word *word, size_t most);
bool word_is(struct word w, const char *text);
void word_copy(char *to, size_t size, struct word w); /* as a NUL-terminated text, truncated to the size */
bool word_u64(struct word w, uint64_t *out);          /* decimal digits only, no overflow */
bool word_real(struct word w, double *out);           /* as strtod, the whole word, finite */
/* A decimal number without sign, in units of 10^-decimals: "7.25" with 3 decimals is 7250. Further digits are dropped. */
bool word_fixed(struct word w, unsigned decimals, uint64_t *out);
bool word_starts(struct word w, const char *text);
struct word word_trim(struct word w);             /* without blanks at both ends */
struct word word_skip(struct word w, size_t len); /* without its first bytes, and the blanks that follow them */

/* A stream line by line, which knows where each line is. */
struct text {
    struct source *source;
    const struct stream *stream;
    struct bytes in;
    uint64_t line_at; /* where the line that text_next() gave last begins */
};
bool text_open(struct text *t, struct source *s, const struct stream *stream, struct error *e);
bool text_next(struct text *t, struct word *line); /* without blanks at both ends; false at the end */
size_t text_lines(const struct text *t);           /* how many there are: an upper bound of its rows */
void text_lost(struct text *t, enum loss why);     /* counts the line of text_next(), with its file and place */

#endif
