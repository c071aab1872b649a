/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/ms_analyse.h"

#include <string.h>

#include "analyse/flow/kernels.h"
#include "analyse/framework/collection_marks.h"
#include "analyse/framework/memory_lifetimes.h"
#include "analyse/framework/ms_links.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "analyse/profile_analyse.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"

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
