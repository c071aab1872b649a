/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of one stream of lines, through every reader of words. */
#include <math.h>
#include <stdbool.h>

#include "fuzz.h"
#include "guarded.h"
#include "load/prof/text.h"

enum { MOST_SLICES = 8, MOST_WORDS = 16 };

static void check_word(struct word w)
{
    uint64_t u;
    double f;
    if (word_u64(w, &u) && w.len > 0 && (w.at[0] < '0' || w.at[0] > '9'))
        abort();
    if (word_real(w, &f) && !isfinite(f))
        abort();
    for (unsigned decimals = 0; decimals < 10; decimals += 3)
        (void)word_fixed(w, decimals, &u);
    const struct word trimmed = word_trim(w), rest = word_skip(w, w.len / 2);
    if (trimmed.len > w.len || rest.len > w.len)
        abort();
    (void)word_is(w, "cpu");
    (void)word_starts(w, "cpu");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice slice[MOST_SLICES] = { 0 };
    struct stream stream = { .family = "x", .slice = slice };
    struct source s = { .path = "fuzz", .mem = arena_new(), .stream = &stream, .n_streams = 1 };
    const uint8_t *at = data;
    size_t left = size;
    struct piece piece;
    while (stream.n_slices < MOST_SLICES && piece_next(&at, &left, &piece)) {
        const uint8_t *copy = guarded_copy(piece.data, piece.size);
        slice[stream.n_slices] =
            (struct slice){ .name = "x", .data = copy, .size = piece.size, .number = (uint32_t)stream.n_slices };
        stream.n_slices++;
    }
    struct text t;
    struct error e = { 0 };
    if (text_open(&t, &s, &stream, &e)) {
        const size_t most = text_lines(&t);
        size_t n = 0;
        for (struct word line; text_next(&t, &line); n++) {
            struct word word[MOST_WORDS];
            const size_t n_words = line_words(line.at, line.len, word, MOST_WORDS);
            check_word(line);
            for (size_t i = 0; i < n_words; i++)
                check_word(word[i]);
            if (n % 3 == 0)
                text_lost(&t, LOSS_BAD_TEXT);
        }
        if (n != most)
            abort();
    }
    for (size_t i = 0; i < stream.n_slices; i++)
        guarded_free(slice[i].data, slice[i].size);
    arena_free(s.mem);
    return 0;
}
