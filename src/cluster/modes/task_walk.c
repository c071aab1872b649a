/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/mode_parts.h"

#include <stdlib.h>

#include "base/memory/keys.h"
#include "base/text/stamp.h"

/* The last first; of those that begin together the shorter first: it is inside of the other. */
static int task_walk_by_begin(const void *a, const void *b)
{
    const struct walk_task *const x = a, *const y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns > y->begin_ns ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static void sort(struct walk_tasks *t)
{
    if (t->list.n > 0)
        qsort(t->list.at, t->list.n, sizeof *t->list.at, task_walk_by_begin);
}

/* Of each task of the fast rank the next one of its name, and of each name the first: a chain instead of a search. */
struct chains {
    struct keys names;
    LIST(uint32_t) first;
    uint32_t *next;
};

static bool chain(struct chains *c, const struct walk_tasks *t, struct arena *mem)
{
    c->next = arena_take(mem, t->list.n, sizeof *c->next);
    for (size_t i = t->list.n; c->next && i-- > 0;) {
        const uint32_t name = keys_add(&c->names, t->list.at[i].name, mem);
        const bool is_new = name == c->first.n;
        if (name == KEYS_NO_MEMORY || (is_new && !list_add(&c->first, mem)))
            return false;
        c->next[i] = is_new ? UINT32_MAX : c->first.at[name];
        c->first.at[name] = (uint32_t)i;
    }
    return c->next != NULL;
}

bool task_walk(struct walk_tasks *slow, struct walk_tasks *fast, int64_t shift_ns, struct walk_difference *out,
               struct arena *mem)
{
    struct chains c = { 0 };
    sort(slow);
    sort(fast);
    if (!chain(&c, fast, mem))
        return false;
    size_t n = 0, from = 0;
    for (size_t i = 0; i < slow->list.n; i++) {
        const struct walk_task *const s = &slow->list.at[i];
        const uint32_t name = keys_find(&c.names, s->name);
        if (name == KEYS_NONE)
            continue;
        uint32_t at = c.first.at[name];
        while (at != UINT32_MAX && at < from)
            at = c.next[at];
        c.first.at[name] = at;
        if (at == UINT32_MAX)
            continue;
        const struct walk_task *const f = &fast->list.at[at];
        const int64_t late = wrap_add(s->begin_ns - f->begin_ns, shift_ns), longer = wrap_sub(s->ns, f->ns);
        from = at + 1;
        if (n == 0 || longer > out->longest_ns) {
            out->longest = s->name;
            out->longest_ns = longer;
        }
        if (n == 0 || late > out->latest_ns) {
            out->latest = s->name;
            out->latest_ns = late;
        }
        n++;
        if (late < WALK_IN_STEP_NS)
            return true;
    }
    return false;
}
