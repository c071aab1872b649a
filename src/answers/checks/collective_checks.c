/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <stdlib.h>
#include <string.h>

#include "answers/checks/findings.h"
#include "base/process/robust.h"
#include "base/text/readable.h"

enum check_state state_without_collectives(const struct checked_rank *s)
{
    int64_t rank;
    if (s->rank.trace)
        return chrome_fact(s->rank.trace, "distributedInfo").at ? CHECK_FINE : CHECK_ELSEWHERE;
    if (!run_rank_number(&s->rank, &rank) || rank < 0)
        return CHECK_ELSEWHERE;
    return s->rank.profile->is_level0 ? CHECK_UNRECORDED : CHECK_FINE;
}

/* A collective of a step that counts. */
struct one {
    struct span_collective is;
    int64_t begin_ns, ns;
    double exposed_ns; /* no kernel computes meanwhile */
    uint32_t step;
    size_t row;
};
struct ones {
    LIST(struct one) list;
};

static bool find_collectives(struct ones *out, const struct checked_rank *s)
{
    const struct rank_spans *v = &s->spans;
    *out = (struct ones){ 0 };
    for (size_t i = 0; i < v->n[SPAN_COLLECTIVE]; i++) {
        const struct rank_span x = rank_span(v, SPAN_COLLECTIVE, i);
        if (!advise_counts(s, x.step) || x.end_ns <= x.begin_ns)
            continue;
        struct one *new = list_add(&out->list, s->spare);
        if (!new)
            return false;
        const int64_t ns = span_ns(x.begin_ns, x.end_ns);
        *new = (struct one){ rank_span_collective(v, i),
                             x.begin_ns,
                             ns,
                             (double)(ns - busy_within(&v->computing, x.begin_ns, x.end_ns)),
                             x.step,
                             i };
    }
    return true;
}

/* ---- small collectives ----------------------------------------------------------------------------------------- */

/* Exchanges between two ranks wait for each other, whatever their size. */
static bool is_exchange(const struct one *x)
{
    static const char *const pairs[] = { "send", "recv", "sendrecv", "barrier" };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(x->is.kind, pairs[i]) == 0)
            return true;
    return false;
}

static bool is_of_group(const struct one *x)
{
    return x->is.kind[0] != '\0' && !is_exchange(x);
}

double *exposed_collectives(const struct checked_rank *s)
{
    const struct rank_spans *v = &s->spans;
    const struct busy_times *computing = &v->computing;
    const size_t most = v->n[SPAN_COLLECTIVE] + computing->n;
    struct ones all;
    struct busy_times both;
    double *out = arena_take(s->mem, s->series.n, sizeof *out), transfer_ns = 0, wait_ns = 0;
    int64_t *begin = arena_take(s->spare, most, sizeof *begin), *end = arena_take(s->spare, most, sizeof *end);
    size_t n = computing->n;
    if (!out || !begin || !end || !find_collectives(&all, s))
        return NULL;
    memcpy(begin, computing->begin_ns, n * sizeof *begin);
    memcpy(end, computing->end_ns, n * sizeof *end);
    for (size_t i = 0; i < all.list.n; i++) /* timelines without collectives say "Communication" */
        if (!is_exchange(&all.list.at[i])) {
            begin[n] = all.list.at[i].begin_ns;
            end[n++] = all.list.at[i].begin_ns + all.list.at[i].ns;
        }
    if (!busy_join(&both, begin, end, n, s->spare))
        return NULL;
    for (size_t i = 0; i < s->mean.n; i++) {
        transfer_ns += s->mean.at[i].kind == SPENT_TRANSFER ? s->mean.at[i].ns : 0;
        wait_ns += s->mean.at[i].kind == SPENT_WAIT ? s->mean.at[i].ns : 0;
    }
    const double part = wait_ns > 0 ? transfer_ns / (transfer_ns + wait_ns) : 1;
    for (size_t i = s->n_startup; i < s->series.n; i++)
        out[i] = part * (double)(busy_within(&both, s->series.begin_ns[i], s->series.end_ns[i]) -
                                 busy_within(computing, s->series.begin_ns[i], s->series.end_ns[i]));
    return out;
}

/* The bandwidth that larger collectives reach; without any, the best of the small ones: together they would reach at
 * least that. */
static double reached_bytes_per_ns(const struct ones *all, double small_bytes)
{
    double bytes = 0, ns = 0, best = 0;
    for (size_t i = 0; i < all->list.n; i++) {
        const struct one *x = &all->list.at[i];
        if (!is_of_group(x) || x->is.bytes == 0)
            continue;
        const double speed = (double)x->is.bytes / (double)x->ns;
        best = speed > best ? speed : best;
        bytes += (double)x->is.bytes >= small_bytes ? (double)x->is.bytes : 0;
        ns += (double)x->is.bytes >= small_bytes ? (double)x->ns : 0;
    }
    return ns > 0 ? bytes / ns : best;
}

