/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/step_bounds.h"
#include "answers/run/rank_spans.h"
#include "cluster/rank/rank_parts.h"

static int64_t length(const struct busy *b)
{
    int64_t ns = 0;
    for (size_t i = 0; i < b->n; i++)
        ns += b->end_ns[i] - b->begin_ns[i];
    return ns;
}

/* One row for all that the device did, without a step, as the reference has it for PROF directories and MindSpore. Not
 * where steps are known: the table of their times is missing then. */
bool summarise_step_trace(struct rank_summary *s, const struct rank *r)
{
    struct busy kernels, collectives, both;
    struct rank_step_trace *const t = &s->step_trace;
    if (r->has & RANK_STEP_TRACE || !(r->has & RANK_TASKS) || (r->steps.n > 0 && !r->identity.steps_by))
        return true;
    if (!busy_of_rank(&kernels, r, BUSY_KERNELS, s->mem) || !busy_of_rank(&collectives, r, BUSY_COLLECTIVES, s->mem) ||
        !busy_of_rank(&both, r, BUSY_KERNELS | BUSY_COLLECTIVES, s->mem))
        return false;
    if (both.n == 0)
        return true;
    static const char receive[] = "hcom_receive";
    const int64_t busy = length(&both), computing = length(&kernels), communication = length(&collectives);
    const int64_t exposed = busy - computing, all = both.end_ns[both.n - 1] - both.begin_ns[0];
    int64_t bubble = 0;
    for (size_t i = 0; i < r->collectives.n; i++)
        if (strncmp(names_text(r->names, r->collectives.name[i]), receive, sizeof receive - 1) == 0)
            bubble += r->collectives.end_ns[i] - r->collectives.begin_ns[i];
    const int64_t ns[STEP_COLUMNS] = { [STEP_COLUMN_COMPUTING] = computing,
                                       [STEP_COLUMN_EXPOSED] = exposed,
                                       [STEP_COLUMN_OVERLAPPED] = communication - exposed,
                                       [STEP_COLUMN_COMMUNICATION] = communication,
                                       [STEP_COLUMN_FREE] = all - busy,
                                       [STEP_COLUMN_STAGE] = all - bubble,
                                       [STEP_COLUMN_BUBBLE] = bubble,
                                       [STEP_COLUMN_EXPOSED_NO_RECEIVE] = exposed - bubble };
    *t = (struct rank_step_trace){ .n = 1, .step = arena_take(s->mem, 1, sizeof *t->step) };
    for (size_t i = 0; i < STEP_COLUMNS; i++) {
        t->us[i] = arena_take(s->mem, 1, sizeof *t->us[i]);
        if (!t->us[i] || !t->step)
            return false;
        t->us[i][0] = (double)ns[i] / 1000;
    }
    t->step[0] = NAME_EMPTY;
    s->has |= RANK_STEP_TRACE;
    return true;
}

/* When a host launched what: by the operator, whose thread runs the steps, or else by the call. */
struct summary_step_trace_launcher {
    const struct rank *r;
    struct by_connection calls, ops;
};

static int64_t launched_at(const struct summary_step_trace_launcher *l, uint64_t connection, int64_t otherwise_ns)
{
    const uint32_t link = by_connection_find(&l->ops, connection);
    const uint32_t call = link == NO_ROW ? by_connection_find(&l->calls, connection) : NO_ROW;
    return link != NO_ROW   ? l->r->ops.begin_ns[l->r->op_links.op[link]]
           : call != NO_ROW ? l->r->calls.begin_ns[call]
                            : otherwise_ns;
}

/* All work of the device, sorted: kernels, then these and collectives, then these and copies. */
struct summary_step_trace_work {
    int64_t *begin_ns, *end_ns;
    size_t n;
    struct busy_times computing, working, busy;
};

