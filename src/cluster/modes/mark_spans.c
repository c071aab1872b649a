/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/mode_parts.h"

#include <string.h>

#include "base/memory/tuples.h"
#include "cluster/rank/rank_parts.h"

enum { EVENT_RANGE = 2, EVENT_MARK = 3, DEEPEST = 100 };
static const char start[] = "_start", stop[] = "_stop";

/* Marks that wait for their stop, by thread and name: rows of marks, the last one on top. */
struct open_marks {
    LIST(uint32_t) rows;
};

struct mark_spans_pairing {
    struct keys threads;
    struct tuples keys;
    LIST(struct open_marks) open;
};

/* The name without its end; 0: it has another end. */
static size_t len_before(const char *text, size_t len, const char *end)
{
    const size_t n = strlen(end);
    return len >= n && memcmp(text + len - n, end, n) == 0 ? len - n + 1 : 0;
}

static struct open_marks *open_of(struct mark_spans_pairing *p, uint64_t thread, name_id name, struct arena *mem)
{
    const uint32_t number = keys_add(&p->threads, thread, mem);
    const uint32_t at =
        number == KEYS_NO_MEMORY ? number : tuple_add(&p->keys, (const uint32_t[]){ number, name }, 2, mem);
    if (at == KEYS_NO_MEMORY || (at == p->open.n && !list_add(&p->open, mem)))
        return NULL;
    return &p->open.at[at];
}

static int64_t between(int64_t from, int64_t to)
{
    return from == INT64_MIN || to == INT64_MIN ? 0 : to - from;
}

static bool add_mark(struct mark_spans *out, struct mark_spans_pairing *p, const struct rank_summary *r, size_t i,
                     struct arena *mem)
{
    const struct summary_marks *const m = &r->marks;
    const char *const text = names_text(r->names, m->marks.message[i]);
    const size_t len = names_len(r->names, m->marks.message[i]);
    const size_t starts = len_before(text, len, start), stops = starts ? 0 : len_before(text, len, stop);
    if (!starts && !stops)
        return true;
    const name_id name = names_add(r->names, text, (starts ? starts : stops) - 1);
    struct open_marks *const open = open_of(p, m->marks.thread[i], name, mem);
    if (!open)
        return false;
    if (starts) {
        uint32_t *const row = list_add(&open->rows, mem);
        if (row)
            *row = (uint32_t)i;
        return row != NULL;
    }
    if (open->rows.n == 0) {
        out->n_unpaired++;
        return true;
    }
    const uint32_t from = open->rows.at[--open->rows.n];
    struct mark_span *const span = list_add(&out->list, mem);
    if (!span)
        return false;
    *span = (struct mark_span){ name, m->marks.begin_ns[from], m->marks.begin_ns[i],
                                between(m->framework_ns[from], m->framework_ns[i]),
                                between(m->device_begin_ns[from], m->device_begin_ns[i]) };
    return true;
}

/* Ranges that contain what follows: ends and full names, the innermost on top. */
struct nesting {
    LIST(int64_t) end_ns;
    LIST(name_id) name;
};

static bool add_range(struct mark_spans *out, struct nesting *n, const struct rank_summary *r, size_t i,
                      struct arena *mem)
{
    const struct summary_marks *const m = &r->marks;
    const int64_t begin = m->marks.begin_ns[i], end = m->marks.end_ns[i];
    while (n->end_ns.n > 0 && n->end_ns.at[n->end_ns.n - 1] < end)
        n->name.n--, n->end_ns.n--;
    name_id name = m->marks.message[i];
    if (n->name.n > 0 && n->name.n < DEEPEST - 1) {
        const char *const text =
            arena_printf(mem, "%s::%s", names_text(r->names, n->name.at[n->name.n - 1]), names_text(r->names, name));
        if (!text)
            return false;
        name = names_addz(r->names, text);
    }
    int64_t *const top = list_add(&n->end_ns, mem);
    name_id *const top_name = list_add(&n->name, mem);
    struct mark_span *const span = list_add(&out->list, mem);
    if (!top || !top_name || !span)
        return false;
    *top = end;
    *top_name = name;
    *span = (struct mark_span){ name, begin, end, 0,
                                !(r->has & RANK_TASKS)               ? 0
                                : m->device_begin_ns[i] == INT64_MIN ? INT64_MIN
                                                                     : m->device_end_ns[i] - m->device_begin_ns[i] };
    return true;
}

/* Rows of ranges by begin, the longer first: those that contain others come before them. */
static uint32_t *order_ranges(const struct rank_marks *m, const struct chosen_step *step, size_t *n, struct arena *mem)
{
    uint32_t *const order = arena_take(mem, m->n, sizeof *order);
    uint64_t *const last = arena_take(mem, m->n, sizeof *last), *const first = arena_take(mem, m->n, sizeof *first);
    if (!order || !last || !first)
        return NULL;
    *n = 0;
    for (size_t i = 0; i < m->n; i++) {
        last[i] = ~(uint64_t)m->end_ns[i];
        first[i] = (uint64_t)m->begin_ns[i];
        if (m->event_type[i] == EVENT_RANGE && m->connection[i] != CONNECTION_NONE &&
            step_has_time(step, m->begin_ns[i]))
            order[(*n)++] = (uint32_t)i;
    }
    return order_by_u64(order, *n, last) && order_by_u64(order, *n, first) ? order : NULL;
}

bool mark_spans_find(struct mark_spans *out, const struct rank_summary *r, const struct chosen_step *step,
                     struct arena *mem)
{
    const struct rank_marks *const m = &r->marks.marks;
    struct mark_spans_pairing pairing = { 0 };
    struct nesting nesting = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->event_type[i] == EVENT_MARK && step_has_time(step, m->begin_ns[i]) &&
            !add_mark(out, &pairing, r, i, mem))
            return false;
    for (size_t i = 0; i < pairing.open.n; i++)
        out->n_unpaired += pairing.open.at[i].rows.n;
    const uint32_t *const order = order_ranges(m, step, &n, mem);
    for (size_t i = 0; order && i < n; i++)
        if (!add_range(out, &nesting, r, order[i], mem))
            return false;
    return order != NULL;
}

uint32_t mark_step(const struct rank_summary *r, int64_t begin_ns)
{
    return step_of(&r->steps, begin_ns);
}
