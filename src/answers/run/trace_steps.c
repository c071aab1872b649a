/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/trace_steps.h"

#include <string.h>

#include "analyse/framework/step_marks.h"
#include "answers/run/chrome_kinds.h"
#include "base/memory/columns.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"

struct trace_marking {
    struct chrome_trace *t;
    struct chrome_kinds kinds;
    struct arena *work;
    LIST(uint32_t) slice; /* candidates */
};

/* The number of a step by its name: of the profiler's ranges, and of the table of a database that is shown. */
static const char *step_number(const char *name)
{
    static const char shown[] = "Step ";
    const char *number = chrome_step_name(name);
    return number ? number : strncmp(name, shown, sizeof shown - 1) == 0 ? name + sizeof shown - 1 : NULL;
}

static const char *trace_steps_text_of(const struct chrome_trace *t, uint32_t slice)
{
    return names_text(t->names, t->slices.name[slice]);
}

static bool steps_take(struct chrome_steps *s, size_t n, struct arena *mem)
{
    arena_columns(mem, n, s->id, s->annotation, s->begin_ns, s->end_ns);
    return s->id && s->annotation && s->begin_ns && s->end_ns;
}

/* By begin. The same step may be an annotation and an operator. */
static bool recorded_find(struct trace_marking *m)
{
    struct chrome_trace *t = m->t;
    struct chrome_steps *s = &t->steps;
    for (uint32_t i = 0; i < t->slices.n; i++) {
        const enum slice_kind kind = chrome_is_step(t, i) ? chrome_kind(&m->kinds, i) : SLICE_OTHER;
        uint32_t *new = kind == SLICE_ANNOTATION || kind == SLICE_OPERATOR ? list_add(&m->slice, m->work) : NULL;
        if (new)
            *new = i;
    }
    const size_t n = m->slice.n;
    uint64_t *key = arena_take(m->work, n, sizeof *key);
    uint32_t *order = arena_take(m->work, n, sizeof *order);
    if (arena_failed(m->work) || !steps_take(s, n, t->mem))
        return false;
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)t->slices.begin_ns[m->slice.at[i]] ^ UINT64_C(1) << 63;
    order_fill(order, n);
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t slice = m->slice.at[order[i]];
        const int64_t end_ns = t->slices.begin_ns[slice] + t->slices.dur_ns[slice];
        if (s->n > 0 && end_ns <= s->end_ns[s->n - 1])
            continue;
        s->begin_ns[s->n] = t->slices.begin_ns[slice];
        s->end_ns[s->n] = end_ns;
        s->annotation[s->n] = t->slices.name[slice];
        s->id[s->n++] = names_addz(t->names, step_number(trace_steps_text_of(t, slice)));
    }
    return true;
}

/* The calls that launched work of a device; without any, operators. */
static bool launches_find(struct step_candidates *c, struct trace_marking *m)
{
    const struct chrome_slices *s = &m->t->slices;
    struct keys launched = { 0 };
    uint64_t number;
    c->launch_ns = arena_take(m->work, s->n, sizeof *c->launch_ns);
    for (size_t i = 0; c->launch_ns && i < s->n; i++)
        if (chrome_kind(&m->kinds, i) >= SLICE_KERNEL && chrome_correlation(m->t, i, &number) &&
            keys_add(&launched, number, m->work) == KEYS_NO_MEMORY)
            return false;
    for (int is_operator = 0; c->launch_ns && c->n_launches == 0 && is_operator < 2; is_operator++)
        for (size_t i = 0; i < s->n; i++) {
            const enum slice_kind kind = chrome_kind(&m->kinds, i);
            if (is_operator ? kind == SLICE_OPERATOR
                            : kind == SLICE_CALL && launched.key.n > 0 && chrome_correlation(m->t, i, &number) &&
                                  keys_find(&launched, number) != KEYS_NONE)
                c->launch_ns[c->n_launches++] = s->begin_ns[i];
        }
    return c->launch_ns != NULL;
}

/* Annotations of torch.profiler have a category of their own: elsewhere (trace_view.json, databases) they are among the
 * operators. */
static bool is_annotation(const struct chrome_trace *t, uint32_t slice)
{
    return strcmp(names_text(t->names, t->slices.category[slice]), "user_annotation") == 0;
}

static bool knows_annotations(const struct chrome_trace *t)
{
    for (uint32_t i = 0; i < t->slices.n; i++)
        if (is_annotation(t, i))
            return true;
    return false;
}

