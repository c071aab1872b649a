/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/waiting_checks.h"

#include <string.h>

#include "answers/findings.h"
#include "base/readable.h"

enum {
    HOST_KINDS = 1u << SPENT_HOST | 1u << SPENT_PYTHON | 1u << SPENT_RANGE | 1u << SPENT_NOTHING,
};

static double spent_on(const struct advise_subject *s, unsigned kinds)
{
    double sum = 0;
    for (size_t i = 0; i < s->mean.n; i++)
        sum += kinds >> s->mean.at[i].kind & 1 ? s->mean.at[i].ns : 0;
    return sum;
}

static bool is_one_of(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, word[i]) == 0)
            return true;
    return false;
}

static bool is_launch(const char *name)
{
    static const char *const word[] = { "launch", "cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC",
                                        "cuLaunchKernelEx" };
    return is_one_of(name, word, sizeof word / sizeof *word);
}

static bool is_synchronisation(const char *name)
{
    static const char *const word[] = { "aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout",
                                        "aclrtSynchronizeDevice", "cudaStreamSynchronize",
                                        "cudaDeviceSynchronize",  "cuStreamSynchronize",
                                        "cuCtxSynchronize" };
    return is_one_of(name, word, sizeof word / sizeof *word);
}

/* Counts launches that are immediately followed by a wait for the device: then the host cannot run ahead of it. */
enum check_state check_synchronisation(const struct advise_subject *s, struct finding *out)
{
    enum { LEAST = 20 };
    const struct calls *c = &s->p->host.calls;
    uint64_t n = 0, n_waits = 0;
    uint8_t *known = arena_take(s->spare, names_count(s->p->names), 1); /* by name: 1 neither, 2 a launch, 3 a wait */
    const size_t n_names = names_count(s->p->names);
    uint32_t longest = NO_ROW;
    int64_t longest_ns = 0;
    if (!s->d || !profile_has_host(s->p) || !known)
        return CHECK_UNRECORDED;
    for (size_t thread = 0; thread < c->n_threads; thread++) {
        bool is_after = false;
        uint64_t launch_end = 0;
        for (uint32_t i = c->first_of_thread[thread]; i < c->first_of_thread[thread + 1]; i++) {
            const name_id name = dictionary_type(&s->p->dictionary, c->level[i], c->type[i]);
            if (name >= n_names || (is_after && c->begin[i] < launch_end)) /* called by the launch itself */
                continue;
            const char *text = names_text(s->p->names, name);
            known[name] = known[name] ? known[name] : is_launch(text) ? 2 : is_synchronisation(text) ? 3 : 1;
            if (is_after && known[name] == 3) {
                const int64_t ns = span_ns(source_host_ns(&s->p->host.source, c->begin[i]),
                                           source_host_ns(&s->p->host.source, c->end[i]));
                n_waits++;
                longest = ns > longest_ns ? i : longest;
                longest_ns = ns > longest_ns ? ns : longest_ns;
            }
            is_after = known[name] == 2;
            launch_end = is_after ? c->end[i] : 0;
            n += is_after;
        }
    }
    if (n == 0)
        return CHECK_UNRECORDED;
    if (n < LEAST || n_waits * 2 <= n)
        return CHECK_FINE;
    out->gain_ns = spent_on(s, HOST_KINDS);
    if (longest != NO_ROW) {
        const char *name =
            names_text(s->p->names, dictionary_type(&s->p->dictionary, c->level[longest], c->type[longest]));
        const struct spent_place place = { .track = SHOWN_CALLS,
                                           .number = c->thread[longest],
                                           .event = name,
                                           .begin_ns = source_host_ns(&s->p->host.source, c->begin[longest]),
                                           .dur_ns = longest_ns };
        char time[READABLE_MOST];
        finding_add(s, out, out->gain_ns, &place, "%s: %s is the longest wait after a launch", name,
                    readable_duration(time, (double)longest_ns));
    }
    finding_say(s, out, "%llu of %llu launches (%.0f %%) %s immediately followed by a wait for the device",
                (unsigned long long)n_waits, (unsigned long long)n, 100.0 * (double)n_waits / (double)n,
                n_waits == 1 ? "is" : "are");
    return CHECK_FOUND;
}

enum check_state check_gc(const struct advise_subject *s, struct finding *out)
{
    const struct collected_garbage *g = s->collection ? &s->collection->framework.gc : NULL;
    int64_t longest_ns = 0;
    if (!g || !s->collection->framework.file[FRAMEWORK_GC].is_there)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < g->n; i++) {
        const int64_t ns = span_ns(g->begin_ns[i], g->end_ns[i]);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    finding_of_kinds(s, out, 1u << SPENT_GC);
    char longest[READABLE_MOST];
    finding_say(s, out, "%zu Python garbage collection%s, the longest %s", g->n, g->n == 1 ? "" : "s",
                readable_duration(longest, (double)longest_ns));
    return CHECK_FOUND;
}

enum check_state check_data_loader(const struct advise_subject *s, struct finding *out)
{
    if (!s->collection && (!s->d || s->d->steps.get_nexts.n == 0))
        return CHECK_UNRECORDED;
    if (s->collection && s->collection->framework.ops.n == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_DATA);
    char time[READABLE_MOST];
    finding_say(s, out, "the %s waits %s %s for data", s->d ? "device" : "host", readable_duration(time, out->gain_ns),
                s->per);
    return CHECK_FOUND;
}

enum check_state check_memory_operators(const struct advise_subject *s, struct finding *out)
{
    if (!s->d || !profile_has_host(s->p) || s->p->host.calls.n == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_ALLOCATION);
    char time[READABLE_MOST];
    finding_say(s, out, "the device waits %s %s while the host allocates or frees device memory",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}

enum check_state check_copies(const struct advise_subject *s, struct finding *out)
{
    if (!s->d)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_COPY);
    char time[READABLE_MOST];
    finding_say(s, out, "memory is copied for %s %s while the device does nothing else",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}

enum check_state check_free_time(const struct advise_subject *s, struct finding *out)
{
    const double least_share = 0.1; /* less is normal: before the first kernel of a step, in the optimizer */
    if (!s->d)
        return CHECK_UNRECORDED;
    if (spent_on(s, HOST_KINDS) < least_share * s->step_ns)
        return CHECK_FINE;
    finding_of_kinds(s, out, HOST_KINDS);
    char time[READABLE_MOST];
    finding_say(s, out, "the device has nothing to do for %s %s, because the host launches too late",
                readable_duration(time, out->gain_ns), s->per);
    return CHECK_FOUND;
}
