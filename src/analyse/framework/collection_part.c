/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"

/* The steps from which a part can be selected. */
static const struct profiler_steps *steps_of(const struct collection *s)
{
    return s->steps.n > 0 ? &s->steps : &s->executed;
}

/* The number of a step; false: its name is not a number. */
static bool step_number(const struct collection *s, size_t step, int64_t *number)
{
    const char *text = names_text(s->profile.names, steps_of(s)->id[step]);
    char *end;
    *number = strtoll(text, &end, 10);
    return end > text && *end == '\0';
}

/* The least and the largest number of all steps. False: no step has a number. */
static bool number_range(const struct collection *s, int64_t *least, int64_t *most)
{
    int64_t number;
    *least = INT64_MAX;
    *most = INT64_MIN;
    for (size_t i = 0; i < steps_of(s)->n; i++)
        if (step_number(s, i, &number)) {
            *least = number < *least ? number : *least;
            *most = number > *most ? number : *most;
        }
    return *least <= *most;
}

bool collection_has_steps(const struct collection *s)
{
    int64_t least, most;
    return number_range(s, &least, &most);
}

/* A step number in the numbering of the request. */
static uint64_t as_asked(const struct step_range *asked, int64_t least, int64_t number)
{
    return asked->is_counted ? (uint64_t)number - (uint64_t)least + 1 : (uint64_t)number;
}

static bool no_such_step(const struct collection *s, const struct step_range *asked, struct error *e)
{
    int64_t least, most;
    if (!number_range(s, &least, &most))
        return error_set(e, FAULT_ASKED, "%s: has no steps; remove --steps", s->path);
    const char *sign = asked->is_counted ? "+" : "";
    const int64_t from = (int64_t)as_asked(asked, least, least), to = (int64_t)as_asked(asked, least, most);
    if (asked->first == asked->last)
        return error_set(e, FAULT_ASKED, "%s: has steps %s%" PRId64 " to %s%" PRId64 ", not %s%" PRId64, s->path, sign,
                         from, sign, to, sign, asked->first);
    return error_set(e, FAULT_ASKED, "%s: has steps %s%" PRId64 " to %s%" PRId64 ", not %s%" PRId64 " to %s%" PRId64,
                     s->path, sign, from, sign, to, sign, asked->first, sign, asked->last);
}

static void widen(bool is_first, int64_t *begin_ns, int64_t *end_ns, int64_t from_ns, int64_t to_ns)
{
    if (is_first || from_ns < *begin_ns)
        *begin_ns = from_ns;
    if (is_first || to_ns > *end_ns)
        *end_ns = to_ns;
}

static bool is_asked(const struct step_range *asked, int64_t least, int64_t number)
{
    if (asked->is_counted)
        return as_asked(asked, least, number) - (uint64_t)asked->first <= (uint64_t)(asked->last - asked->first);
    return number >= asked->first && number <= asked->last;
}

/* Finds the requested steps and their times. False: there is none of them. */
static bool find_times(struct collection_part *p, const struct collection *s, const struct step_range *asked)
{
    const struct profiler_steps *t = steps_of(s);
    bool has_any = false;
    int64_t least, most;
    number_range(s, &least, &most);
    for (size_t i = 0; i < t->n; i++) {
        int64_t number;
        if (!step_number(s, i, &number) || !is_asked(asked, least, number))
            continue;
        widen(!has_any, &p->first, &p->last, number, number);
        p->has_step[i] = true;
        widen(!has_any, &p->begin_ns, &p->end_ns, t->host_begin_ns[i], t->host_end_ns[i]);
        if (t->has_work[i])
            widen(!p->is_on_device, &p->device_begin_ns, &p->device_end_ns, t->begin_ns[i], t->end_ns[i] - 1);
        has_any = true;
        p->is_on_device |= t->has_work[i];
    }
    /* Work that began while two steps were running belongs to the earlier one. */
    for (size_t i = 0; i < t->n; i++)
        if (t->has_work[i] && !p->has_step[i] && t->begin_ns[i] < p->device_begin_ns &&
            t->end_ns[i] > p->device_begin_ns)
            p->device_begin_ns = t->end_ns[i];
    return has_any;
}

/* Selected rows of a table, and the arena for the columns that are reduced to them. */
struct collection_part_gathering {
    const struct collection_part *part;
    uint32_t *row;
    size_t n;
    struct arena *mem;
};

/* Selects the rows that begin in the part. */
static bool begins(struct collection_part_gathering *g, const int64_t *begin_ns, size_t n)
{
    g->n = 0;
    g->row = arena_take(g->mem, n, sizeof *g->row);
    for (uint32_t i = 0; g->row && i < n; i++)
        if (begin_ns[i] >= g->part->begin_ns && begin_ns[i] <= g->part->end_ns)
            g->row[g->n++] = i;
    return g->row != NULL;
}

static void *collection_part_gather(const struct collection_part_gathering *g, const void *column, size_t size)
{
    void *to = column ? arena_take(g->mem, g->n, size) : NULL;
    if (to)
        order_apply(to, column, g->row, g->n, size);
    return to;
}
#define GATHER(g, column) ((column) = collection_part_gather((g), (column), sizeof *(column)))

