/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <stdio.h>

#include "answers/checks/findings.h"
#include "base/text/readable.h"

/* Copies are of three sorts, each of one check. */
enum copy_sort { SORT_PAGEABLE, SORT_TO_HOST, SORT_OTHER };

/* A copy for which the host waits: the call that launched it ends after it. With pinned memory it would not have to. */
static bool is_waited_for(const struct rank_span *copy, const struct rank_span *call)
{
    const double most_part = 0.8; /* of the copy; the driver returns a little before the end */
    return (double)span_ns(copy->begin_ns, call->end_ns) >= most_part * (double)span_ns(copy->begin_ns, copy->end_ns) &&
           call->end_ns > copy->begin_ns;
}

struct copies {
    double exposed_ns, waited_ns; /* nothing else runs; the device waits while the host is in the call */
    uint64_t n, bytes;
    double longest_ns;
    size_t longest;
};

/* Sums the copies of a sort, and what they lose: the time in which the device only copies, and that in which it has
 * nothing to do because the host is still in the call. */
static void sum_copies(struct copies *sum, const struct checked_rank *s, struct finding *out, enum copy_sort sort)
{
    const struct rank_spans *v = &s->spans;
    *sum = (struct copies){ 0 };
    for (size_t i = 0; i < v->n[SPAN_COPY]; i++) {
        const struct rank_span x = rank_span(v, SPAN_COPY, i);
        const struct span_copy c = rank_span_copy(v, i);
        struct rank_span call;
        if (!advise_counts(s, x.step))
            continue;
        const bool has_call = rank_span_launch(v, SPAN_COPY, i, &call), waits = has_call && is_waited_for(&x, &call),
                   is_pageable = c.is_to_device && (c.is_pageable || (waits && !c.knows_memory));
        if (sort != (c.is_to_host ? SORT_TO_HOST : is_pageable ? SORT_PAGEABLE : SORT_OTHER))
            continue;
        const double exposed_ns =
                         (double)(span_ns(x.begin_ns, x.end_ns) - busy_within(&v->working, x.begin_ns, x.end_ns)),
                     waited_ns = waits || c.is_pageable
                                     ? (double)(has_call ? busy_within(&s->gaps.free, call.begin_ns, call.end_ns) : 0)
                                     : 0;
        sum->n++;
        sum->bytes += c.bytes;
        sum->exposed_ns += exposed_ns;
        sum->waited_ns += waited_ns;
        finding_lose(s, out, x.step, exposed_ns + waited_ns);
        if (exposed_ns + waited_ns > sum->longest_ns) {
            sum->longest_ns = exposed_ns + waited_ns;
            sum->longest = i;
        }
    }
    if (!(sum->longest_ns > 0))
        return;
    const struct spent_place place = rank_span_place(v, SPAN_COPY, sum->longest);
    char time[READABLE_MOST];
    finding_add(s, out, (sum->exposed_ns + sum->waited_ns) / (double)s->n_steps, &place,
                "%.200s of %llu bytes: %s, the longest", place.event,
                (unsigned long long)rank_span_copy(v, sum->longest).bytes,
                readable_duration(time, (double)place.dur_ns));
}

/* "3 copies a step (4.2 MB) run for 1 ms while the device does nothing else, and it waits 2 ms for the host in their
 * calls" */
static void say(const struct checked_rank *s, struct finding *out, const struct copies *sum, const char *which)
{
    const double n_steps = (double)s->n_steps;
    char runs[READABLE_MOST], exposed[READABLE_MOST], waited[READABLE_MOST], more[120] = "";
    if (sum->waited_ns > 0)
        snprintf(more, sizeof more, ", and it waits %s while the host is in their calls",
                 readable_duration(waited, sum->waited_ns / n_steps));
    finding_say(s, out, "%s %s %s (%.1f MB) run for %s while the device does nothing else%s",
                readable_runs(runs, (double)sum->n / n_steps), which, s->per, (double)sum->bytes / n_steps / 1e6,
                readable_duration(exposed, sum->exposed_ns / n_steps), more);
}

static enum check_state look(const struct checked_rank *s, struct finding *out, enum copy_sort sort, const char *which)
{
    struct copies sum;
    sum_copies(&sum, s, out, sort);
    if (sum.n == 0)
        return CHECK_FINE;
    out->free_ns = sum.waited_ns / (double)s->n_steps;
    say(s, out, &sum, which);
    return CHECK_FOUND;
}

enum check_state check_pageable(const struct checked_rank *s, struct finding *out)
{
    return look(s, out, SORT_PAGEABLE, "copies from pageable (not pinned) memory");
}

enum check_state check_offload(const struct checked_rank *s, struct finding *out)
{
    return look(s, out, SORT_TO_HOST, "copies to the host");
}

enum check_state check_copies(const struct checked_rank *s, struct finding *out)
{
    return look(s, out, SORT_OTHER, "copies");
}
