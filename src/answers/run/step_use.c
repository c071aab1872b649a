/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/step_use.h"

#include <string.h>

#include "answers/checks/advise.h"
#include "answers/run/kernel_class.h"
#include "profile/profile.h"

const char *use_part_key(enum spent_kind kind)
{
    static const char *const key[SPENT_KINDS] = {
        [SPENT_OPERATOR] = "computing",
        [SPENT_WAIT] = "wait",
        [SPENT_TRANSFER] = "transfer",
        [SPENT_COPY] = "copies",
        [SPENT_GC] = "gc",
        [SPENT_DATA] = "data",
        [SPENT_REQUESTS] = "requests",
        [SPENT_ALLOCATION] = "allocation",
        [SPENT_HOST] = "host",
        [SPENT_PYTHON] = "python",
        [SPENT_RANGE] = "range",
        [SPENT_NOTHING] = "nothing",
    };
    return key[kind];
}

const char *use_part_words(const struct step_use *u, enum spent_kind kind)
{
    static const char *const words[SPENT_KINDS] = {
        [SPENT_OPERATOR] = "computing",
        [SPENT_WAIT] = "waiting for other ranks",
        [SPENT_TRANSFER] = "transferring",
        [SPENT_COPY] = "copies",
        [SPENT_GC] = "garbage collection",
        [SPENT_DATA] = "waiting for data",
        [SPENT_REQUESTS] = "waiting for requests",
        [SPENT_ALLOCATION] = "allocating or freeing memory",
        [SPENT_HOST] = "idle: host in operators and calls",
        [SPENT_PYTHON] = "idle: host in Python",
        [SPENT_RANGE] = "idle: host in marked ranges",
        [SPENT_NOTHING] = "idle: nothing recorded of the host",
    };
    static const char *const of_host[SPENT_KINDS] = {
        [SPENT_OPERATOR] = "operators",       [SPENT_PYTHON] = "Python",
        [SPENT_RANGE] = "marked ranges",      [SPENT_HOST] = "calls",
        [SPENT_NOTHING] = "nothing recorded",
    };
    if (kind == SPENT_TRANSFER && !u->knows_waits)
        return "waiting for other ranks or transferring";
    return u->is_host && of_host[kind] ? of_host[kind] : words[kind];
}

/* Keeps the largest names. */
static void part_add(struct use_part *p, const char *name, double ns)
{
    size_t at = p->n < USE_NAMES ? p->n++ : USE_NAMES;
    for (; at > 0 && p->most[at - 1].ns < ns; at--)
        if (at < USE_NAMES)
            p->most[at] = p->most[at - 1];
    if (at < USE_NAMES)
        p->most[at] = (struct use_name){ name, ns };
}

/* The time of kernels by class, of which there are few. */
enum { CLASSES_MOST = 16 };
struct class_times {
    size_t n;
    struct use_name at[CLASSES_MOST];
};

static void class_add(struct class_times *c, const char *class, double ns)
{
    size_t i = 0;
    while (i < c->n && strcmp(c->at[i].name, class) != 0)
        i++;
    if (i == CLASSES_MOST)
        return;
    if (i == c->n)
        c->at[c->n++].name = class;
    c->at[i].ns += ns;
}

/* Fills the names of the computing part. The class of a name is looked up again only if it has another operator than
 * last time. */
static bool find_classes(struct step_use *out, const struct checked_rank *s, bool all)
{
    const struct rank_spans *v = &s->spans;
    struct known_class {
        const char *owner, *class;
    } *known = arena_take(s->spare, names_count(v->names), sizeof *known);
    struct class_times sum = { 0 };
    double whole_ns = 0;
    struct use_part *part = &out->part[SPENT_OPERATOR];
    for (size_t i = 0; known && i < v->n[SPAN_KERNEL]; i++) {
        const uint32_t step = rank_span(v, SPAN_KERNEL, i).step;
        if (!advise_counts(s, step) || (!all && s->series.is_slow[step]) || s->alone_ns[i] <= 0)
            continue;
        const char *owner = rank_span_owner(v, SPAN_KERNEL, i);
        const name_id type = rank_span_type(v, i);
        struct known_class *k = &known[type];
        if (!k->class || k->owner != owner)
            *k = (struct known_class){ owner, out->is_by_type ? arena_text(s->mem, names_text(v->names, type),
                                                                           names_len(v->names, type))
                                                              : kernel_class(owner, names_text(v->names, type)) };
        class_add(&sum, k->class, s->alone_ns[i]);
        whole_ns += s->alone_ns[i];
    }
    for (size_t i = 0; i < sum.n; i++)
        part_add(part, sum.at[i].name, sum.at[i].ns / whole_ns * part->ns);
    return known != NULL;
}

bool step_use_find(struct step_use *out, const struct checked_rank *s)
{
    const bool all = s->division.n_usual == 0;
    const struct step_profile *f = all ? &s->mean : &s->division.usual;
    *out = (struct step_use){ .step_ns = f->time_ns,
                              .n_steps = all ? s->n_steps : s->division.n_usual,
                              .is_whole = s->series.is_whole,
                              .is_host = s->series.is_host,
                              .knows_waits = run_rank_knows_waits(&s->rank),
                              .is_by_type = s->rank.profile && !profile_has_host(s->rank.profile) };
    for (size_t i = 0; i < f->n; i++) {
        const struct spent *x = &f->at[i];
        struct use_part *p = &out->part[x->kind];
        p->ns += x->ns;
        if (x->ns > 0 && *x->name && (x->kind != SPENT_OPERATOR || out->is_host))
            part_add(p, x->name, x->ns);
    }
    for (int k = 0; k < SPENT_KINDS; k++)
        for (size_t i = 0; i < out->part[k].n; i++) {
            const char **name = &out->part[k].most[i].name;
            *name = arena_text(s->mem, *name, strlen(*name));
        }
    out->knows_waits |= out->part[SPENT_WAIT].ns > 0;
    return out->is_host || find_classes(out, s, all);
}
