/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "analyse/framework/step_marks.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "profile/profile.h"
#include "raw/framework_values.h"

/* Operators and ranges, then marks, then functions of Python if these may be wanted. */
static bool candidates_fill(struct step_candidates *c, const struct collection *s, struct arena *work)
{
    const struct framework_ops *o = &s->framework.ops;
    const struct python_calls *p = &s->framework.python;
    const struct marks *k = &s->profile.host.records.marks;
    const size_t n_marks = profile_has_host(&s->profile) ? k->n : 0, n = o->n + n_marks + (c->wanted ? p->n : 0);
    int64_t *begin_ns = arena_take(work, n, sizeof *begin_ns), *end_ns = arena_take(work, n, sizeof *end_ns);
    uint64_t *thread = arena_take(work, n, sizeof *thread);
    name_id *name = arena_take(work, n, sizeof *name);
    c->launch_ns = arena_take(work, s->kernels.n + o->n, sizeof *c->launch_ns);
    if (arena_failed(work))
        return false;
    for (size_t i = 0; i < o->n; i++) {
        begin_ns[i] = o->begin_ns[i];
        end_ns[i] = o->end_ns[i];
        thread[i] = o->thread ? o->thread[i] : 0;
        name[i] = o->name[i];
    }
    for (size_t i = 0, to = o->n; i < n_marks; i++, to++) {
        begin_ns[to] = source_host_ns(&s->profile.host.source, k->begin[i]);
        end_ns[to] = source_host_ns(&s->profile.host.source, k->end[i]);
        thread[to] = k->thread ? k->thread[i] : 0;
        name[to] = k->message[i];
    }
    for (size_t i = 0, to = o->n + n_marks; to < n; i++, to++) {
        begin_ns[to] = p->begin_ns[i];
        end_ns[to] = p->end_ns[i];
        thread[to] = p->thread[i];
        name[to] = p->name[i];
    }
    for (size_t i = 0; i < s->kernels.n; i++)
        c->launch_ns[c->n_launches++] = s->kernels.launch_ns[i];
    for (size_t i = 0; s->kernels.n == 0 && i < o->n; i++)
        if (!o->scope || o->scope[i] != OP_SCOPE_USER)
            c->launch_ns[c->n_launches++] = o->begin_ns[i];
    c->n = n;
    c->n_framework = o->n;
    c->begin_ns = begin_ns;
    c->end_ns = end_ns;
    c->thread = thread;
    c->name = name;
    return true;
}

/* False: see e, or there is no memory. */
static bool marks_take(struct collection *s, const struct step_candidates *c, const struct step_marks *k,
                       struct error *e)
{
    struct profiler_steps *t = &s->marked;
    if (s->steps_by && k->n == 0)
        return error_set(e, FAULT_ASKED, "%s: --steps-by %.80s: no range of the host has a name that begins so",
                         s->path, s->steps_by);
    s->is_mark = arena_take(s->mem, s->framework.ops.n, sizeof *s->is_mark);
    s->marked_name = arena_take(s->mem, k->n, sizeof *s->marked_name);
    if (!s->is_mark || !s->marked_name || !profiler_steps_take(t, k->n, s->mem))
        return false;
    s->marked_by = k->by;
    for (; t->n < k->n; t->n++) {
        const size_t i = t->n;
        const bool is_op = k->row[i] < s->framework.ops.n;
        t->op[i] = is_op ? k->row[i] : NO_ROW;
        s->marked_name[i] = c->name[k->row[i]];
        t->thread[i] = (uint32_t)c->thread[k->row[i]];
        t->id[i] = names_number(s->profile.names, k->number[i]);
        t->host_begin_ns[i] = t->begin_ns[i] = k->begin_ns[i];
        t->host_end_ns[i] = t->end_ns[i] = k->end_ns[i];
        if (is_op && k->is_whole)
            s->is_mark[k->row[i]] = true;
    }
    return !names_failed(s->profile.names);
}

bool collection_marks_find(struct collection *s, struct error *e)
{
    struct step_candidates c = { .names = s->profile.names, .wanted = s->steps_by };
    struct step_marks k;
    if (s->steps.n > 0 && !s->steps_by)
        return true;
    struct arena *work = arena_new();
    const bool done =
        work && candidates_fill(&c, s, work) && step_marks_find(&k, &c, s->mem) && marks_take(s, &c, &k, e);
    arena_free(work);
    return done || (e->fault == FAULT_NONE && error_no_memory(e, s->path));
}

bool collection_op_is_step(const struct collection *s, size_t op)
{
    return (s->is_mark && s->is_mark[op]) || name_is_step(s->profile.names, s->framework.ops.name[op]);
}
