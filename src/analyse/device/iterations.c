/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include <assert.h>

#include "base/memory/arena.h"
#include "base/memory/sort.h"
#include "base/text/error.h"
#include "profile/steps.h"
#include "raw/device_records.h"

/* Pairs of stamps inside iterations: an even tag begins, the odd one after it ends, on the same stream. */

struct span_builder {
    struct spans *out;
    uint32_t *first;        /* of the same iteration and stream: row */
    struct open_span *slot; /* by hash: the latest begin of each stream and tag, the first of each stream */
    size_t n_slots;         /* a power of two */
};

struct open_span {
    uint64_t key;
    uint32_t row, serial; /* serial 0: a free slot */
};
static const uint64_t KEY_OF_STREAM = UINT64_MAX << 32; /* a stream whatever the tag */

/* Room for `most` stamps: rows in `mem`, the rest in `temp`. The caller checks both arenas with arena_failed(). */
static struct span_builder spans_new(struct spans *out, size_t most, struct arena *mem, struct arena *temp)
{
    struct span_builder s = { .out = out, .n_slots = 16 };
    while (s.n_slots < most * 4)
        s.n_slots *= 2;
    assert((s.n_slots & (s.n_slots - 1)) == 0); /* places are found by a mask */
    out->iteration = arena_take(mem, most, sizeof *out->iteration);
    out->begin = arena_take(mem, most, sizeof *out->begin);
    out->end = arena_take(mem, most, sizeof *out->end);
    s.first = arena_take(temp, most, sizeof *s.first);
    s.slot = arena_take(temp, s.n_slots, sizeof *s.slot);
    return s;
}

/* The slot of a span that is open, or the free one where it would be. */
static struct open_span *span_slot(const struct span_builder *s, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (s->n_slots - 1);
    while (s->slot[at].serial != 0 && s->slot[at].key != key)
        at = (at + 1) & (s->n_slots - 1);
    return &s->slot[at];
}

/* `serial` identifies the iteration and is never reused; `row` may be reused. False: an end without a begin in this
 * iteration. */
static bool spans_add(struct span_builder *s, uint32_t row, uint32_t serial, uint16_t tag, uint16_t stream,
                      uint64_t tick)
{
    const uint64_t key = (uint64_t)stream << 16 | tag >> 1;
    struct spans *t = s->out;
    if (tag % 2 == 1) {
        const struct open_span *open = span_slot(s, key);
        if (open->serial != serial)
            return false;
        t->end[open->row] = tick;
        return true;
    }
    struct open_span *first = span_slot(s, KEY_OF_STREAM | stream);
    if (first->serial != serial)
        *first = (struct open_span){ KEY_OF_STREAM | stream, (uint32_t)t->n, serial };
    s->first[t->n] = first->row;
    *span_slot(s, key) = (struct open_span){ key, (uint32_t)t->n, serial };
    t->iteration[t->n] = row;
    t->begin[t->n] = tick;
    t->end[t->n] = 0;
    t->n++;
    return true;
}

/* Drops and counts what did not end, puts the rest in order. False only without memory. */
static bool spans_finish(struct span_builder *s, struct arena *mem, const char *file, struct losses *lost)
{
    struct spans *t = s->out, sorted = { 0 };
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    sorted.iteration = arena_take(mem, t->n, sizeof *sorted.iteration);
    sorted.begin = arena_take(mem, t->n, sizeof *sorted.begin);
    sorted.end = arena_take(mem, t->n, sizeof *sorted.end);
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->end[i] != 0)
            order[sorted.n++] = i;
    losses_add(lost, LOSS_UNPAIRED, t->n - sorted.n, file, 0);
    if (!order_by_u32(order, sorted.n, s->first) || !order_by_u32(order, sorted.n, t->iteration))
        return false;
    order_apply(sorted.iteration, t->iteration, order, sorted.n, sizeof *sorted.iteration);
    order_apply(sorted.begin, t->begin, order, sorted.n, sizeof *sorted.begin);
    order_apply(sorted.end, t->end, order, sorted.n, sizeof *sorted.end);
    *t = sorted;
    return true;
}