/* Adds what chosen collectives lose. Some wait for late ranks, which is not their fault: none counts as more than three
 * of the middle. */
static size_t lose_collectives(const struct checked_rank *s, struct finding *out, const struct ones *all, double speed,
                               bool (*is_of)(const struct one *x), int64_t *middle_ns)
{
    enum { MOST = 3 };
    int64_t *ns = arena_take(s->spare, all->list.n, sizeof *ns);
    size_t n = 0;
    const struct one *longest = NULL;
    double sum = 0;
    for (size_t i = 0; ns && i < all->list.n; i++)
        if (is_of(&all->list.at[i]))
            ns[n++] = all->list.at[i].ns;
    const int64_t middle = *middle_ns = upper_median_i64(ns, n);
    for (size_t i = 0; ns && i < all->list.n; i++) {
        const struct one *x = &all->list.at[i];
        if (!is_of(x))
            continue;
        const double needed = speed > 0 ? (double)x->is.bytes / speed : 0, most = (double)(MOST * middle);
        double lost = x->exposed_ns < (double)x->ns - needed ? x->exposed_ns : (double)x->ns - needed;
        lost = lost > most ? most : lost;
        if (!(lost > 0))
            continue;
        sum += lost;
        finding_lose(s, out, x->step, lost);
        longest = !longest || x->ns > longest->ns ? x : longest;
    }
    if (longest) {
        const struct spent_place place = rank_span_place(&s->spans, SPAN_COLLECTIVE, longest->row);
        char time[READABLE_MOST];
        finding_add(s, out, sum / (double)s->n_steps, &place, "%.200s of %llu bytes takes %s, the longest of them",
                    place.event, (unsigned long long)longest->is.bytes, readable_duration(time, (double)longest->ns));
    }
    return n;
}

static const double SMALL_BYTES = 1 << 20;

static bool is_small(const struct one *x)
{
    return is_of_group(x) && x->is.bytes > 0 && (double)x->is.bytes < SMALL_BYTES;
}

enum check_state check_small_collectives(const struct checked_rank *s, struct finding *out)
{
    enum { LEAST_A_STEP = 20 };
    struct ones all;
    bool is_known = false;
    if (s->spans.n[SPAN_COLLECTIVE] == 0)
        return state_without_collectives(s);
    if (!find_collectives(&all, s))
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < all.list.n; i++)
        is_known = is_known || all.list.at[i].is.bytes > 0;
    if (all.list.n > 0 && !is_known)
        return CHECK_UNRECORDED;
    const double speed = reached_bytes_per_ns(&all, SMALL_BYTES);
    int64_t middle_ns;
    const size_t n = lose_collectives(s, out, &all, speed, is_small, &middle_ns);
    if (n < LEAST_A_STEP * s->n_steps)
        return CHECK_FINE;
    char runs[READABLE_MOST], time[READABLE_MOST];
    finding_say(
        s, out, "%s collectives %s are smaller than 1 MiB; their median takes %s, while larger ones move %.1f GB/s",
        readable_runs(runs, (double)n / (double)s->n_steps), s->per, readable_duration(time, (double)middle_ns), speed);
    return CHECK_FOUND;
}

/* ---- synchronised batch normalisation -------------------------------------------------------------------------- */

static bool is_statistic(const struct one *x)
{
    enum { MOST_BYTES = 65536 };
    return is_of_group(x) && x->is.bytes <= MOST_BYTES &&
           (strcmp(x->is.kind, "allgather") == 0 || strcmp(x->is.kind, "allreduce") == 0);
}

static bool has_sync_batchnorm(const struct rank_spans *v)
{
    static const char *const word[] = { "batch_norm_gather_stats", "SyncBatchNorm", "SyncBatchNormalization",
                                        "batch_norm_reduce_statistics", "SyncBNTrainingUpdate" };
    const size_t n_names = names_count(v->names);
    for (size_t i = 0; i < n_names; i++)
        for (size_t k = 0; k < sizeof word / sizeof *word; k++)
            if (strcasestr(names_text(v->names, (name_id)i), word[k]))
                return true;
    return false;
}