static bool cut_ops(struct collection_part_gathering *g, struct framework_ops *o, uint32_t **row)
{
    *row = arena_take(g->mem, o->n, sizeof **row);
    if (!*row || !begins(g, o->begin_ns, o->n))
        return false;
    for (size_t i = 0; i < o->n; i++)
        (*row)[i] = NO_ROW;
    for (uint32_t i = 0; i < g->n; i++)
        (*row)[g->row[i]] = i;
    o->n = g->n;
    GATHER(g, o->begin_ns);
    GATHER(g, o->end_ns);
    GATHER(g, o->sequence);
    GATHER(g, o->forward_thread);
    GATHER(g, o->process);
    GATHER(g, o->thread);
    GATHER(g, o->scope);
    name_id **const name[] = { &o->name, &o->label, &o->types, &o->shapes, &o->stack, &o->modules, &o->flops };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        GATHER(g, *name[i]);
    GATHER(g, o->record);
    GATHER(g, o->record_size);
    return !arena_failed(g->mem);
}

static bool cut_spans(struct collection_part_gathering *g, struct queue_spans *q)
{
    q->n = g->n;
    GATHER(g, q->begin_ns);
    GATHER(g, q->end_ns);
    GATHER(g, q->id);
    GATHER(g, q->process);
    GATHER(g, q->thread);
    GATHER(g, q->name);
    return !arena_failed(g->mem);
}

/* Enqueue spans that begin in the part, and the dequeue spans of the same tasks, whenever these began. */
static bool cut_queue(struct collection_part_gathering *g, struct framework *f)
{
    struct keys put_in = { 0 };
    if (!begins(g, f->enqueue.begin_ns, f->enqueue.n) || !cut_spans(g, &f->enqueue))
        return false;
    for (size_t i = 0; i < f->enqueue.n; i++)
        if (keys_add(&put_in, f->enqueue.id[i], g->mem) == KEYS_NO_MEMORY)
            return false;
    g->n = 0;
    g->row = arena_take(g->mem, f->dequeue.n, sizeof *g->row);
    for (uint32_t i = 0; g->row && i < f->dequeue.n; i++)
        if (keys_find(&put_in, f->dequeue.id[i]) != KEYS_NONE)
            g->row[g->n++] = i;
    return g->row && cut_spans(g, &f->dequeue);
}

static bool cut_python(struct collection_part_gathering *g, struct python_calls *p)
{
    if (!begins(g, p->begin_ns, p->n))
        return false;
    p->n = g->n;
    GATHER(g, p->begin_ns);
    GATHER(g, p->end_ns);
    GATHER(g, p->process);
    GATHER(g, p->thread);
    GATHER(g, p->key);
    GATHER(g, p->name);
    GATHER(g, p->id);
    GATHER(g, p->parent);
    GATHER(g, p->module);
    return !arena_failed(g->mem);
}

static bool cut_gc(struct collection_part_gathering *g, struct collected_garbage *c)
{
    if (!begins(g, c->begin_ns, c->n))
        return false;
    c->n = g->n;
    GATHER(g, c->begin_ns);
    GATHER(g, c->end_ns);
    GATHER(g, c->process);
    return !arena_failed(g->mem);
}

/* The data that only MindSpore has. op_row is the result of cut_ops(), and g still has the rows that it selected. */
static bool cut_ms(struct collection_part_gathering *g, const struct framework *all, struct mindspore *ms,
                   const uint32_t *op_row)
{
    struct ms_dataset *d = &ms->dataset;
    GATHER(g, ms->ranges.flow);
    GATHER(g, ms->ranges.step);
    g->n = 0;
    g->row = arena_take(g->mem, d->n, sizeof *g->row);
    uint32_t *op = arena_take(g->mem, d->n, sizeof *op);
    for (uint32_t i = 0; g->row && op && i < d->n; i++)
        if (op_row[d->op[i]] != NO_ROW) {
            op[g->n] = op_row[d->op[i]];
            g->row[g->n++] = i;
        }
    if (!g->row || !op)
        return false;
    d->n = g->n;
    d->op = op;
    GATHER(g, d->node);
    GATHER(g, d->stage);
    GATHER(g, d->info);
    if (!begins(g, all->ms.instants.time_ns, all->ms.instants.n))
        return false;
    ms->instants.n = g->n;
    GATHER(g, ms->instants.time_ns);
    GATHER(g, ms->instants.thread);
    GATHER(g, ms->instants.name);
    if (!begins(g, all->ms.host_ops.begin_ns, all->ms.host_ops.n))
        return false;
    ms->host_ops.n = g->n;
    GATHER(g, ms->host_ops.begin_ns);
    GATHER(g, ms->host_ops.dur_ns);
    GATHER(g, ms->host_ops.thread);
    GATHER(g, ms->host_ops.name);
    GATHER(g, ms->host_ops.type);
    return !arena_failed(g->mem);
}

bool collection_part_find(struct collection_part *p, const struct collection *s, const struct step_range *asked,
                          struct arena *mem, struct error *e)
{
    *p = (struct collection_part){ .has_step = arena_take(mem, steps_of(s)->n, sizeof *p->has_step),
                                   .framework = s->framework };
    if (!p->has_step)
        return error_no_memory(e, s->path);
    if (!find_times(p, s, asked))
        return no_such_step(s, asked, e);
    struct collection_part_gathering g = { .part = p, .mem = mem };
    struct framework *f = &p->framework;
    if (!cut_ops(&g, &f->ops, &p->op_row) || !cut_ms(&g, &s->framework, &f->ms, p->op_row) || !cut_queue(&g, f) ||
        !cut_python(&g, &f->python) || !cut_gc(&g, &f->gc))
        return error_no_memory(e, s->path);
    p->launched_ns = p->end_ns;
    for (size_t i = 0; i < f->dequeue.n; i++)
        if (f->dequeue.end_ns[i] > p->launched_ns)
            p->launched_ns = f->dequeue.end_ns[i];
    return true;
}