enum { NOBODY = UINT32_MAX };
static const char where[] = "ts_track.data"; /* in losses */

/* An iteration that is not complete yet. Its stamps so far are a chain. */
struct waiting {
    uint32_t first, last;
    uint16_t begun_by, reached; /* tags */
};

/* The state of the run of a model. */
enum iterations_state {
    OUTSIDE, /* no run has begun, or the last one ended */
    INSIDE,  /* an iteration has begun */
    BETWEEN, /* an iteration ended, and the next one is taken to begin there unless a new run begins first */
};

struct builder {
    const struct device_log *log;
    struct steps *out;
    uint32_t *next; /* of each stamp, in its chain */
    struct waiting *queue;
    size_t head, tail;
    size_t behind[STEP_TAG_ITERATION_END + 1]; /* by tag: the iterations before this position have it already */

    enum iterations_state state;
    uint64_t index;            /* of the iteration to come, from 1 in each model */
    uint32_t iteration_number; /* counts all iterations that ever began; a row may be reused, a number is not */
    struct span_builder reduces, get_nexts;
    uint64_t n_unmatched, n_unended;
};

static bool is_reduce(uint16_t tag)
{
    return tag >= STEP_TAG_REDUCE && tag < STEP_TAG_GET_NEXT;
}

static bool is_get_next(uint16_t tag)
{
    return tag >= STEP_TAG_GET_NEXT && tag < STEP_TAG_STEP_BEGIN;
}

static void iteration_begin(struct builder *b, uint64_t model, uint64_t tick)
{
    struct iterations *t = &b->out->iterations;
    t->model[t->n] = model;
    t->index[t->n] = b->index;
    t->begin[t->n] = tick;
    t->end[t->n] = t->fp[t->n] = t->bp[t->n] = 0;
    t->n++;
    b->iteration_number++;
}

static void iteration_end(struct builder *b, uint64_t tick)
{
    b->out->iterations.end[b->out->iterations.n - 1] = tick;
    b->index++;
}

static size_t cut_rows(const uint32_t *iteration, size_t n, size_t from)
{
    while (n > 0 && iteration[n - 1] >= from)
        n--;
    return n;
}

/* Discards the stamps of the iteration that began last. */
static void iteration_clear(struct builder *b)
{
    struct steps *s = b->out;
    const size_t last = s->iterations.n - 1;
    s->iterations.fp[last] = s->iterations.bp[last] = 0;
    s->reduces.n = cut_rows(s->reduces.iteration, s->reduces.n, last);
    s->get_nexts.n = cut_rows(s->get_nexts.iteration, s->get_nexts.n, last);
    b->iteration_number++;
}

/* A stamp of the iteration that was begun last. The last pass of several counts. */
static bool add_to_iteration(struct builder *b, uint32_t i)
{
    const struct device_log *log = b->log;
    struct iterations *t = &b->out->iterations;
    const uint16_t tag = log->stamps.tag[i];
    const uint64_t tick = log->stamps.tick[i];
    if (b->state == OUTSIDE)
        return false;
    const uint32_t row = (uint32_t)(t->n - 1);
    if (is_reduce(tag))
        return spans_add(&b->reduces, row, b->iteration_number, tag, log->stamps.stream[i], tick);
    if (is_get_next(tag))
        return spans_add(&b->get_nexts, row, b->iteration_number, tag, log->stamps.stream[i], tick);
    if (tag == STEP_TAG_FP)
        t->fp[row] = tick;
    else
        t->bp[row] = tick;
    return true;
}

