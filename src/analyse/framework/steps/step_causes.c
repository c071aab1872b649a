/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *step_cause_key(enum step_cause cause)
{
    static const char *const key[CAUSES] = { "runs",     "longer", "clock", "transfer", "wait",    "data",
                                             "requests", "memory", "gc",    "host",     "operator" };
    return key[cause];
}

const char *step_named_key(enum step_named named)
{
    static const char *const key[NAMEDS] = { NULL, "operator", "outside", "python", "range" };
    return key[named];
}

static const struct {
    enum step_cause cause;
    enum step_named named;
} meaning[SPENT_KINDS] = {
    [SPENT_OPERATOR] = { CAUSE_LONGER, NAMED_OPERATOR },
    [SPENT_WAIT] = { CAUSE_WAIT, NAMED_OPERATOR },
    [SPENT_TRANSFER] = { CAUSE_TRANSFER, NAMED_OPERATOR },
    [SPENT_COPY] = { CAUSE_MEMORY, NAMED_OPERATOR },
    [SPENT_GC] = { CAUSE_GC, NAMED_NOTHING },
    [SPENT_DATA] = { CAUSE_DATA, NAMED_OPERATOR },
    [SPENT_REQUESTS] = { CAUSE_REQUESTS, NAMED_OPERATOR },
    [SPENT_ALLOCATION] = { CAUSE_MEMORY, NAMED_OPERATOR },
    [SPENT_HOST] = { CAUSE_HOST, NAMED_OPERATOR },
    [SPENT_PYTHON] = { CAUSE_HOST, NAMED_PYTHON },
    [SPENT_RANGE] = { CAUSE_HOST, NAMED_RANGE },
    [SPENT_NOTHING] = { CAUSE_HOST, NAMED_OUTSIDE },
};

static void add_item(struct step_difference *out, struct step_item item, enum step_cause cause, double more_ns)
{
    if (more_ns == 0)
        return;
    item.cause = cause;
    item.more_ns = more_ns;
    out->cause_ns[cause] += more_ns;
    out->item[out->n++] = item;
}

/* Divides the additional time of an operator: the part due to more runs (additional runs, each as long as usual), the
 * part due to a lower clock, and the rest, which is due to longer runs. */
static void add_operator(struct step_difference *out, const struct step_item *item)
{
    enum { LEAST_CLOCK = 100 }; /* a hundredth: less is how exactly clocks are reported */
    const double all_ns = item->after_ns - item->before_ns;
    const double usual_ns =
        item->before_runs > 0 ? (item->after_runs - item->before_runs) * (item->before_ns / item->before_runs) : all_ns;
    /* Many runs that are shorter than usual explain what they took, not more. */
    const double runs_ns = all_ns > 0 && usual_ns > all_ns ? all_ns : usual_ns;
    const double longer_ns = all_ns - runs_ns;
    const double lower = item->before_mhz - item->after_mhz;
    double clock_ns =
        item->after_mhz > 0 && lower * LEAST_CLOCK > item->before_mhz ? item->after_ns * lower / item->before_mhz : 0;
    clock_ns = clock_ns > longer_ns ? longer_ns : clock_ns;
    clock_ns = clock_ns > 0 ? clock_ns : 0;
    add_item(out, *item, CAUSE_RUNS, runs_ns);
    add_item(out, *item, CAUSE_CLOCK, clock_ns);
    add_item(out, *item, CAUSE_LONGER, longer_ns - clock_ns);
}

static void add_pair(struct step_difference *out, const struct spent *own, const struct spent *usual)
{
    static const struct spent none = { 0 };
    const struct spent *any = own ? own : usual, *after = own ? own : &none, *before = usual ? usual : &none;
    const struct step_item item = { .named = meaning[any->kind].named,
                                    .kind = any->kind,
                                    .name = any->name,
                                    .before_ns = before->ns,
                                    .after_ns = after->ns,
                                    .before_runs = before->runs,
                                    .after_runs = after->runs,
                                    .before_mhz = before->mhz,
                                    .after_mhz = after->mhz,
                                    .place = after->ns > 0 ? after->place : before->place };
    if (any->kind == SPENT_OPERATOR)
        add_operator(out, &item);
    else
        add_item(out, item, meaning[any->kind].cause, item.after_ns - item.before_ns);
}

static int by_more(const void *a, const void *b)
{
    const struct step_item *x = a, *y = b;
    if (x->more_ns != y->more_ns)
        return x->more_ns > y->more_ns ? -1 : 1;
    return x->cause != y->cause ? (x->cause < y->cause ? -1 : 1)
           : x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
                                : strcmp(x->name, y->name);
}

