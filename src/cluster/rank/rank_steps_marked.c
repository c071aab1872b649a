/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include "analyse/framework/step_marks.h"
#include "profile/calls.h"

/* The calls that launched what computes; without any, operators. */
static bool launches_fill(struct step_candidates *c, const struct rank *r, struct arena *work)
{
    struct by_connection calls;
    c->launch_ns = arena_take(work, r->tasks.n + r->ops.n, sizeof *c->launch_ns);
    if (!c->launch_ns || !by_connection_init(&calls, r->calls.connection, r->calls.n, work))
        return false;
    for (size_t i = 0; i < r->tasks.n; i++) {
        const uint32_t call =
            r->tasks.kernel[i] == NO_ROW ? NO_ROW : by_connection_find(&calls, r->tasks.connection[i]);
        if (call != NO_ROW)
            c->launch_ns[c->n_launches++] = r->calls.begin_ns[call];
    }
    const bool has_none = c->n_launches == 0;
    for (size_t i = 0; has_none && i < r->ops.n; i++)
        c->launch_ns[c->n_launches++] = r->ops.begin_ns[i];
    return true;
}

static bool candidates_fill(struct step_candidates *c, const struct rank *r, struct arena *work)
{
    const size_t n = r->ops.n + r->marks.n;
    int64_t *begin_ns = arena_take(work, n, sizeof *begin_ns), *end_ns = arena_take(work, n, sizeof *end_ns);
    uint64_t *thread = arena_take(work, n, sizeof *thread);
    name_id *name = arena_take(work, n, sizeof *name);
    if (arena_failed(work) || !launches_fill(c, r, work))
        return false;
    for (size_t i = 0; i < n; i++) {
        const bool is_op = i < r->ops.n;
        const size_t row = is_op ? i : i - r->ops.n;
        begin_ns[i] = is_op ? r->ops.begin_ns[row] : r->marks.begin_ns[row];
        end_ns[i] = is_op ? r->ops.end_ns[row] : r->marks.end_ns[row];
        thread[i] = is_op ? r->ops.thread[row] : r->marks.thread[row];
        name[i] = is_op ? r->ops.name[row] : r->marks.message[row];
    }
    c->n = n;
    c->n_framework = r->ops.n;
    c->begin_ns = begin_ns;
    c->end_ns = end_ns;
    c->thread = thread;
    c->name = name;
    return true;
}

static bool steps_fill(struct rank *r, const struct step_candidates *c, const struct step_marks *k)
{
    struct rank_steps made = { k->n, arena_take(r->mem, k->n, sizeof *made.id), k->begin_ns, k->end_ns,
                               arena_take(r->mem, k->n, sizeof *made.mark) };
    for (size_t i = 0; made.id && made.mark && i < k->n; i++) {
        made.id[i] = (int64_t)k->number[i];
        made.mark[i] = c->name[k->row[i]];
    }
    r->steps = made;
    r->has |= RANK_STEPS;
    r->identity.steps_by = k->by;
    return made.id && made.mark;
}

bool rank_steps_marked(struct rank *r, struct error *e)
{
    struct arena *work = arena_new();
    struct step_candidates c = { .names = r->names, .wanted = r->identity.steps_by };
    struct step_marks k;
    const bool done =
        work && candidates_fill(&c, r, work) && step_marks_find(&k, &c, r->mem) && (k.n == 0 || steps_fill(r, &c, &k));
    arena_free(work);
    if (!done)
        return error_no_memory(e, r->identity.path);
    return k.n > 0 || !c.wanted ||
           error_set(e, FAULT_ASKED, "%s: --steps-by %.80s: no range of the host has a name that begins so",
                     r->identity.path, c.wanted);
}