static void work_add(struct summary_step_trace_work *w, struct step_bounds *b, int64_t begin_ns, int64_t end_ns,
                     int64_t launch_ns, bool is_kernel)
{
    w->begin_ns[w->n] = begin_ns;
    w->end_ns[w->n++] = end_ns;
    step_bounds_add(b, launch_ns, begin_ns, end_ns, is_kernel);
}

static bool work_find(struct summary_step_trace_work *w, struct step_bounds *b,
                      const struct summary_step_trace_launcher *l, struct arena *mem)
{
    const struct rank *r = l->r;
    const struct rank_tasks *t = &r->tasks;
    const struct rank_collectives *c = &r->collectives;
    const name_id copy = names_addz(r->names, "MEMCPY_ASYNC");
    w->begin_ns = arena_take(mem, t->n + c->n, sizeof *w->begin_ns);
    w->end_ns = arena_take(mem, t->n + c->n, sizeof *w->end_ns);
    if (!w->begin_ns || !w->end_ns)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (rank_task_computes(r, i))
            work_add(w, b, t->begin_ns[i], t->end_ns[i], launched_at(l, t->connection[i], t->begin_ns[i]), true);
    if (!busy_join(&w->computing, w->begin_ns, w->end_ns, w->n, mem))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const int64_t call_ns = c->launch_ns[i] == INT64_MIN ? c->begin_ns[i] : c->launch_ns[i];
        work_add(w, b, c->begin_ns[i], c->end_ns[i], launched_at(l, c->connection[i], call_ns), false);
    }
    if (!busy_join(&w->working, w->begin_ns, w->end_ns, w->n, mem))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (t->kernel[i] == NO_ROW && rank_task_is_copy(r, i, copy))
            work_add(w, b, t->begin_ns[i], t->end_ns[i], launched_at(l, t->connection[i], t->begin_ns[i]), false);
    return busy_join(&w->busy, w->begin_ns, w->end_ns, w->n, mem);
}

/* Room for the division of each step. */
static bool own_take(struct rank_summary *s, const struct rank *r)
{
    struct rank_step_trace *t = &s->own_steps;
    *t = (struct rank_step_trace){ .n = r->steps.n, .step = arena_take(s->mem, r->steps.n, sizeof *t->step) };
    for (size_t k = 0; k < STEP_COLUMNS; k++)
        t->us[k] = arena_take(s->mem, t->n, sizeof *t->us[k]);
    return !arena_failed(s->mem);
}

static void row_fill(struct rank_summary *s, const struct rank *r, size_t i, const int64_t ns[STEP_COLUMNS])
{
    s->own_steps.step[i] = names_number(r->names, (uint64_t)r->steps.id[i]);
    for (size_t k = 0; k < STEP_COLUMNS; k++)
        s->own_steps.us[k][i] = (double)ns[k] / 1000;
}

/* Divides the steps. */
static bool own_fill(struct rank_summary *s, const struct rank *r, struct summary_step_trace_work *w,
                     struct step_bounds *b, struct arena *mem)
{
    const size_t n = r->steps.n;
    struct busy_times collectives;
    int64_t *begin_ns = arena_take(mem, n, sizeof *begin_ns), *end_ns = arena_take(mem, n, sizeof *end_ns),
            *device_end_ns = arena_take(mem, n, sizeof *device_end_ns);
    if (!own_take(s, r) || arena_failed(mem) ||
        !busy_join(&collectives, r->collectives.begin_ns, r->collectives.end_ns, r->collectives.n, mem))
        return false;
    step_bounds_end(b, begin_ns, end_ns, device_end_ns);
    for (size_t i = 0; i < r->steps.n; i++) {
        const int64_t from = begin_ns[i], to = end_ns[i], computing = busy_within(&w->computing, from, to),
                      exposed = busy_within(&w->working, from, to) - computing,
                      communication = busy_within(&collectives, from, to);
        const int64_t ns[STEP_COLUMNS] = { [STEP_COLUMN_COMPUTING] = computing,
                                           [STEP_COLUMN_EXPOSED] = exposed,
                                           [STEP_COLUMN_OVERLAPPED] = communication - exposed,
                                           [STEP_COLUMN_COMMUNICATION] = communication,
                                           [STEP_COLUMN_FREE] = span_ns(from, to) - busy_within(&w->busy, from, to),
                                           [STEP_COLUMN_STAGE] = span_ns(from, to),
                                           [STEP_COLUMN_EXPOSED_NO_RECEIVE] = exposed };
        row_fill(s, r, i, ns);
    }
    return true;
}

