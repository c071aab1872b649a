/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include "base/memory/keys.h"
#include "base/text/stamp.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/rank/rank_parts.h"

/* Intervals, and the length of all before each. */
struct covered {
    struct busy busy;
    int64_t *before;
};

static bool add_up(struct covered *c, struct arena *mem)
{
    c->before = arena_take(mem, c->busy.n + 1, sizeof *c->before);
    for (size_t i = 0; c->before && i < c->busy.n; i++)
        c->before[i + 1] = wrap_add(c->before[i], c->busy.end_ns[i] - c->busy.begin_ns[i]);
    return c->before != NULL;
}

/* How much of the time until ns is covered. */
static int64_t until(const struct covered *c, int64_t ns)
{
    const size_t n = SEARCH_FIRST_NOT(i, 0, c->busy.n, c->busy.begin_ns[i] < ns);
    if (n == 0)
        return 0;
    const int64_t over = c->busy.end_ns[n - 1] - ns;
    return wrap_sub(c->before[n], over > 0 ? over : 0);
}

static int64_t between(const struct covered *c, int64_t from, int64_t to)
{
    return from < to ? wrap_sub(until(c, to), until(c, from)) : 0;
}

/* Kernels and copies together. */
static bool cover_all(struct covered *c, const struct rank *r, struct arena *mem)
{
    const name_id copy = names_addz(r->names, "MEMCPY_ASYNC");
    struct busy *b = &c->busy;
    b->begin_ns = arena_take(mem, r->tasks.n + 1, sizeof *b->begin_ns);
    b->end_ns = arena_take(mem, r->tasks.n + 1, sizeof *b->end_ns);
    if (!b->begin_ns || !b->end_ns)
        return false;
    for (size_t i = 0; i < r->tasks.n; i++)
        if ((rank_task_computes(r, i) || rank_task_is_copy(r, i, copy)) && r->tasks.end_ns[i] > r->tasks.begin_ns[i]) {
            b->begin_ns[b->n] = r->tasks.begin_ns[i];
            b->end_ns[b->n++] = r->tasks.end_ns[i];
        }
    busy_merge(b);
    return add_up(c, mem);
}

/* The operators of the kernels that begin in an interval, by name: the one with the largest sum. */
struct longest {
    size_t next; /* task: intervals ascend */
    struct keys names;
    LIST(int64_t) sum;
};

static bool longest_in(struct longest *l, const struct rank *r, int64_t from, int64_t to, name_id *name, int64_t *ns,
                       struct arena *mem)
{
    const struct rank_tasks *t = &r->tasks;
    keys_clear(&l->names);
    l->sum.n = 0;
    while (l->next < t->n && t->begin_ns[l->next] < from)
        l->next++;
    for (; l->next < t->n && t->begin_ns[l->next] < to; l->next++) {
        if (!rank_task_computes(r, l->next))
            continue;
        const uint32_t at = keys_add(&l->names, r->kernels.name[t->kernel[l->next]], mem);
        int64_t *new = at == l->sum.n ? list_add(&l->sum, mem) : NULL;
        if (at == KEYS_NO_MEMORY || at >= l->sum.n)
            return false;
        if (new)
            *new = 0; /* the list is used again and again */
        l->sum.at[at] = wrap_add(l->sum.at[at], t->end_ns[l->next] - t->begin_ns[l->next]);
        if (l->sum.at[at] > *ns) {
            *ns = l->sum.at[at];
            *name = (name_id)l->names.key.at[at];
        }
    }
    return true;
}

static bool take_columns(struct rank_summary *s)
{
    struct summary_collectives *c = &s->collectives;
    const size_t n = c->ops.n;
    int64_t **const column[] = { &c->exposed_ns, &c->computing_ns, &c->copying_ns, &c->free_ns, &c->longest_ns };
    c->step = arena_take(s->mem, n, sizeof *c->step);
    c->longest = arena_take(s->mem, n, sizeof *c->longest);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        if (!(*column[i] = arena_take(s->mem, n, sizeof **column[i])))
            return false;
    return c->step && c->longest;
}

