/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/flows.h"

#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"

enum { NO_SLICE = UINT32_MAX };

/* Ascending numbers as keys that sort without a sign. */
static uint64_t key_of(int64_t v)
{
    return (uint64_t)v ^ UINT64_C(1) << 63;
}

/* The slices of one track that are open at a time, for ascending times. */
struct sweep {
    const struct chrome_slices *s;
    size_t next, end; /* the next slice that begins */
    uint32_t *open;   /* the innermost last */
    size_t n_open;
};

static void sweep_to(struct sweep *w, int64_t ns)
{
    for (; w->next < w->end && w->s->begin_ns[w->next] <= ns; w->next++) {
        while (w->n_open && stamp_add(w->s->begin_ns[w->open[w->n_open - 1]], w->s->dur_ns[w->open[w->n_open - 1]]) <
                                w->s->begin_ns[w->next])
            w->n_open--;
        w->open[w->n_open++] = (uint32_t)w->next;
    }
    while (w->n_open && stamp_add(w->s->begin_ns[w->open[w->n_open - 1]], w->s->dur_ns[w->open[w->n_open - 1]]) < ns)
        w->n_open--;
}

/* The first slice that begins at a time or later; the outermost one if several begin together. */
static uint32_t sweep_next(const struct sweep *w, size_t first, int64_t ns)
{
    const size_t at = SEARCH_FIRST_NOT(i, first, w->end, w->s->begin_ns[i] < ns);
    return at < w->end ? (uint32_t)at : NO_SLICE;
}

/* Flow events by time; events of the same time stay in file order. */
static bool order_by_time(const struct chrome_trace *t, uint32_t *order, uint64_t *key)
{
    order_fill(order, t->flows.n);
    for (size_t i = 0; i < t->flows.n; i++)
        key[i] = key_of(t->flows.at[i].ns);
    return order_by_u64(order, t->flows.n, key);
}

/* Sorts flow events that are in the order of time by track. */
static bool order_on_tracks(const struct chrome_trace *t, uint32_t *order, uint64_t *key)
{
    for (size_t i = 0; i < t->flows.n; i++)
        key[i] = t->flows.at[i].track;
    return order_by_u64(order, t->flows.n, key);
}

static bool bind_all(const struct chrome_trace *t, const uint32_t *order, uint32_t *slice, struct arena *mem)
{
    size_t most = 0, first = 0;
    for (size_t i = 0; i < t->tracks.n; i++)
        most = t->tracks.at[i].n_slices > most ? t->tracks.at[i].n_slices : most;
    uint32_t *open = arena_take(mem, most + 1, sizeof *open);
    if (!open)
        return false;
    struct sweep w = { .s = &t->slices, .open = open };
    for (size_t i = 0; i < t->flows.n; i++) {
        const struct chrome_flow *f = &t->flows.at[order[i]];
        if (i == 0 || t->flows.at[order[i - 1]].track != f->track) {
            first = t->tracks.at[f->track].first;
            w.next = first;
            w.end = first + t->tracks.at[f->track].n_slices;
            w.n_open = 0;
        }
        sweep_to(&w, f->ns);
        const uint32_t around = w.n_open ? w.open[w.n_open - 1] : NO_SLICE;
        slice[order[i]] = f->phase == 'f' && !f->binds_enclosing ? sweep_next(&w, first, f->ns) : around;
    }
    arena_drop(mem, open);
    return true;
}

static bool is_same(const struct chrome_flow *a, const struct chrome_flow *b)
{
    return a->id == b->id && a->name == b->name && a->category == b->category && a->is_text == b->is_text;
}

/* Sorts flow events that are in the order of time by flow: category, name and id. */
static bool order_by_flow(const struct chrome_trace *t, uint32_t *order, uint64_t *key)
{
    const struct chrome_flow *f = t->flows.at;
    const size_t n = t->flows.n;
    for (size_t i = 0; i < n; i++)
        key[i] = f[i].id;
    bool sorts = order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)f[i].name << 32 | f[i].category;
    sorts = sorts && order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = f[i].is_text;
    return sorts && order_by_u64(order, n, key);
}

/* Pairs each event of a flow with the next one. An end is not a source: several ends have the same source. */
static size_t pair_up(const struct chrome_trace *t, const uint32_t *order, const uint32_t *slice, uint32_t *from,
                      uint32_t *to)
{
    size_t n = 0;
    uint32_t source = NO_SLICE;
    for (size_t i = 0; i < t->flows.n; i++) {
        const struct chrome_flow *f = &t->flows.at[order[i]];
        const uint32_t at = slice[order[i]];
        if (i > 0 && !is_same(&t->flows.at[order[i - 1]], f))
            source = NO_SLICE;
        if (f->phase != 's' && source != NO_SLICE && at != NO_SLICE && at != source) {
            from[n] = source;
            to[n++] = at;
        }
        if (f->phase != 'f' && at != NO_SLICE)
            source = at;
    }
    return n;
}

