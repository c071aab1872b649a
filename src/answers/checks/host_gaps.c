/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/host_gaps.h"

#include <string.h>

#include "answers/checks/findings.h"
#include "base/memory/sort.h"

static bool is_one_of(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, word[i]) == 0)
            return true;
    return false;
}

const char *call_name(const char *name)
{
    const char *at = strchr(name, '@');
    return at ? at + 1 : name;
}

bool call_is_launch(const char *name)
{
    static const char *const word[] = { "launch",
                                        "cudaLaunchKernel",
                                        "cuLaunchKernel",
                                        "cudaLaunchKernelExC",
                                        "cuLaunchKernelEx",
                                        "hipLaunchKernel",
                                        "hipExtModuleLaunchKernel",
                                        "aclrtLaunchKernel",
                                        "aclrtLaunchKernelWithConfig",
                                        "cudaGraphLaunch" };
    return is_one_of(call_name(name), word, sizeof word / sizeof *word);
}

bool call_is_synchronisation(const char *name)
{
    static const char *const word[] = { "aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout",
                                        "aclrtSynchronizeDevice", "aclrtSynchronizeEvent",
                                        "cudaStreamSynchronize",  "cudaDeviceSynchronize",
                                        "cuStreamSynchronize",    "cuCtxSynchronize",
                                        "cudaEventSynchronize",   "hipStreamSynchronize",
                                        "hipDeviceSynchronize",   "hipEventSynchronize" };
    return is_one_of(call_name(name), word, sizeof word / sizeof *word);
}

/* The host waits for data or for requests in something of this name, or allocates. */
static bool is_known_wait(enum span_kind kind, const char *name)
{
    const enum spent_kind spent = spent_kind_of_name(call_name(name));
    return kind == SPAN_CALL ? spent == SPENT_ALLOCATION : spent == SPENT_DATA || spent == SPENT_REQUESTS;
}

bool threads_count(struct working_threads *w, const struct rank_spans *v, struct arena *mem)
{
    const enum span_kind kind = v->n[SPAN_OPERATOR] > 0 ? SPAN_OPERATOR : SPAN_CALL;
    for (size_t i = 0, end; i < v->n[kind]; i = end) { /* they are sorted by track */
        const uint32_t track = rank_span(v, kind, i).track, at = keys_add(&w->key, track, mem);
        size_t *new = at == w->n.n ? list_add(&w->n, mem) : NULL;
        if (!new)
            return false;
        end = SEARCH_FIRST_NOT(k, i, v->n[kind], rank_span(v, kind, k).track <= track);
        *new = end - i;
        w->most = *new > w->most ? *new : w->most;
    }
    return true;
}

bool thread_works(const struct working_threads *w, uint32_t track)
{
    enum { LEAST_SHARE = 10 };
    const uint32_t at = keys_find(&w->key, track);
    return w->n.n == 0 || (at != KEYS_NONE && w->n.at[at] * LEAST_SHARE >= w->most);
}

/* What the device does, and what the host does that is a kind of time of its own. */
static bool gather_taken(struct found_times *x, const struct rank_spans *v, struct arena *mem)
{
    struct working_threads threads = { 0 };
    uint8_t *known = arena_take(mem, names_count(v->names) * 2, 1); /* of calls, and of others, by name: 1 no, 2 yes */
    if (!known || !threads_count(&threads, v, mem) || !list_expect(&x->begin_ns, mem, v->busy.n) ||
        !list_expect(&x->end_ns, mem, v->busy.n))
        return false;
    for (size_t i = 0; i < v->busy.n; i++)
        times_add(x, v->busy.begin_ns[i], v->busy.end_ns[i], mem);
    for (int kind = SPAN_CALL; kind < SPAN_KINDS; kind++)
        for (size_t i = 0; i < v->n[kind]; i++) {
            const name_id id = rank_span_id(v, (enum span_kind)kind, i);
            uint8_t *is = &known[2 * id + (kind != SPAN_CALL)];
            if (!*is)
                *is = 1 + is_known_wait((enum span_kind)kind, names_text(v->names, id));
            if (kind != SPAN_GC && *is != 2)
                continue;
            const struct rank_span s = rank_span(v, (enum span_kind)kind, i);
            if (kind == SPAN_GC || kind == SPAN_CALL || thread_works(&threads, s.track))
                times_add(x, s.begin_ns, s.end_ns, mem);
        }
    arena_drop(mem, known);
    return !arena_failed(mem);
}

