/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include <string.h>

#include "cluster/rank/rank_parts.h"
#include "profile/calls.h"

static void *copy(struct arena *mem, const void *column, size_t n, size_t size)
{
    void *copied = arena_take(mem, n, size);
    if (copied && n > 0)
        memcpy(copied, column, n * size);
    return copied;
}

static bool connect(struct summary_marks *m, const struct rank *r, struct arena *scratch)
{
    struct by_connection tasks, ops;
    if (!by_connection_init(&tasks, r->tasks.connection, r->tasks.n, scratch) ||
        !by_connection_init(&ops, r->op_links.connection, r->op_links.n, scratch))
        return false;
    for (size_t i = 0; i < m->marks.n; i++) {
        const uint32_t task = by_connection_find(&tasks, m->marks.connection[i]);
        const uint32_t link = by_connection_find(&ops, m->marks.connection[i]);
        m->device_begin_ns[i] = task == NO_ROW ? INT64_MIN : r->tasks.begin_ns[task];
        m->device_end_ns[i] = task == NO_ROW ? INT64_MIN : r->tasks.end_ns[task];
        m->framework_ns[i] = link == NO_ROW ? INT64_MIN : r->ops.begin_ns[r->op_links.op[link]];
    }
    return true;
}

bool summarise_marks(struct rank_summary *s, const struct rank *r)
{
    const struct rank_marks *from = &r->marks;
    const size_t n = from->n;
    struct arena *mem = s->mem, *scratch = arena_new();
    s->marks = (struct summary_marks){
        .marks = { .n = n,
                   .message = copy(mem, from->message, n, sizeof *from->message),
                   .domain = copy(mem, from->domain, n, sizeof *from->domain),
                   .begin_ns = copy(mem, from->begin_ns, n, sizeof *from->begin_ns),
                   .end_ns = copy(mem, from->end_ns, n, sizeof *from->end_ns),
                   .event_type = copy(mem, from->event_type, n, sizeof *from->event_type),
                   .thread = copy(mem, from->thread, n, sizeof *from->thread),
                   .connection = copy(mem, from->connection, n, sizeof *from->connection) },
        .device_begin_ns = arena_take(mem, n, sizeof(int64_t)),
        .device_end_ns = arena_take(mem, n, sizeof(int64_t)),
        .framework_ns = arena_take(mem, n, sizeof(int64_t)),
    };
    const bool works = scratch && !arena_failed(mem) && connect(&s->marks, r, scratch);
    arena_free(scratch);
    return works;
}