bool chrome_flows_bind(struct chrome_flow_pairs *out, const struct chrome_trace *t, struct arena *mem)
{
    const size_t n = t->flows.n + t->ties.n;
    *out = (struct chrome_flow_pairs){ 0 };
    if (n == 0)
        return true;
    uint32_t *order = arena_take(mem, n, sizeof *order), *slice = arena_take(mem, n, sizeof *slice);
    uint32_t *from = arena_take(mem, n, sizeof *from), *to = arena_take(mem, n, sizeof *to);
    uint64_t *key = arena_take(mem, n, sizeof *key);
    if (!order || !slice || !from || !to || !key || !order_by_time(t, order, key))
        return false;
    memcpy(from, order, t->flows.n * sizeof *from); /* `from` holds the order by track until pairs are made */
    if (!order_on_tracks(t, from, key) || !bind_all(t, from, slice, mem) || !order_by_flow(t, order, key))
        return false;
    out->n = pair_up(t, order, slice, from, to);
    for (size_t i = 0; i < t->ties.n; i++, out->n++) {
        from[out->n] = t->ties.at[i].from;
        to[out->n] = t->ties.at[i].to;
    }
    out->from = arena_take(mem, out->n, sizeof *out->from);
    out->to = arena_take(mem, out->n, sizeof *out->to);
    order_fill(order, out->n);
    if (out->n > 0 && (!out->from || !out->to || !order_by_u32(order, out->n, from)))
        return false;
    order_apply(out->from, from, order, out->n, sizeof *from);
    order_apply(out->to, to, order, out->n, sizeof *to);
    arena_drop(mem, order);
    arena_drop(mem, slice);
    arena_drop(mem, from);
    arena_drop(mem, to);
    arena_drop(mem, key);
    return true;
}

static int64_t chrome_self_end_of(const struct chrome_slices *s, uint32_t slice)
{
    return stamp_add(s->begin_ns[slice], s->dur_ns[slice]);
}

/* Ends the innermost open slice, at until_ns at the latest. Returns the one around it. */
static uint32_t slice_end(int64_t *self_ns, const uint32_t *parent, const struct chrome_slices *s,
                          const struct chrome_rows *rows, uint32_t slice, int64_t until_ns)
{
    const int64_t end_ns = chrome_self_end_of(s, slice) < until_ns ? chrome_self_end_of(s, slice) : until_ns;
    const int64_t low_ns = s->begin_ns[slice] > rows->begin_ns ? s->begin_ns[slice] : rows->begin_ns;
    const int64_t high_ns = end_ns < rows->end_ns ? end_ns : rows->end_ns;
    const int64_t in_ns = high_ns > low_ns ? wrap_sub(high_ns, low_ns) : 0;
    const uint32_t around = parent[slice - rows->first];
    self_ns[slice - rows->first] = wrap_add(self_ns[slice - rows->first], in_ns);
    if (around != CHROME_NO_PARENT)
        self_ns[around - rows->first] = wrap_sub(self_ns[around - rows->first], in_ns);
    return around;
}

void chrome_self(int64_t *self_ns, uint32_t *parent, const struct chrome_slices *s, const struct chrome_rows *rows)
{
    uint32_t open = CHROME_NO_PARENT; /* the innermost one; `parent` leads to those around it */
    for (size_t i = rows->first; i < rows->end; i++) {
        const uint32_t slice = (uint32_t)i;
        const int64_t begin_ns = s->begin_ns[slice], end_ns = chrome_self_end_of(s, slice);
        const bool counts = !rows->counts || rows->counts[i - rows->first];
        self_ns[i - rows->first] = 0;
        while (open != CHROME_NO_PARENT &&
               (s->track[open] != s->track[slice] || chrome_self_end_of(s, open) <= begin_ns))
            open = slice_end(self_ns, parent, s, rows, open, INT64_MAX);
        while (counts && open != CHROME_NO_PARENT && chrome_self_end_of(s, open) < end_ns)
            open = slice_end(self_ns, parent, s, rows, open, begin_ns);
        uint32_t around = open;
        while (around != CHROME_NO_PARENT && chrome_self_end_of(s, around) < end_ns)
            around = parent[around - rows->first];
        parent[i - rows->first] = around;
        if (counts)
            open = slice;
    }
    while (open != CHROME_NO_PARENT)
        open = slice_end(self_ns, parent, s, rows, open, INT64_MAX);
}
