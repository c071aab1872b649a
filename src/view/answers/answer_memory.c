/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"

enum { POINTS = 1000, MOST_ROWS = 500 };

static const struct view_allocator *read_allocator(struct question *a, uint32_t *number)
{
    int64_t v;
    if (!http_parameter_i64(a->q, "allocator", &v) || v < 0 || (uint64_t)v >= a->in->allocators.n) {
        question_refuse(a->r, 400, "allocator: wanted the number of an allocator");
        return NULL;
    }
    *number = (uint32_t)v;
    return &a->in->allocators.at[v];
}

static void put_point(struct question *a, const struct view_held *h, bool is_first)
{
    json_put_comma(a->o, is_first);
    out_char(a->o, '[');
    out_i64(a->o, question_ns(a, h->ns));
    out_char(a->o, ',');
    out_i64(a->o, h->allocated_bytes);
    out_char(a->o, ',');
    out_i64(a->o, h->reserved_bytes);
    out_char(a->o, ']');
}

/* At most POINTS points: the reports are cut into runs of equal length, and each run is represented by its highest
 * point. */
static void put_points(struct question *a, const struct view_allocator *of)
{
    const size_t step = of->held.n / POINTS + 1;
    json_put_key(a->o, "points");
    out_char(a->o, '[');
    for (size_t i = 0; i < of->held.n; i += step) {
        const struct view_held *most = &of->held.at[i];
        for (size_t k = i; k < of->held.n && k < i + step; k++)
            if (of->held.at[k].allocated_bytes > most->allocated_bytes)
                most = &of->held.at[k];
        put_point(a, most, i == 0);
    }
    out_char(a->o, ']');
}

void answer_memory(struct question *a)
{
    uint32_t number;
    const struct view_allocator *of = read_allocator(a, &number);
    if (!of)
        return;
    const struct view_held *peak = of->held.at;
    for (size_t i = 0; i < of->held.n; i++)
        if (of->held.at[i].allocated_bytes > peak->allocated_bytes)
            peak = &of->held.at[i];
    out_char(a->o, '{');
    json_put_key(a->o, "allocators");
    out_char(a->o, '[');
    for (size_t i = 0; i < a->in->allocators.n; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, a->in->allocators.at[i].name, strlen(a->in->allocators.at[i].name));
    }
    out_char(a->o, ']');
    json_put_key(a->o, "peak");
    put_point(a, peak, true);
    put_points(a, of);
    out_char(a->o, '}');
}

/* The blocks that are allocated at a time. */
struct alive {
    size_t n;
    int64_t bytes;
    const struct view_block **block;
};

static int answer_memory_by_name(const void *a, const void *b)
{
    const struct view_block *x = *(const struct view_block *const *)a, *y = *(const struct view_block *const *)b;
    const int c = strcmp(x->name, y->name);
    return c ? c : (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    const struct view_block *x = *(const struct view_block *const *)a, *y = *(const struct view_block *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : (x > y) - (x < y);
}

struct owner {
    const char *name;
    int64_t n, bytes;
};

static int owner_by_size(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static bool put_owners(struct question *a, struct alive *f)
{
    struct owner *owner = calloc(f->n + 1, sizeof *owner);
    size_t n = 0;
    if (!owner)
        return false;
    qsort(f->block, f->n, sizeof *f->block, answer_memory_by_name);
    for (size_t i = 0; i < f->n; i++) {
        if (i == 0 || strcmp(f->block[i]->name, f->block[i - 1]->name))
            owner[n++].name = f->block[i]->name;
        owner[n - 1].n++;
        owner[n - 1].bytes = stamp_add(owner[n - 1].bytes, f->block[i]->bytes);
    }
    qsort(owner, n, sizeof *owner, owner_by_size);
    json_put_key(a->o, "owners");
    out_char(a->o, '[');
    for (size_t i = 0; i < n && i < MOST_ROWS; i++) {
        json_put_comma(a->o, i == 0);
        out_char(a->o, '{');
        json_put_text(a->o, "name", owner[i].name);
        json_put_int(a->o, "count", owner[i].n);
        json_put_int(a->o, "bytes", owner[i].bytes);
        out_char(a->o, '}');
    }
    out_char(a->o, ']');
    free(owner);
    return true;
}

static void put_alive(struct question *a, struct alive *f)
{
    out_char(a->o, '{');
    json_put_int(a->o, "n", (int64_t)f->n);
    json_put_int(a->o, "bytes", f->bytes);
    if (!put_owners(a, f))
        return question_refuse(a->r, 503, no_memory_text());
    qsort(f->block, f->n, sizeof *f->block, by_size);
    json_put_key(a->o, "blocks");
    out_char(a->o, '[');
    for (size_t i = 0; i < f->n && i < MOST_ROWS; i++) {
        const struct view_block *b = f->block[i];
        json_put_comma(a->o, i == 0);
        out_char(a->o, '{');
        json_put_text(a->o, "name", b->name);
        json_put_int(a->o, "bytes", b->bytes);
        json_put_int(a->o, "begin", question_ns(a, b->begin_ns));
        json_put_key(a->o, "end");
        if (b->end_ns == INT64_MAX)
            out_lit(a->o, "null");
        else
            out_i64(a->o, question_ns(a, b->end_ns));
        out_char(a->o, '}');
    }
    out_lit(a->o, "]}");
}

void answer_memory_at(struct question *a)
{
    uint32_t number;
    int64_t at;
    struct alive f = { 0 };
    if (!read_allocator(a, &number))
        return;
    if (!http_parameter_i64(a->q, "at", &at))
        return question_refuse(a->r, 400, "at: wanted a moment");
    const int64_t ns = stamp_add(a->t->begin_ns, stamp_held(at));
    f.block = malloc((a->in->n_blocks + 1) * sizeof *f.block);
    if (!f.block)
        return question_refuse(a->r, 503, no_memory_text());
    for (size_t i = 0; i < a->in->n_blocks; i++) {
        const struct view_block *b = &a->in->blocks[i];
        if (b->allocator != number || b->begin_ns > ns || b->end_ns <= ns)
            continue;
        f.block[f.n++] = b;
        f.bytes = stamp_add(f.bytes, b->bytes);
    }
    put_alive(a, &f);
    free(f.block);
}
