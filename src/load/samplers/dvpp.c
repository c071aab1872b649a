/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <string.h>

#include "base/memory/sort.h"
#include "load/prof/text.h"

/* <time> [<dvpp>] <type> <unit> <busy> <frames> <percent>% <busy> <frames> <percent>% <busy> <frames>: since the start,
 * in the last period, in the last call. Only some chips have several DVPPs and number them. */
enum { WORDS_WITHOUT_DVPP = 11, WORDS = 12 };
enum { UNIT_TYPE, UNIT_NUMBER, UNIT_BUSY, UNIT_FRAMES, UNIT_PERCENT }; /* from the type on */

struct dvpp_row {
    uint64_t key; /* dvpp, type and number of the unit */
    double busy_us, frames;
    struct word percent;
};

struct dvpp_reader {
    struct source *source;
    LIST(struct dvpp_row) rows;
};

static bool read_row(struct word line, struct dvpp_row *r)
{
    struct word word[WORDS + 1];
    const size_t n = line_words(line.at, line.len, word, WORDS + 1);
    if (n != WORDS && n != WORDS_WITHOUT_DVPP)
        return false;
    const struct word *unit = &word[n == WORDS ? 2 : 1];
    uint64_t dvpp = 0, type, number;
    if ((n == WORDS && !word_u64(word[1], &dvpp)) || !word_u64(unit[UNIT_TYPE], &type) ||
        !word_u64(unit[UNIT_NUMBER], &number) || dvpp > UINT16_MAX || type > UINT16_MAX || number > UINT16_MAX ||
        !word_real(unit[UNIT_BUSY], &r->busy_us) || !word_real(unit[UNIT_FRAMES], &r->frames))
        return false;
    r->key = dvpp << 32 | type << 16 | number;
    r->percent = unit[UNIT_PERCENT];
    if (r->percent.at[r->percent.len - 1] == '%')
        r->percent.len--;
    return true;
}

static bool read_rows(struct dvpp_reader *r, const struct stream *stream, struct error *e)
{
    struct text t;
    if (!text_open(&t, r->source, stream, e))
        return false;
    for (struct word line; text_next(&t, &line);) {
        struct dvpp_row row;
        if (read_row(line, &row)) {
            struct dvpp_row *slot = list_add(&r->rows, r->source->mem);
            if (slot)
                *slot = row;
        } else if (line.len > 0 && !memmem(line.at, line.len, "engine_type", strlen("engine_type"))) {
            text_lost(&t, LOSS_BAD_TEXT); /* the line with the names of columns is skipped */
        }
    }
    return true;
}

static bool sum_up(struct dvpp_reader *r, struct names *names, struct dvpp_units *out)
{
    const size_t n = r->rows.n;
    const struct dvpp_row *row = r->rows.at;
    uint32_t *order = arena_take(r->source->mem, n, sizeof *order);
    uint64_t *key = arena_take(r->source->mem, n, sizeof *key);
    out->at = arena_take(r->source->mem, n, sizeof *out->at);
    if (arena_failed(r->source->mem))
        return false;
    for (size_t i = 0; i < n; i++)
        key[i] = row[i].key;
    order_fill(order, n);
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n;) {
        const struct dvpp_row *first = &row[order[i]], *last = first;
        double busy[2] = { first->busy_us, first->busy_us }, frames[2] = { first->frames, first->frames };
        for (; i < n && key[order[i]] == first->key; i++) {
            last = &row[order[i]];
            busy[0] = last->busy_us < busy[0] ? last->busy_us : busy[0];
            busy[1] = last->busy_us > busy[1] ? last->busy_us : busy[1];
            frames[0] = last->frames < frames[0] ? last->frames : frames[0];
            frames[1] = last->frames > frames[1] ? last->frames : frames[1];
        }
        out->at[out->n++] = (struct dvpp_unit){ .dvpp = (uint16_t)(first->key >> 32),
                                                .type = (uint16_t)(first->key >> 16),
                                                .unit = (uint16_t)first->key,
                                                .busy_us = busy[1] - busy[0],
                                                .frames = frames[1] - frames[0],
                                                .percent = names_add(names, last->percent.at, last->percent.len) };
    }
    return true;
}

bool dvpp_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    struct dvpp_reader r = { .source = s };
    size_t n;
    /* One file for all kinds of units, or one for each kind: dvpp.vdec, dvpp.vpc, … */
    const bool has_one = source_streams(s, "dvpp.data", &n) != NULL;
    for (size_t i = 0; i < s->n_streams; i++) {
        const char *family = s->stream[i].family;
        if ((has_one ? strcmp(family, "dvpp.data") == 0 : strncmp(family, "dvpp.", 5) == 0) &&
            !read_rows(&r, &s->stream[i], e))
            return false;
    }
    return r.rows.n == 0 || sum_up(&r, p->names, &u->dvpp) || error_no_memory(e, s->path);
}