enum check_state check_sync_batchnorm(const struct checked_rank *s, struct finding *out)
{
    enum { LEAST_A_STEP = 10 };
    struct ones all;
    int64_t middle_ns;
    if (s->spans.n[SPAN_COLLECTIVE] == 0)
        return state_without_collectives(s);
    if (!has_sync_batchnorm(&s->spans) || !find_collectives(&all, s))
        return CHECK_FINE;
    const size_t n = lose_collectives(s, out, &all, 0, is_statistic, &middle_ns);
    if (n < LEAST_A_STEP * s->n_steps)
        return CHECK_FINE;
    char runs[READABLE_MOST], time[READABLE_MOST];
    finding_say(
        s, out,
        "%s collectives of at most 64 KiB %s exchange statistics of batch normalisation (SyncBatchNorm); their median takes %s",
        readable_runs(runs, (double)n / (double)s->n_steps), s->per, readable_duration(time, (double)middle_ns));
    return CHECK_FOUND;
}

/* ---- gradients that are reduced after each micro batch --------------------------------------------------------- */

/* The kernels between two reductions, by name. */
struct between {
    uint32_t *n_of; /* by name */
    size_t n;
};

/* How alike two sets of kernels are, from 0 to 1. */
static double alike(const struct between *a, const struct between *b, size_t n_names)
{
    size_t both = 0, either = 0;
    for (size_t i = 0; i < n_names; i++) {
        both += a->n_of[i] < b->n_of[i] ? a->n_of[i] : b->n_of[i];
        either += a->n_of[i] > b->n_of[i] ? a->n_of[i] : b->n_of[i];
    }
    return either > 0 ? (double)both / (double)either : 0;
}

static bool is_reduction(const struct one *x)
{
    return strcmp(x->is.kind, "allreduce") == 0;
}

static bool is_of_training(const char *name)
{
    static const char *const word[] = { "backward", "bwd", "grad", "optimizer", "adam", "sgd" };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcasestr(name, word[i]))
            return true;
    return false;
}

/* Whether a step does the same `k` times: reductions of the same sizes, and the same kernels before each group of them,
 * which begin with those of a forward pass. Within a group there is no forward pass. `part` has one more element than
 * there are reductions. */
static bool repeats(const struct one *const *x, const struct between *part, size_t n, size_t k, size_t n_names)
{
    enum { LEAST_KERNELS = 5 };
    const double as_first = 0.7, as_other = 0.5;
    const size_t per = n / k;
    size_t of_block = 0;
    for (size_t i = 0; i < per; i++)
        of_block += part[i].n;
    if (part[0].n < LEAST_KERNELS || part[0].n * 4 < of_block)
        return false;
    for (size_t i = per; i < n; i++) {
        if (x[i]->is.bytes != x[i % per]->is.bytes)
            return false;
        const bool is_first = i % per == 0, is_short = part[i].n < LEAST_KERNELS && part[i % per].n < LEAST_KERNELS;
        if (!is_short && alike(&part[i], &part[i % per], n_names) < (is_first ? as_first : as_other))
            return false;
    }
    return true;
}

/* How many times a step reduces its gradients; 1 if it is not known to do so more than once. */
static size_t reductions_of_step(const struct checked_rank *s, const struct ones *all, uint32_t step, struct arena *mem)
{
    enum { MOST = 512, MOST_NAMES = 256 };
    const struct rank_spans *v = &s->spans;
    const struct one *x[MOST];
    size_t n = 0;
    for (size_t i = 0; i < all->list.n && n < MOST; i++)
        if (all->list.at[i].step == step && is_reduction(&all->list.at[i]))
            x[n++] = &all->list.at[i];
    if (n < 2 || n == MOST)
        return 1;
    /* Names of kernels are numbered within the step. */
    struct keys names = { 0 };
    struct between *part = arena_take(mem, n + 1, sizeof *part);
    bool is_training = false;
    for (size_t i = 0; part && i <= n; i++)
        if (!(part[i].n_of = arena_take(mem, MOST_NAMES, sizeof *part[i].n_of)))
            return 1;
    size_t at = 0;
    for (size_t i = 0; part && i < v->n[SPAN_KERNEL]; i++) {
        const struct rank_span k = rank_span(v, SPAN_KERNEL, i);
        if (k.step != step)
            continue;
        while (at < n && x[at]->begin_ns <= k.begin_ns)
            at++;
        const uint32_t name = keys_add(&names, rank_span_type(v, i), mem);
        if (name >= MOST_NAMES)
            continue;
        is_training = is_training || is_of_training(names_text(v->names, rank_span_type(v, i))) ||
                      is_of_training(rank_span_owner(v, SPAN_KERNEL, i));
        part[at].n_of[name]++;
        part[at].n++;
    }
    for (size_t k = n; part && k >= 2; k--)
        if (n % k == 0 && is_training && repeats(x, part, n, k, MOST_NAMES))
            return k;
    return 1;
}

