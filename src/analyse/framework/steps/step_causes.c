/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *step_cause_key(enum step_cause cause)
{
    static const char *const key[CAUSES] = { "runs", "longer",   "clock",  "transfer", "wait",
                                             "data", "requests", "memory", "gc",       "host" };
    return key[cause];
}

const char *step_named_key(enum step_named named)
{
    static const char *const key[NAMEDS] = { NULL, "rank", "operator", "outside", "python", "range" };
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
