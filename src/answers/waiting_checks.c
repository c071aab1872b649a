/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/waiting_checks.h"

#include <string.h>

#include "answers/findings.h"
#include "base/readable.h"

enum {
    HOST_KINDS = 1u << SPENT_HOST | 1u << SPENT_PYTHON | 1u << SPENT_RANGE | 1u << SPENT_NOTHING,
};

static bool is_one_of(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, word[i]) == 0)
            return true;
    return false;
}

static bool is_launch(const char *name)
{
    static const char *const word[] = {
        "launch",           "cudaLaunchKernel", "cuLaunchKernel",           "cudaLaunchKernelExC",
        "cuLaunchKernelEx", "hipLaunchKernel",  "hipExtModuleLaunchKernel", "aclrtLaunchKernel"
    };
    return is_one_of(name, word, sizeof word / sizeof *word);
}

bool call_is_synchronisation(const char *name)
{
    static const char *const word[] = { "aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout",
                                        "aclrtSynchronizeDevice", "cudaStreamSynchronize",
                                        "cudaDeviceSynchronize",  "cuStreamSynchronize",
                                        "cuCtxSynchronize",       "cudaEventSynchronize",
                                        "hipStreamSynchronize",   "hipDeviceSynchronize" };
    return is_one_of(name, word, sizeof word / sizeof *word);
}

/* Counts launches that are immediately followed by a wait for the device: then the host cannot run ahead of it. */
enum check_state check_synchronisation(const struct advise_subject *s, struct finding *out)
{
    enum { LEAST = 20 };
    const struct rank_spans *v = &s->spans;
    const size_t n_names = names_count(v->names);
    uint8_t *known = arena_take(s->spare, n_names, 1); /* by name: 1 neither, 2 a launch, 3 a wait */
    uint64_t n = 0, n_waits = 0;
    size_t longest = 0;
    int64_t longest_ns = 0;
    struct rank_span launch = { .end_ns = INT64_MIN };
    bool is_after = false;
    for (size_t i = 0; known && i < v->n[SPAN_CALL]; i++) {
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        if (x.id >= n_names ||
            (is_after && x.track == launch.track && x.begin_ns < launch.end_ns)) /* called by the launch itself */
            continue;
        known[x.id] = known[x.id] ? known[x.id] : is_launch(x.name) ? 2 : call_is_synchronisation(x.name) ? 3 : 1;
        if (is_after && x.track == launch.track && known[x.id] == 3) {
            n_waits++;
            longest = span_ns(x.begin_ns, x.end_ns) > longest_ns ? i : longest;
            longest_ns = span_ns(x.begin_ns, x.end_ns) > longest_ns ? span_ns(x.begin_ns, x.end_ns) : longest_ns;
        }
        is_after = known[x.id] == 2;
        launch = is_after ? x : launch;
        n += is_after;
    }
    if (n == 0)
        return v->n[SPAN_CALL] > 0 && s->q.trace ? CHECK_FINE : CHECK_UNRECORDED;
    if (n < LEAST || n_waits * 2 <= n)
        return CHECK_FINE;
    out->gain_ns = advise_spent_on(s, HOST_KINDS);
    if (longest_ns > 0) {
        const struct spent_place place = rank_span_place(v, SPAN_CALL, longest);
        char time[READABLE_MOST];
        finding_add(s, out, out->gain_ns, &place, "%s: %s is the longest wait after a launch", place.event,
                    readable_duration(time, (double)longest_ns));
    }
    finding_say(s, out, "%llu of %llu launches (%.0f %%) %s immediately followed by a wait for the device",
                (unsigned long long)n_waits, (unsigned long long)n, 100.0 * (double)n_waits / (double)n,
                n_waits == 1 ? "is" : "are");
    return CHECK_FOUND;
}

enum check_state check_gc(const struct advise_subject *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const struct collection *c = s->q.collection;
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

enum check_state check_data_loader(const struct advise_subject *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const bool has_inputs = s->q.device && s->q.device->steps.get_nexts.n > 0;
    if (!has_inputs && v->n[SPAN_OPERATOR] + v->n[SPAN_RANGE] + v->n[SPAN_PYTHON] == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_DATA, NULL);
    char time[READABLE_MOST];
    finding_say(s, out, "the %s waits %s %s for data", s->has_device ? "device" : "host",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}

/* The pool of the allocator asks the device for memory in warm-up steps only, unless it has to give memory back. */
enum check_state check_memory_operators(const struct advise_subject *s, struct finding *out)
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

/* Copies of pageable memory are judged by check_pageable(). */
static bool is_copy_of_device(const struct spent *x)
{
    return !strstr(x->name, "Pageable");
}

enum check_state check_copies(const struct advise_subject *s, struct finding *out)
{
    finding_of_kinds(s, out, 1u << SPENT_COPY, is_copy_of_device);
    char time[READABLE_MOST];
    finding_say(s, out, "memory is copied for %s %s while the device does nothing else",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}

enum check_state check_free_time(const struct advise_subject *s, struct finding *out)
{
    const double least_share = 0.1; /* less is normal: before the first kernel of a step, in the optimizer */
    if (advise_spent_on(s, HOST_KINDS) < least_share * s->step_ns)
        return CHECK_FINE;
    finding_of_kinds(s, out, HOST_KINDS, NULL);
    char time[READABLE_MOST];
    finding_say(s, out, "the device has nothing to do for %s %s, because the host launches too late",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}
