/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <string.h>

#include "analyse/flow/flows.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "analyse/profile_analyse.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "profile/collection.h"

/* Which range of MindSpore launched which kernel and set which mark.
 *
 * They are matched by thread and time: a kernel belongs to the launch range during which its thread called the
 * device's runtime. A mark belongs to the range that MindSpore recorded around it. */

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

/* Fills collection.links and collection.launches; after kernels_collect(). False: no memory. */
static bool ms_links_find(struct collection *s, struct arena *spare)
{
    return link_kernels(s, spare) && link_marks(s, spare) && name_launches(s);
}

bool ms_has_steps(const struct collection *s)
{
    return s->settings.has_schedule && !s->settings.is_whole_graph && s->steps.n > 0;
}

static bool build_tree(struct collection *s)
{
    const size_t n = s->framework.ops.n;
    if (!op_tree_nest(&s->tree, &s->framework.ops, s->mem))
        return false;
    s->tree.owner = s->links.op;
    return op_tree_gather(&s->tree, n, s->kernels.n, NULL, s->mem);
}

/* Steps on the device are those of the host: what began from the begin to the end of the range, both included. */
static bool find_steps(struct collection *s)
{
    const struct framework_ops *o = &s->framework.ops;
    struct names *names = s->profile.names;
    struct profiler_steps *t = &s->steps;
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        n += name_is_step(names, o->name[i]);
    if (!profiler_steps_take(t, n, s->mem))
        return false;
    for (size_t at = 0; at < o->n; at++) {
        const uint32_t row = s->tree.by_begin[at];
        if (!name_is_step(names, o->name[row]))
            continue;
        const size_t i = t->n++;
        t->op[i] = row;
        t->thread[i] = o->thread ? o->thread[row] : 0;
        t->id[i] = names_addz(names, strrchr(names_text(names, o->name[row]), '#') + 1);
        t->host_begin_ns[i] = t->begin_ns[i] = o->begin_ns[row];
        t->host_end_ns[i] = o->end_ns[row];
        t->end_ns[i] = stamp_add(o->end_ns[row], 1);
        t->has_work[i] = true;
    }
    return true;
}

/* Finds when the device ran the steps, by the marks of the executor. `numbers`: the steps of the host; the least one is
 * step 1 of the device. */
static bool find_on_device(struct collection *s, const struct keys *numbers, uint64_t least, struct arena *spare)
{
    struct profiler_steps *t = &s->executed;
    bool *is_found = arena_take(spare, t->n, sizeof *is_found);
    for (size_t d = 0; is_found && d < s->profile.n_devices; d++) {
        const struct source *source = &s->profile.device[d].source;
        const struct iterations *it = &s->profile.device[d].steps.iterations;
        for (size_t i = 0; i < it->n; i++) {
            const uint32_t place = it->is_step[i] ? keys_find(numbers, it->index[i] + least - 1) : KEYS_NONE;
            if (place == KEYS_NONE || is_found[place])
                continue;
            is_found[place] = true;
            t->begin_ns[place] = source_device_ns(source, it->begin[i]);
            t->end_ns[place] = source_device_ns(source, it->end[i]);
        }
    }
    return is_found != NULL;
}

static bool executor_has_marks(const struct profile *p)
{
    for (size_t d = 0; d < p->n_devices; d++)
        for (size_t i = 0; i < p->device[d].steps.iterations.n; i++)
            if (p->device[d].steps.iterations.is_step[i])
                return true;
    return false;
}

/* The steps that the executor counted. On the host, a step lasts from the first to the last range with its number.
 * There are none if all numbers are 0 and the device has no marks. */
static bool find_executed(struct collection *s, struct arena *spare)
{
    enum { MOST = 65536 }; /* a damaged file may have any numbers */
    const struct framework_ops *o = &s->framework.ops;
    const uint64_t *step = s->framework.ms.ranges.step;
    struct profiler_steps *t = &s->executed;
    struct keys numbers = { 0 };
    uint64_t least = UINT64_MAX, any = 0;
    for (size_t i = 0; i < o->n; i++) {
        least = step[i] < least ? step[i] : least;
        any |= step[i];
    }
    if (any == 0 && !executor_has_marks(&s->profile))
        return true;
    if (!profiler_steps_take(t, o->n < MOST ? o->n : MOST, s->mem))
        return false;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t place = t->n < MOST ? keys_add(&numbers, step[i], spare) : keys_find(&numbers, step[i]);
        if (place == KEYS_NONE)
            continue;
        if (place == t->n) {
            t->id[place] = names_number(s->profile.names, step[i] - least + 1);
            t->host_begin_ns[place] = o->begin_ns[i];
            t->host_end_ns[place] = o->end_ns[i];
            t->has_work[place] = true;
            t->n++;
        }
        t->host_begin_ns[place] = o->begin_ns[i] < t->host_begin_ns[place] ? o->begin_ns[i] : t->host_begin_ns[place];
        t->host_end_ns[place] = o->end_ns[i] > t->host_end_ns[place] ? o->end_ns[i] : t->host_end_ns[place];
    }
    for (size_t i = 0; i < t->n; i++) {
        t->begin_ns[i] = t->host_begin_ns[i];
        t->end_ns[i] = stamp_add(t->host_end_ns[i], 1);
    }
    return find_on_device(s, &numbers, least, spare);
}

bool ms_analyse(struct collection *s, unsigned n_threads, struct error *e)
{
    if (s->has_device && !profile_analyse(&s->profile, n_threads, e))
        return false;
    struct arena *spare = arena_new();
    const bool ok = spare && kernels_collect(&s->kernels, &s->profile, s->mem) && ms_links_find(s, spare) &&
                    build_tree(s) && find_steps(s) && (s->steps.n > 0 || find_executed(s, spare)) &&
                    !arena_failed(spare) && !names_failed(s->profile.names);
    arena_free(spare);
    if (!ok)
        return error_no_memory(e, s->path);
    return collection_marks_find(s, e) && memory_lives_analyse(s, e);
}
