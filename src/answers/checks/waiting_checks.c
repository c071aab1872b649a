/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <string.h>

#include "answers/checks/findings.h"
#include "base/text/readable.h"

enum {
    HOST_KINDS = 1u << SPENT_HOST | 1u << SPENT_PYTHON | 1u << SPENT_RANGE | 1u << SPENT_NOTHING,
};

enum check_state check_gc(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const struct collection *c = s->rank.collection;
    int64_t longest_ns = 0;
    if (v->n[SPAN_GC] == 0 && !(c && c->framework.file[FRAMEWORK_GC].is_there))
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_GC]; i++) {
        const struct rank_span x = rank_span(v, SPAN_GC, i);
        longest_ns = span_ns(x.begin_ns, x.end_ns) > longest_ns ? span_ns(x.begin_ns, x.end_ns) : longest_ns;
    }
    finding_of_kinds(s, out, 1u << SPENT_GC, NULL);
    char longest[READABLE_MOST];
    finding_say(s, out, "%zu Python garbage collection%s, the longest %s", v->n[SPAN_GC], v->n[SPAN_GC] == 1 ? "" : "s",
                readable_duration(longest, (double)longest_ns));
    return CHECK_FOUND;
}

enum check_state check_data_loader(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const bool has_inputs = s->rank.device && s->rank.device->steps.get_nexts.n > 0;
    if (!has_inputs && v->n[SPAN_OPERATOR] + v->n[SPAN_RANGE] + v->n[SPAN_PYTHON] == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_DATA, NULL);
    char time[READABLE_MOST];
    finding_say(s, out, "the %s waits %s %s for data", s->has_device ? "device" : "host",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}

/* The pool of the allocator asks the device for memory in warm-up steps only, unless it has to give memory back. */
enum check_state check_memory_operators(const struct checked_rank *s, struct finding *out)
{
    if (s->spans.n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_ALLOCATION, NULL);
    double runs = 0;
    for (size_t i = 0; i < s->mean.n; i++)
        runs += s->mean.at[i].kind == SPENT_ALLOCATION ? s->mean.at[i].runs : 0;
    char time[READABLE_MOST], count[READABLE_MOST];
    finding_say(s, out, "the device waits %s %s while the host allocates or frees device memory, in %s calls %s",
                readable_duration(time, out->gain_ns), s->per, readable_runs(count, runs), s->per);
    return CHECK_FOUND;
}

enum check_state check_free_time(const struct checked_rank *s, struct finding *out)
{
    const double least_share = 0.1; /* less is normal: before the first kernel of a step, in the optimizer */
    const double free_ns = s->gaps.sum_ns / (double)s->n_steps;
    if (free_ns < least_share * s->step_ns)
        return CHECK_FINE;
    finding_of_kinds(s, out, HOST_KINDS, NULL);
    out->step_ns = s->gaps.step_ns; /* what lies within a wait for requests is named by what it is, and no fault */
    char time[READABLE_MOST];
    finding_say(s, out, "the device has nothing to do for %s %s, because the host launches too late",
                readable_duration(time, free_ns), s->per);
    return CHECK_FOUND;
}
