/* text.h - streams of lines. Slices are joined first, so that no line is cut in two. */
#ifndef ASCOPE_LOAD_TEXT_H
#define ASCOPE_LOAD_TEXT_H

#include "base/bytes.h"
#include "profile/collection.h"

/* The whole text of a stream. False only without memory. */
bool stream_text(struct source *s, const struct stream *stream, struct bytes *out, struct error *e);

/* Splits a line at blanks into at most `most` words; returns how many there are. Words are not terminated. */
struct word {
    const char *at;
    size_t len;
};
size_t line_words(const char *line, size_t len, struct word *word, size_t most);
bool word_is(struct word w, const char *text);
bool word_u64(struct word w, uint64_t *out); /* decimal digits only, no overflow */
bool word_real(struct word w, double *out);  /* as strtod, the whole word, finite */

#endif