bool step_difference_find(struct step_difference *out, const struct step_profile *own, const struct step_profile *usual,
                          double time_ns, double usual_ns, unsigned without, struct arena *mem)
{
    enum { ITEMS_OF_ONE = 3 };
    *out = (struct step_difference){ .time_ns = time_ns, .usual_ns = usual_ns, .more_ns = time_ns - usual_ns };
    out->item = arena_take(mem, ITEMS_OF_ONE * (own->n + usual->n), sizeof *out->item);
    if (!out->item)
        return false;
    for (size_t i = 0, k = 0; i < own->n || k < usual->n;) {
        const int order = i == own->n ? 1 : k == usual->n ? -1 : spent_compare(&own->at[i], &usual->at[k]);
        const struct spent *after = order <= 0 ? &own->at[i++] : NULL, *before = order >= 0 ? &usual->at[k++] : NULL;
        if (!(without >> (after ? after : before)->kind & 1))
            add_pair(out, after, before);
    }
    if (out->n > 0)
        qsort(out->item, out->n, sizeof *out->item, by_more);
    out->rest_ns = out->more_ns;
    for (int c = 0; c < CAUSES; c++)
        out->rest_ns -= out->cause_ns[c];
    return true;
}

/* ---- in short -------------------------------------------------------------------------------------------------- */

enum { LEAST_PART = 5 }; /* a fifth of what is to be explained: smaller causes are noise */

static bool is_operator(enum step_cause cause)
{
    return cause == CAUSE_RUNS || cause == CAUSE_LONGER || cause == CAUSE_CLOCK;
}

/* The part of a step to which a cause belongs. The two causes of communication are one part, named after the larger
 * one. */
static enum step_cause part_of(const struct step_difference *d, enum step_cause cause)
{
    if (cause == CAUSE_WAIT || cause == CAUSE_TRANSFER)
        return d->cause_ns[CAUSE_WAIT] >= d->cause_ns[CAUSE_TRANSFER] ? CAUSE_WAIT : CAUSE_TRANSFER;
    return is_operator(cause) ? CAUSE_OPERATOR : cause;
}

/* Inserts a cause in descending order. Its name is dropped if it explains less than a fifth of it. */
static void add_more(struct step_mores *out, struct step_more m)
{
    if (out->n == MORES)
        return;
    if (m.named != NAMED_NOTHING && (double)m.name_ns < (double)m.more_ns / LEAST_PART)
        m = (struct step_more){ m.cause, m.more_ns, NAMED_NOTHING, "", 0 };
    size_t at = out->n++;
    for (; at > 0 && out->at[at - 1].more_ns < m.more_ns; at--)
        out->at[at] = out->at[at - 1];
    out->at[at] = m;
}

/* The parts of a step that make up at least a fifth of what it took longer, each with the name that grew most in it. */
static void step_causes_explain(const struct step_difference *d, struct step_mores *out)
{
    const double least_ns = d->more_ns / LEAST_PART > 1 ? d->more_ns / LEAST_PART : 1;
    double part_ns[CAUSES] = { 0 };
    struct step_more most[CAUSES] = { 0 };
    for (int c = 0; c < CAUSE_OPERATOR; c++)
        part_ns[part_of(d, (enum step_cause)c)] += d->cause_ns[c];
    for (size_t i = 0; i < d->n; i++) {
        const struct step_item *item = &d->item[i];
        const enum step_cause part = part_of(d, item->cause);
        const bool is_counted = is_operator(item->cause) || item->cause == part;
        const double grown_ns = item->after_ns - item->before_ns;
        if (is_counted && grown_ns > (double)most[part].name_ns)
            most[part] = (struct step_more){ part, 0, item->named, item->named == NAMED_NOTHING ? "" : item->name,
                                             llround(grown_ns) };
    }
    for (int c = 0; c < CAUSES; c++)
        if (part_ns[c] >= least_ns) {
            most[c].cause = (enum step_cause)c;
            most[c].more_ns = llround(part_ns[c]);
            most[c].name = most[c].name ? most[c].name : "";
            add_more(out, most[c]);
        }
}

bool step_causes_find(const struct step_series *s, const struct profile *p, const struct device *d,
                      const struct collection *collection, size_t most, struct arena *mem, struct step_mores **out,
                      size_t *n)
{
    *n = 0;
    *out = arena_take(mem, s->n_slow, sizeof **out);
    uint32_t *wanted = arena_take(mem, s->n_slow, sizeof *wanted);
    struct step_division division;
    if (!*out || !wanted)
        return false;
    for (size_t i = 0; i < s->n && *n < most; i++) {
        const uint32_t row = s->slowest[i];
        if (s->is_slow[row] && s->is_chosen[row]) {
            wanted[*n] = row;
            (*out)[(*n)++].step = row;
        }
    }
    if (*n == 0)
        return true;
    struct arena *spare = arena_new();
    bool done = spare && step_division_find(&division, s, p, d, collection, NULL, wanted, *n, spare);
    for (size_t i = 0; done && i < *n; i++) {
        struct step_difference x;
        done = step_difference_find(&x, &division.of[i], &division.usual, (double)s->time_ns[wanted[i]],
                                    (double)s->median_ns, 0, spare);
        if (done)
            step_causes_explain(&x, &(*out)[i]);
    }
    arena_free(spare);
    return done;
}