/* One stamp of a model, in its final order. */
static void iterations_take(struct builder *b, uint32_t i)
{
    const uint64_t model = b->log->stamps.model[i], tick = b->log->stamps.tick[i];
    switch (b->log->stamps.tag[i]) {
    case STEP_TAG_MODEL_BEGIN:
        if (b->state == OUTSIDE) {
            iteration_begin(b, model, tick);
        } else if (b->state == BETWEEN) {
            b->out->iterations.begin[b->out->iterations.n - 1] = tick;
            iteration_clear(b);
        }
        b->state = INSIDE;
        break;
    case STEP_TAG_ITERATION_END:
        if (b->state == OUTSIDE)
            break;
        iteration_end(b, tick);
        iteration_begin(b, model, tick);
        b->state = BETWEEN;
        break;
    case STEP_TAG_MODEL_END:
        if (b->state != INSIDE)
            break;
        iteration_end(b, tick);
        b->state = OUTSIDE;
        break;
    default: b->n_unmatched += !add_to_iteration(b, i);
    }
}

static void queue_add(struct builder *b, uint32_t i)
{
    const uint16_t tag = b->log->stamps.tag[i];
    b->queue[b->tail++] = (struct waiting){ i, i, tag, tag };
}

static void chain_add(struct builder *b, struct waiting *w, uint32_t i)
{
    b->next[w->last] = i;
    w->last = i;
}

static void queue_flush_one(struct builder *b)
{
    for (uint32_t i = b->queue[b->head++].first; i != NOBODY; i = b->next[i])
        iterations_take(b, i);
}

/* The first iteration without a stamp of this tag or a later one. Iterations never lose stamps, so that each search
 * continues where the last one ended. */
static struct waiting *queue_find(struct builder *b, uint16_t tag)
{
    size_t *at = &b->behind[tag];
    *at = *at > b->head ? *at : b->head;
    while (*at < b->tail && b->queue[*at].reached >= tag)
        (*at)++;
    return *at < b->tail ? &b->queue[*at] : NULL;
}

/* One stamp of a model, in order of time. */
static void queue_take(struct builder *b, uint32_t i)
{
    const uint16_t tag = b->log->stamps.tag[i];
    struct waiting *w = NULL;
    b->next[i] = NOBODY;
    if (tag == STEP_TAG_MODEL_BEGIN) {
        queue_add(b, i);
    } else if (tag == STEP_TAG_MODEL_END) {
        for (unsigned runs = 0; b->head < b->tail; queue_flush_one(b))
            if (b->queue[b->head].begun_by == STEP_TAG_MODEL_BEGIN && ++runs == 2)
                break;
        iterations_take(b, i);
    } else if (is_get_next(tag)) {
        w = b->head < b->tail ? &b->queue[b->tail - 1] : NULL;
        b->n_unmatched += w == NULL;
    } else if (is_reduce(tag)) {
        w = queue_find(b, STEP_TAG_ITERATION_END);
        b->n_unmatched += w == NULL;
    } else if ((w = queue_find(b, tag))) {
        w->reached = tag;
    } else {
        queue_add(b, i);
    }
    if (w)
        chain_add(b, w, i);
}

/* Ends the stamps of a model. The last iteration is dropped if it did not end. */
static void model_end(struct builder *b)
{
    struct iterations *t = &b->out->iterations;
    while (b->head < b->tail)
        queue_flush_one(b);
    if (b->state != OUTSIDE) {
        iteration_clear(b);
        b->n_unended += b->state == INSIDE;
        t->n--;
    }
    b->state = OUTSIDE;
    b->index = 1;
}

/* The training steps of a framework: two stamps with one index are its begin and end. */
static bool iterations_add_steps(struct steps *s, const struct device_log *log, struct arena *temp, struct losses *lost)
{
    uint32_t *order = arena_take(temp, log->stamps.n, sizeof *order);
    size_t n = 0;
    if (!order)
        return false;
    for (uint32_t i = 0; i < log->stamps.n; i++)
        if (log->stamps.tag[i] == STEP_TAG_STEP_BEGIN || log->stamps.tag[i] == STEP_TAG_STEP_END)
            order[n++] = i;
    if (!order_by_u64(order, n, log->stamps.tick) || !order_by_u64(order, n, log->stamps.index))
        return false;
    struct iterations *t = &s->iterations;
    for (size_t i = 0, end; i < n; i = end) {
        const uint64_t index = log->stamps.index[order[i]];
        for (end = i + 1; end < n && log->stamps.index[order[end]] == index;)
            end++;
        if (end - i != 2) {
            losses_add(lost, LOSS_UNPAIRED, end - i, where, 0);
            continue;
        }
        t->model[t->n] = log->stamps.model[order[i]];
        t->index[t->n] = index;
        t->begin[t->n] = log->stamps.tick[order[i]];
        t->end[t->n] = log->stamps.tick[order[i + 1]];
        t->fp[t->n] = t->bp[t->n] = 0;
        t->is_step[t->n++] = true;
    }
    return true;
}