/* Finds which work of the device ends a gap, and what launched that. `at`: where to look on, by kind. */
static void find_launch(struct host_gap *gap, const struct rank_spans *v, size_t at[SPAN_CALL])
{
    struct rank_span first = { .begin_ns = INT64_MAX };
    enum span_kind of = SPAN_KERNEL;
    for (int kind = SPAN_KERNEL; kind < SPAN_CALL; kind++) {
        struct rank_span x = { .begin_ns = INT64_MAX };
        while (at[kind] < v->n[kind] && (x = rank_span(v, (enum span_kind)kind, at[kind])).begin_ns < gap->end_ns)
            at[kind]++;
        if (at[kind] < v->n[kind] && x.begin_ns < first.begin_ns) {
            first = x;
            of = (enum span_kind)kind;
        }
    }
    gap->is_kernel = of == SPAN_KERNEL;
    gap->has_launch = first.begin_ns < INT64_MAX && rank_span_launch(v, of, at[of], &gap->launch);
    gap->delay_ns = gap->has_launch ? first.begin_ns - gap->launch.end_ns : 0;
}

bool host_gaps_find(struct host_gaps *out, const struct rank_spans *v, size_t first_step, const bool *counts,
                    struct arena *mem)
{
    const struct step_series *s = v->series;
    struct found_times taken = { 0 };
    struct busy_times not_free;
    size_t at[SPAN_CALL] = { 0 }, next = 0;
    *out = (struct host_gaps){ .step_ns = arena_take(mem, s->n, sizeof *out->step_ns) };
    if (!out->step_ns || !gather_taken(&taken, v, mem) ||
        !busy_join(&not_free, taken.begin_ns.at, taken.end_ns.at, taken.end_ns.n, mem))
        return false;
    arena_drop(mem, taken.begin_ns.at);
    arena_drop(mem, taken.end_ns.at);
    const size_t most = not_free.n + s->n;
    out->at = arena_take(mem, most, sizeof *out->at);
    if (!out->at)
        return false;
    int64_t from_ns = INT64_MIN;
    for (size_t i = first_step; v->busy.n > 0 && i < s->n; i++) {
        if (counts && !counts[i])
            continue;
        from_ns = s->begin_ns[i] > from_ns ? s->begin_ns[i] : from_ns;
        while (next < not_free.n && not_free.end_ns[next] <= from_ns)
            next++;
        for (; from_ns < s->end_ns[i]; next++) {
            const bool is_last = next == not_free.n || not_free.begin_ns[next] >= s->end_ns[i];
            const int64_t to_ns = is_last ? s->end_ns[i] : not_free.begin_ns[next];
            if (to_ns > from_ns && out->n < most) {
                struct host_gap *g = &out->at[out->n++];
                *g = (struct host_gap){ .begin_ns = from_ns, .end_ns = to_ns, .step = (uint32_t)i };
                find_launch(g, v, at);
                out->step_ns[i] += (double)span_ns(from_ns, to_ns);
                out->sum_ns += (double)span_ns(from_ns, to_ns);
            }
            from_ns = is_last ? s->end_ns[i] : not_free.end_ns[next];
            if (is_last)
                break;
        }
    }
    arena_drop(mem, not_free.begin_ns);
    arena_drop(mem, not_free.end_ns);
    arena_drop(mem, not_free.before_ns);
    out->at = arena_trim(mem, out->at, out->n, sizeof *out->at);
    int64_t *begin_ns = arena_take(mem, out->n, sizeof *begin_ns), *end_ns = arena_take(mem, out->n, sizeof *end_ns);
    for (size_t i = 0; begin_ns && end_ns && i < out->n; i++) {
        begin_ns[i] = out->at[i].begin_ns;
        end_ns[i] = out->at[i].end_ns;
    }
    const bool done = begin_ns && end_ns && busy_join(&out->free, begin_ns, end_ns, out->n, mem);
    arena_drop(mem, begin_ns);
    arena_drop(mem, end_ns);
    return done;
}
