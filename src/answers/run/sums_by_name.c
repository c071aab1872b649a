/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/sums_by_name.h"

#include <stdlib.h>

bool sums_begin(struct sums_by_name *s, const struct names *names, struct arena *mem)
{
    *s = (struct sums_by_name){ .n_names = names_count(names), .mem = mem };
    s->row = arena_take(mem, s->n_names, sizeof *s->row);
    return s->row != NULL;
}

void sums_add(struct sums_by_name *s, name_id name, double gain_ns, double time_ns, const struct spent_place *place)
{
    if (name >= s->n_names)
        return;
    if (s->row[name] == 0) {
        struct name_sum *fresh = list_add(&s->list, s->mem);
        if (!fresh)
            return; /* no memory: the arena remembers it, and the caller checks that */
        fresh->name = name;
        s->row[name] = (uint32_t)s->list.n;
    }
    struct name_sum *sum = &s->list.at[s->row[name] - 1];
    sum->n++;
    sum->gain_ns += gain_ns;
    sum->time_ns += time_ns;
    if (time_ns > sum->longest_ns) {
        sum->longest_ns = time_ns;
        sum->place = *place;
    }
}

static int by_gain(const void *a, const void *b, void *names)
{
    const struct name_sum *x = a, *y = b;
    return x->gain_ns != y->gain_ns ? (x->gain_ns > y->gain_ns ? -1 : 1) : names_compare(names, x->name, y->name);
}

void sums_sort(struct sums_by_name *s, const struct names *names)
{
    if (s->list.n > 0)
        qsort_r(s->list.at, s->list.n, sizeof *s->list.at, by_gain, (void *)(uintptr_t)names);
}