/* Upper limits of the numbers of rows: each row begins with its own stamp. */
struct most {
    size_t iterations, reduces, get_nexts, relevant;
};

static struct most count_stamps(const struct device_log *log)
{
    struct most m = { 0 };
    for (size_t i = 0; i < log->stamps.n; i++) {
        const uint16_t tag = log->stamps.tag[i];
        m.iterations += tag == STEP_TAG_MODEL_BEGIN || tag == STEP_TAG_ITERATION_END || tag == STEP_TAG_STEP_BEGIN ||
                        tag == STEP_TAG_STEP_END;
        m.reduces += is_reduce(tag);
        m.get_nexts += is_get_next(tag);
        m.relevant += tag <= STEP_TAG_ITERATION_END || is_reduce(tag) || is_get_next(tag);
    }
    return m;
}

static bool build(struct steps *s, const struct device_log *log, struct arena *mem, struct arena *temp,
                  struct losses *lost)
{
    const struct most most = count_stamps(log);
    struct iterations *t = &s->iterations;
    *t = (struct iterations){ .model = arena_take(mem, most.iterations, sizeof *t->model),
                              .index = arena_take(mem, most.iterations, sizeof *t->index),
                              .begin = arena_take(mem, most.iterations, sizeof *t->begin),
                              .end = arena_take(mem, most.iterations, sizeof *t->end),
                              .fp = arena_take(mem, most.iterations, sizeof *t->fp),
                              .bp = arena_take(mem, most.iterations, sizeof *t->bp),
                              .is_step = arena_take(mem, most.iterations, sizeof *t->is_step) };
    struct builder b = { .log = log,
                         .out = s,
                         .next = arena_take(temp, log->stamps.n, sizeof *b.next),
                         .queue = arena_take(temp, log->stamps.n, sizeof *b.queue),
                         .index = 1,
                         .reduces = spans_new(&s->reduces, most.reduces, mem, temp),
                         .get_nexts = spans_new(&s->get_nexts, most.get_nexts, mem, temp) };
    uint32_t *order = arena_take(temp, most.relevant, sizeof *order);
    if (arena_failed(mem) || arena_failed(temp))
        return false;
    size_t n = 0;
    for (uint32_t i = 0; i < log->stamps.n; i++) {
        const uint16_t tag = log->stamps.tag[i];
        if (tag <= STEP_TAG_ITERATION_END || is_reduce(tag) || is_get_next(tag))
            order[n++] = i;
    }
    if (!order_by_u64(order, n, log->stamps.tick) || !order_by_u64(order, n, log->stamps.model))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && log->stamps.model[order[i]] != log->stamps.model[order[i - 1]])
            model_end(&b);
        queue_take(&b, order[i]);
    }
    if (n > 0)
        model_end(&b);
    losses_add(lost, LOSS_UNMATCHED, b.n_unmatched, where, 0);
    losses_add(lost, LOSS_UNPAIRED, b.n_unended, where, 0);
    return spans_finish(&b.reduces, mem, where, lost) && spans_finish(&b.get_nexts, mem, where, lost) &&
           iterations_add_steps(s, log, temp, lost);
}

bool steps_analyse(struct profile *p, struct device *d, struct error *e)
{
    (void)p;
    struct arena *temp = arena_new();
    const bool done = temp && build(&d->steps, &d->log, d->source.mem, temp, &d->source.lost);
    arena_free(temp);
    return done || error_no_memory(e, d->source.path);
}
