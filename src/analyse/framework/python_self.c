/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "base/memory/arena.h"
#include "base/text/stamp.h"

enum { LEAST_PART = 10 }; /* of the calls of the busiest thread */

/* A call that has returned, while the call around it has not. */
struct returned {
    int64_t begin_ns, dur_ns;
};

/* The end of the rows of one thread. */
static size_t thread_end(const struct python_calls *c, size_t begin)
{
    size_t end = begin;
    while (end < c->n && c->thread[end] == c->thread[begin] && c->process[end] == c->process[begin])
        end++;
    return end;
}

static bool sum_thread(struct python_self *by_name, const struct python_calls *c, size_t begin, size_t end,
                       struct arena *mem)
{
    LIST(struct returned) inside = { 0 };
    for (size_t i = begin; i < end; i++) {
        const int64_t dur_ns = span_ns(c->begin_ns[i], c->end_ns[i]);
        int64_t self_ns = dur_ns;
        for (; inside.n > 0 && inside.at[inside.n - 1].begin_ns >= c->begin_ns[i]; inside.n--)
            self_ns -= inside.at[inside.n - 1].dur_ns;
        by_name[c->name[i]].n++;
        by_name[c->name[i]].ns += self_ns > 0 ? self_ns : 0; /* clocks of damaged records may run backwards */
        struct returned *const last = list_add(&inside, mem);
        if (!last)
            return false;
        *last = (struct returned){ c->begin_ns[i], dur_ns };
    }
    return true;
}

bool python_self_sum(struct python_self *by_name, const struct python_calls *c)
{
    struct arena *mem = arena_new();
    size_t busiest = 0;
    bool done = mem != NULL;
    for (size_t begin = 0, end; begin < c->n; begin = end) {
        end = thread_end(c, begin);
        busiest = end - begin > busiest ? end - begin : busiest;
    }
    for (size_t begin = 0, end; done && begin < c->n; begin = end) {
        end = thread_end(c, begin);
        if (end - begin >= busiest / LEAST_PART)
            done = sum_thread(by_name, c, begin, end, mem);
    }
    arena_free(mem);
    return done;
}