enum check_state check_no_sync(const struct checked_rank *s, struct finding *out)
{
    enum { LOOKED_AT = 5 };
    struct ones all;
    size_t k = 0, n_looked = 0, n_alike = 0;
    if (s->spans.n[SPAN_COLLECTIVE] == 0)
        return state_without_collectives(s);
    if (!find_collectives(&all, s))
        return CHECK_UNRECORDED;
    for (size_t t = s->n_startup; t < s->series.n && n_looked < LOOKED_AT; t++) {
        if (s->series.is_slow[t])
            continue;
        struct arena *mem = arena_new();
        const size_t times = mem ? reductions_of_step(s, &all, (uint32_t)t, mem) : 1;
        arena_free(mem);
        k = n_looked == 0 ? times : k;
        n_looked++;
        n_alike += times == k;
    }
    if (k < 2 || n_alike * 2 <= n_looked)
        return CHECK_FINE;
    const double part = (double)(k - 1) / (double)k;
    const struct one *longest = NULL;
    size_t n = 0;
    for (size_t i = 0; i < all.list.n; i++) {
        const struct one *x = &all.list.at[i];
        if (!is_reduction(x))
            continue;
        finding_lose(s, out, x->step, part * x->exposed_ns);
        longest = !longest || x->ns > longest->ns ? x : longest;
        n++;
    }
    const struct spent_place place = rank_span_place(&s->spans, SPAN_COLLECTIVE, longest->row);
    char runs[READABLE_MOST], time[READABLE_MOST];
    finding_add(s, out, 0, &place, "%.200s takes %s, the longest of them", place.event,
                readable_duration(time, (double)longest->ns));
    finding_say(
        s, out,
        "%s all-reduces %s are %zu times the same, after %zu forward and backward passes: gradients are reduced after each micro batch (no_sync is missing)",
        readable_runs(runs, (double)n / (double)s->n_steps), s->per, k, k);
    return CHECK_FOUND;
}

/* ---- a collective that hangs ----------------------------------------------------------------------------------- */

/* Of one kind and size. */
static int by_sort_and_duration(const void *a, const void *b)
{
    const struct one *x = *(const struct one *const *)a, *y = *(const struct one *const *)b;
    const int by_kind = strcmp(x->is.kind, y->is.kind);
    if (by_kind != 0)
        return by_kind;
    if (x->is.bytes != y->is.bytes)
        return x->is.bytes < y->is.bytes ? -1 : 1;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

enum check_state check_hanging_collective(const struct checked_rank *s, struct finding *out)
{
    enum { FACTOR = 10, LEAST = 3 };
    const int64_t least_ns = 50000000;
    struct ones all;
    size_t n = 0;
    if (s->spans.n[SPAN_COLLECTIVE] == 0)
        return state_without_collectives(s);
    const struct one **x = find_collectives(&all, s) ? arena_take(s->spare, all.list.n, sizeof *x) : NULL;
    if (!x)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < all.list.n; i++)
        x[i] = &all.list.at[i];
    if (all.list.n > 0)
        qsort(x, all.list.n, sizeof *x, by_sort_and_duration);
    for (size_t first = 0, end; first < all.list.n; first = end) {
        for (end = first + 1; end < all.list.n && strcmp(x[end]->is.kind, x[first]->is.kind) == 0 &&
                              x[end]->is.bytes == x[first]->is.bytes;)
            end++;
        const int64_t usual_ns = x[first + (end - first) / 2]->ns;
        for (size_t i = end;
             end - first >= LEAST && i-- > first && x[i]->ns >= least_ns && x[i]->ns >= FACTOR * usual_ns;) {
            const double lost =
                x[i]->exposed_ns < (double)(x[i]->ns - usual_ns) ? x[i]->exposed_ns : (double)(x[i]->ns - usual_ns);
            const struct spent_place place = rank_span_place(&s->spans, SPAN_COLLECTIVE, x[i]->row);
            char time[READABLE_MOST], usual[READABLE_MOST];
            finding_lose(s, out, x[i]->step, lost);
            finding_add(s, out, lost / (double)s->n_steps, &place,
                        "%.200s takes %s; the median of its kind and size %s", place.event,
                        readable_duration(time, (double)x[i]->ns), readable_duration(usual, (double)usual_ns));
            n++;
        }
    }
    if (n == 0)
        return CHECK_FINE;
    finding_say(
        s, out,
        "%zu collective%s at least ten times as long as usual, on all ranks that were read: retransmission, or a network that does not answer",
        n, n == 1 ? " takes" : "s take");
    return CHECK_FOUND;
}
