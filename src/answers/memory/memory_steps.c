/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_steps.h"

#include <string.h>

#include "base/memory/sort.h"

enum { REPEATED_LEAST = 4 };

struct step_ends {
    LIST(uint32_t) end;
};

/* The first event behind a time. */
static uint32_t steps_event_at(const struct memory_replay *r, uint64_t time_us)
{
    const uint64_t *time = r->s->event.time_us + r->first;
    return r->first + (uint32_t)SEARCH_FIRST_NOT(i, 0, r->n, time[i] <= time_us);
}

/* Ends by marks that begin with a text. A second optimizer has another name: the first one counts. */
static bool steps_by_marks(struct step_ends *ends, const struct memory_replay *r, const char *begin, bool is_end,
                           bool has_numbers, struct arena *mem)
{
    const char *name = NULL;
    ends->end.n = 0;
    for (size_t i = 0; i < r->s->mark.n; i++) {
        const struct snapshot_mark *m = &r->s->mark.at[i];
        if (m->device != r->device || m->is_end != is_end || strncmp(m->name, begin, strlen(begin)) != 0)
            continue;
        if (!has_numbers && name && strcmp(name, m->name) != 0)
            continue;
        name = m->name;
        const uint32_t at = steps_event_at(r, m->time_us);
        if (at == r->first || (ends->end.n > 0 && at <= ends->end.at[ends->end.n - 1]))
            continue; /* before the trace, or nothing was allocated in between */
        uint32_t *to = list_add(&ends->end, mem);
        if (!to)
            return false;
        *to = at;
    }
    return true;
}

/* The number of allocations that most stacks have in common, and the first stack that has it. Only of stacks whose
 * blocks are released again: those of a model that is made are not, as often as it may have the same layer. */
static stack_id steps_repeated(const struct memory_replay *r, struct arena *mem)
{
    const struct snapshot_events *e = &r->s->event;
    uint32_t *count = arena_take(mem, r->s->stack.n, sizeof *count);
    uint32_t *released = arena_take(mem, r->s->stack.n, sizeof *released);
    uint32_t *stacks = arena_take(mem, (size_t)r->n + 1, sizeof *stacks); /* that have this count */
    uint32_t best = 0;
    if (!count || !released || !stacks)
        return 0;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        count[e->stack[i]] += e->action[i] == SNAPSHOT_ALLOC;
        released[e->stack[i]] += e->action[i] == SNAPSHOT_ALLOC && r->pair[i - r->first] != SNAPSHOT_NONE;
    }
    for (size_t i = 1; i < r->s->stack.n; i++) {
        count[i] = released[i] >= count[i] / 4 * 3 ? count[i] : 0;
        stacks[count[i]]++;
    }
    for (uint32_t k = REPEATED_LEAST; k <= r->n; k++)
        if (stacks[k] > (best ? stacks[best] : 0))
            best = k;
    for (uint32_t i = r->first; best && i < r->first + r->n; i++)
        if (e->action[i] == SNAPSHOT_ALLOC && e->stack[i] && count[e->stack[i]] == best)
            return e->stack[i];
    return 0;
}

static bool steps_by_repetition(struct step_ends *ends, const struct memory_replay *r, stack_id stack,
                                struct arena *mem)
{
    bool is_first = true;
    ends->end.n = 0;
    for (uint32_t i = r->first; stack && i < r->first + r->n; i++) {
        if (r->s->event.action[i] != SNAPSHOT_ALLOC || r->s->event.stack[i] != stack)
            continue;
        uint32_t *to = is_first ? NULL : list_add(&ends->end, mem);
        if (to)
            *to = i;
        is_first = false;
    }
    return !arena_failed(mem);
}

bool memory_steps_find(struct memory_steps *t, const struct memory_replay *r, struct arena *mem)
{
    static const struct {
        enum memory_steps_by by;
        const char *begin;
        bool is_end, has_numbers;
    } row[] = {
        { STEPS_BY_PROFILER, "ProfilerStep#", true, true },
        { STEPS_BY_OPTIMIZER, "Optimizer.step#", true, false },
    };
    struct step_ends ends = { 0 };
    *t = (struct memory_steps){ .steps_each = 1 };
    for (size_t k = 0; k < sizeof row / sizeof *row && ends.end.n < 2; k++) {
        t->by = row[k].by;
        if (!steps_by_marks(&ends, r, row[k].begin, row[k].is_end, row[k].has_numbers, mem))
            return false;
    }
    if (ends.end.n < 2) {
        t->by = STEPS_BY_REPETITION;
        t->repeated = steps_repeated(r, mem);
        if (!steps_by_repetition(&ends, r, t->repeated, mem))
            return false;
    }
    t->n_steps = (uint32_t)ends.end.n;
    t->steps_each = (t->n_steps + MEMORY_STEPS_MOST - 1) / MEMORY_STEPS_MOST;
    t->steps_each += t->steps_each == 0;
    for (uint32_t i = t->steps_each - 1; i < t->n_steps; i += t->steps_each)
        ends.end.at[t->n++] = ends.end.at[i];
    t->end = ends.end.at;
    t->by = t->n > 0 ? t->by : STEPS_BY_NOTHING;
    return true;
}

uint32_t memory_step_of(const struct memory_steps *t, uint32_t event)
{
    return (uint32_t)SEARCH_FIRST_NOT(i, 0, t->n, t->end[i] <= event);
}