static bool marks_find(struct step_marks *out, struct trace_marking *m, const char *by)
{
    const struct chrome_slices *s = &m->t->slices;
    struct step_candidates c = { .names = m->t->names, .wanted = by };
    const bool has_annotations = knows_annotations(m->t);
    for (int is_framework = 1; is_framework >= 0; is_framework--) {
        for (uint32_t i = 0; i < s->n; i++) {
            const enum slice_kind kind = chrome_kind(&m->kinds, i);
            const bool is_of_framework =
                kind == SLICE_OPERATOR ? by || !has_annotations : kind == SLICE_ANNOTATION && is_annotation(m->t, i);
            const bool is_other = (kind == SLICE_ANNOTATION && !is_of_framework) || (by && kind == SLICE_PYTHON);
            uint32_t *new = (is_framework ? is_of_framework : is_other) ? list_add(&m->slice, m->work) : NULL;
            if (new)
                *new = i;
        }
        c.n_framework = is_framework ? m->slice.n : c.n_framework;
    }
    const size_t n = m->slice.n;
    int64_t *begin_ns = arena_take(m->work, n, sizeof *begin_ns), *end_ns = arena_take(m->work, n, sizeof *end_ns);
    uint64_t *thread = arena_take(m->work, n, sizeof *thread);
    name_id *name = arena_take(m->work, n, sizeof *name);
    if (arena_failed(m->work) || !launches_find(&c, m))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t slice = m->slice.at[i];
        begin_ns[i] = s->begin_ns[slice];
        end_ns[i] = s->begin_ns[slice] + s->dur_ns[slice];
        thread[i] = s->track[slice];
        name[i] = s->name[slice];
    }
    c.n = n;
    c.begin_ns = begin_ns;
    c.end_ns = end_ns;
    c.thread = thread;
    c.name = name;
    return step_marks_find(out, &c, m->t->mem);
}

static bool marks_take(struct trace_marking *m, const char *by, struct error *e)
{
    struct chrome_trace *t = m->t;
    struct chrome_steps *s = &t->steps;
    struct step_marks k;
    if (!marks_find(&k, m, by) || !steps_take(s, k.n, t->mem))
        return error_no_memory(e, t->path);
    if (by && k.n == 0)
        return error_set(e, FAULT_ASKED, "%s: --steps-by %.80s: no range of the host has a name that begins so",
                         t->path, by);
    s->by = k.by;
    for (; s->n < k.n; s->n++) {
        const uint32_t slice = m->slice.at[k.row[s->n]];
        s->begin_ns[s->n] = k.begin_ns[s->n];
        s->end_ns[s->n] = k.end_ns[s->n];
        s->annotation[s->n] = t->slices.name[slice];
        s->id[s->n] = names_number(t->names, k.number[s->n]);
        if (k.is_whole)
            s->is_of_name[t->slices.name[slice]] = true;
    }
    return true;
}

bool trace_steps_find(struct chrome_trace *t, const char *by, struct error *e)
{
    struct trace_marking m = { .t = t, .work = arena_new() };
    struct chrome_steps *s = &t->steps;
    bool has_steps = false;
    *s = (struct chrome_steps){ .n_names = names_count(t->names) };
    s->is_of_name = arena_take(t->mem, s->n_names, sizeof *s->is_of_name);
    bool done = m.work && s->is_of_name && chrome_kinds_init(&m.kinds, t, m.work);
    for (size_t i = 0; done && i < s->n_names; i++)
        has_steps |= s->is_of_name[i] = chrome_step_name(names_text(t->names, (name_id)i)) != NULL;
    const name_id of_table = has_steps || !done ? NAME_EMPTY : names_addz(t->names, "STEP_TIME");
    for (size_t i = 0; done && of_table != NAME_EMPTY && i < t->slices.n; i++)
        if (t->slices.category[i] == of_table && step_number(trace_steps_text_of(t, (uint32_t)i)))
            has_steps = s->is_of_name[t->slices.name[i]] = true;
    done = done && (!has_steps || by || recorded_find(&m));
    done = done && (s->n > 0 || marks_take(&m, by, e));
    arena_free(m.work);
    done = done && !names_failed(t->names) && !arena_failed(t->mem);
    return done || (e->fault == FAULT_NONE && error_no_memory(e, t->path));
}