/* What a host without a device does: it waits in collectives of a backend ("gloo:all_reduce") as far as no operator
 * that begins meanwhile overlaps them. */
struct host_times {
    struct busy_times collectives, overlapping, both;
};

static bool host_times_find(struct host_times *h, const struct rank *r, struct arena *mem)
{
    const struct rank_ops *o = &r->ops;
    int64_t *begin_ns = arena_take(mem, o->n, sizeof *begin_ns), *end_ns = arena_take(mem, o->n, sizeof *end_ns);
    size_t n = 0;
    if (!begin_ns || !end_ns)
        return false;
    for (int is_other = 0; is_other < 2; is_other++) {
        const size_t first = n;
        for (size_t i = 0; i < o->n; i++)
            if (name_is_collective(names_text(r->names, o->name[i])) == !is_other &&
                (!is_other || busy_within(&h->collectives, o->begin_ns[i], o->begin_ns[i] + 1) > 0)) {
                begin_ns[n] = o->begin_ns[i];
                end_ns[n++] = o->end_ns[i];
            }
        if (!busy_join(is_other ? &h->overlapping : &h->collectives, begin_ns + first, end_ns + first, n - first, mem))
            return false;
    }
    return busy_join(&h->both, begin_ns, end_ns, n, mem);
}

static bool host_fill(struct rank_summary *s, const struct rank *r, struct arena *mem)
{
    struct host_times h;
    if (!own_take(s, r) || !host_times_find(&h, r, mem))
        return false;
    for (size_t i = 0; i < r->steps.n; i++) {
        const int64_t from = r->steps.begin_ns[i], to = r->steps.end_ns[i],
                      communication = busy_within(&h.collectives, from, to),
                      exposed = busy_within(&h.both, from, to) - busy_within(&h.overlapping, from, to);
        const int64_t ns[STEP_COLUMNS] = { [STEP_COLUMN_COMPUTING] = span_ns(from, to) - exposed,
                                           [STEP_COLUMN_EXPOSED] = exposed,
                                           [STEP_COLUMN_OVERLAPPED] = communication - exposed,
                                           [STEP_COLUMN_COMMUNICATION] = communication,
                                           [STEP_COLUMN_STAGE] = span_ns(from, to),
                                           [STEP_COLUMN_EXPOSED_NO_RECEIVE] = exposed };
        row_fill(s, r, i, ns);
    }
    return true;
}

bool summarise_own_steps(struct rank_summary *s, const struct rank *r)
{
    const bool is_host = r->tasks.n + r->collectives.n == 0;
    bool has_ids = r->steps.n > 0 && (is_host ? r->ops.n > 0 : (r->has & RANK_TASKS) != 0);
    for (size_t i = 0; has_ids && i < r->steps.n; i++)
        has_ids = r->steps.id[i] >= 0;
    if (!has_ids)
        return true;
    struct arena *mem = arena_new();
    struct summary_step_trace_launcher l = { .r = r };
    struct step_bounds b;
    struct summary_step_trace_work w = { 0 };
    const bool done = !mem      ? false
                      : is_host ? host_fill(s, r, mem)
                                : by_connection_init(&l.calls, r->calls.connection, r->calls.n, mem) &&
                                      by_connection_init(&l.ops, r->op_links.connection, r->op_links.n, mem) &&
                                      step_bounds_begin(&b, r->steps.begin_ns, r->steps.end_ns, r->steps.n, mem) &&
                                      work_find(&w, &b, &l, mem) && own_fill(s, r, &w, &b, mem);
    arena_free(mem);
    return done;
}
