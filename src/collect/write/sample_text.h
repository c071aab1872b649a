/* SPDX-License-Identifier: Apache-2.0 */
/* sample_text.h - the text of one sample, and how it gets into its file: whole, and never into two slices. */
#ifndef ASCOPE_COLLECT_WRITE_SAMPLE_TEXT_H
#define ASCOPE_COLLECT_WRITE_SAMPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/write/streams.h"

struct sample_text { /* begins as zeros; without memory it stays short, and is not put */
    char *at;
    size_t n, room;
    bool is_short;
};

char *sample_text_room(struct sample_text *t, size_t bytes); /* so much behind what there is; NULL: no memory */
void sample_text_add(struct sample_text *t, const char *text, size_t n);
void sample_text_format(struct sample_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of the sampler's own thread, which waits for the writer where the ring has little room left. Empties the text. */
void sample_text_put(struct sample_text *t, enum stream_id stream);
void sample_text_fini(struct sample_text *t);

#endif