/* Behind the last collective of each step, until the step ends; what is in no step has no end. */
static void sum_tails(struct rank_summary *s, const struct covered *kernels, const struct covered *all)
{
    for (size_t i = 0; i < s->steps.n; i++) {
        const int64_t last = s->sums.last_collective_end_ns[i], end = s->steps.end_ns[i];
        const int64_t from = last > s->steps.begin_ns[i] ? last : s->steps.begin_ns[i];
        s->sums.tail_computing_ns[i] = between(kernels, from, end);
        s->sums.tail_free_ns[i] = from < end ? end - from - between(all, from, end) : 0;
    }
}

bool summarise_collectives(struct rank_summary *s, const struct rank *r)
{
    struct summary_collectives *c = &s->collectives;
    struct covered kernels = { 0 }, all = { 0 };
    struct longest longest = { 0 };
    struct arena *mem = arena_new();
    bool done = mem && take_columns(s) && busy_of_rank(&kernels.busy, r, BUSY_KERNELS, mem) && add_up(&kernels, mem) &&
                cover_all(&all, r, mem);
    int64_t before = r->tasks.n > 0 ? r->tasks.begin_ns[0] : INT64_MIN; /* the end of the last collective so far */
    for (size_t i = 0; done && i < c->ops.n; i++) {
        const int64_t begin = c->ops.begin_ns[i], end = c->ops.end_ns[i], launch = c->ops.launch_ns[i];
        const uint32_t step = step_of(&s->steps, launch != INT64_MIN ? launch : begin);
        int64_t from = before != INT64_MIN ? before : begin;
        if (step != NO_ROW && (i == 0 || s->steps.begin_ns[step] > from))
            from = s->steps.begin_ns[step];
        c->step[i] = step;
        c->exposed_ns[i] = end > begin ? end - begin - between(&kernels, begin, end) : 0;
        c->computing_ns[i] = between(&kernels, from, begin);
        c->copying_ns[i] = between(&all, from, begin) - c->computing_ns[i];
        c->free_ns[i] = from < begin ? begin - from - between(&all, from, begin) : 0;
        done = longest_in(&longest, r, from, begin, &c->longest[i], &c->longest_ns[i], mem);
        before = before == INT64_MIN || end > before ? end : before;
        int64_t *last = &s->sums.last_collective_end_ns[step == NO_ROW ? s->steps.n : step];
        *last = *last == 0 || end > *last ? end : *last;
    }
    if (done)
        sum_tails(s, &kernels, &all);
    arena_free(mem);
    return done;
}

bool summary_match(struct collective_match *m, const struct rank_summary *s, uint32_t *id)
{
    const struct rank_collectives *ops = &s->collectives.ops;
    struct arena *mem = arena_new();
    int64_t *step = mem ? arena_take(mem, ops->n, sizeof *step) : NULL;
    bool *is_p2p = step ? arena_take(mem, ops->n, sizeof *is_p2p) : NULL;
    for (size_t i = 0; is_p2p && i < ops->n; i++) {
        const uint32_t row = s->collectives.step[i];
        step[i] = row == NO_ROW ? INT64_MIN : s->steps.id[row];
        is_p2p[i] = is_p2p_op(s->names, ops->type[i], ops->name[i]);
    }
    const struct match_calls calls = { .n = ops->n,
                                       .group = ops->group,
                                       .name = ops->name,
                                       .begin_ns = ops->begin_ns,
                                       .end_ns = ops->end_ns,
                                       .exposed_ns = s->collectives.exposed_ns,
                                       .step = step,
                                       .is_p2p = is_p2p,
                                       .src = ops->src,
                                       .dst = ops->dst };
    const bool done = is_p2p && match_add(m, s->identity.rank, &calls, id);
    arena_free(mem);
    return done;
}
