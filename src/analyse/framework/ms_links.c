/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/ms_links.h"

#include <string.h>

#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* Rows of some table by thread, then by time. */
struct by_thread {
    size_t n;
    uint32_t *row;
};

static bool sort_rows(struct by_thread *t, size_t n_all, const int64_t *time_ns, const uint32_t *thread,
                      struct arena *spare)
{
    uint64_t *key = arena_take(spare, n_all, sizeof *key);
    for (size_t i = 0; key && i < t->n; i++)
        key[t->row[i]] = (uint64_t)time_ns[t->row[i]] ^ SIGN;
    return key && order_by_u64(t->row, t->n, key) && order_by_u32(t->row, t->n, thread);
}

/* The ranges whose names contain a word. */
static bool ranges_with(struct by_thread *out, const struct collection *s, const char *const *word, size_t n_words,
                        struct arena *spare)
{
    const struct framework_ops *o = &s->framework.ops;
    *out = (struct by_thread){ .row = arena_take(spare, o->n, sizeof *out->row) };
    for (uint32_t i = 0; out->row && i < o->n; i++) {
        const char *name = names_text(s->profile.names, o->name[i]);
        bool is_one = false;
        for (size_t k = 0; k < n_words && !is_one; k++)
            is_one = strstr(name, word[k]) != NULL;
        if (is_one)
            out->row[out->n++] = i;
    }
    return out->row && sort_rows(out, o->n, o->begin_ns, o->thread, spare);
}

/* One pass over ranges and times, both sorted by (thread, time). A time belongs to the first range of its thread that
 * has not ended before it, if this range has begun. */
struct ms_links_walk {
    const struct framework_ops *o;
    const struct by_thread *ranges;
    size_t at;
};

static uint32_t range_around(struct ms_links_walk *w, uint32_t thread, int64_t ns)
{
    const struct framework_ops *o = w->o;
    for (; w->at < w->ranges->n; w->at++) {
        const uint32_t row = w->ranges->row[w->at];
        if (o->thread[row] > thread)
            return NO_ROW;
        if (o->thread[row] == thread && o->end_ns[row] >= ns)
            return o->begin_ns[row] <= ns ? row : NO_ROW;
    }
    return NO_ROW;
}

static bool link_kernels(struct collection *s, struct arena *spare)
{
    static const char *const word[] = { "KernelLaunch", "LaunchTask" };
    const struct kernels *k = &s->kernels;
    struct by_thread ranges, kernels = { .n = k->n, .row = arena_take(spare, k->n, sizeof *kernels.row) };
    s->links.op = arena_take(s->mem, k->n, sizeof *s->links.op);
    if (!kernels.row || !s->links.op || !ranges_with(&ranges, s, word, 2, spare))
        return false;
    order_fill(kernels.row, k->n);
    if (!sort_rows(&kernels, k->n, k->launch_ns, k->launch_thread, spare))
        return false;
    struct ms_links_walk w = { &s->framework.ops, &ranges, 0 };
    const bool is_linked = s->settings.level != PROFILER_LEVEL_NONE;
    for (size_t i = 0; i < k->n; i++) {
        const uint32_t row = kernels.row[i];
        s->links.op[row] = is_linked ? range_around(&w, k->launch_thread[row], k->launch_ns[row]) : NO_ROW;
    }
    return true;
}

/* Each range has one mark: the first in it. */
static bool link_marks(struct collection *s, struct arena *spare)
{
    static const char *const word[] = { "Mstx::" };
    const struct marks *m = &s->profile.host.records.marks;
    struct by_thread ranges, marks = { .n = m->n, .row = arena_take(spare, m->n, sizeof *marks.row) };
    int64_t *begin_ns = arena_take(spare, m->n, sizeof *begin_ns);
    s->links.op_of_mark = arena_take(s->mem, m->n, sizeof *s->links.op_of_mark);
    if (!marks.row || !begin_ns || !s->links.op_of_mark || !ranges_with(&ranges, s, word, 1, spare))
        return false;
    order_fill(marks.row, m->n);
    for (size_t i = 0; i < m->n; i++)
        begin_ns[i] = source_host_ns(&s->profile.host.source, m->begin[i]);
    if (!sort_rows(&marks, m->n, begin_ns, m->thread, spare))
        return false;
    struct ms_links_walk w = { &s->framework.ops, &ranges, 0 };
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t row = marks.row[i];
        s->links.op_of_mark[row] = range_around(&w, m->thread[row], begin_ns[row]);
        w.at += s->links.op_of_mark[row] != NO_ROW;
    }
    return true;
}

static bool name_launches(struct collection *s)
{
    const struct profile *p = &s->profile;
    const struct kernels *k = &s->kernels;
    const name_id *name = s->framework.ops.name;
    struct launches *l = &s->launches;
    l->device = arena_take(s->mem, p->n_devices, sizeof *l->device);
    l->of_mark = arena_take(s->mem, p->host.records.marks.n, sizeof *l->of_mark);
    for (size_t d = 0; l->device && d < p->n_devices; d++) {
        l->device[d].of_task = arena_take(s->mem, p->device[d].tasks.n, sizeof *l->device[d].of_task);
        l->device[d].of_collective = arena_take(s->mem, p->device[d].comm.ops.n, sizeof *l->device[d].of_collective);
    }
    if (arena_failed(s->mem))
        return false;
    for (size_t i = 0; i < k->n; i++)
        if (s->links.op[i] != NO_ROW) {
            const struct device_launches *d = &l->device[k->device[i]];
            (k->is_collective[i] ? d->of_collective : d->of_task)[k->row[i]] = name[s->links.op[i]];
        }
    for (size_t i = 0; i < p->host.records.marks.n; i++)
        if (s->links.op_of_mark[i] != NO_ROW)
            l->of_mark[i] = name[s->links.op_of_mark[i]];
    return true;
}

bool ms_links_find(struct collection *s, struct arena *spare)
{
    return link_kernels(s, spare) && link_marks(s, spare) && name_launches(s);
}
