/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/judge.h"
#include "answers/checks/findings.h"
#include "answers/run/kernel_class.h"
#include "answers/run/sums_by_name.h"
#include "base/process/robust.h"
#include "base/text/readable.h"

/* ---- which kernels make a step longer -------------------------------------------------------------------------- */

/* Calls in which the host waits until the device is done. */
static bool waits_for_device(const char *call)
{
    const char *name = call_name(call);
    return call_is_synchronisation(name) || strcasestr(name, "memcpy") || strstr(name, "Free");
}

static bool find_waits(struct busy_times *out, const struct checked_rank *s)
{
    const struct rank_spans *v = &s->spans;
    struct found_times found = { 0 };
    uint8_t *known = arena_take(s->spare, names_count(v->names), 1); /* by name: 1 no, 2 yes */
    if (!known)
        return false;
    for (size_t i = 0; i < v->n[SPAN_CALL]; i++) {
        const name_id id = rank_span_id(v, SPAN_CALL, i);
        known[id] = known[id] ? known[id] : 1 + waits_for_device(names_text(v->names, id));
        if (known[id] != 2)
            continue;
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        times_add(&found, x.begin_ns, x.end_ns, s->spare);
    }
    return !arena_failed(s->spare) && busy_join(out, found.begin_ns.at, found.end_ns.at, found.end_ns.n, s->spare);
}

bool kernel_pays_find(struct checked_rank *s)
{
    const int64_t apart_ns = 10000; /* the device goes on at once: what is next was launched before */
    const struct rank_spans *v = &s->spans;
    const struct busy_times *busy = &v->busy;
    struct busy_times waits;
    size_t block = 0;
    s->pays_ns = arena_take(s->spare, v->n[SPAN_KERNEL], sizeof *s->pays_ns);
    bool *pays = arena_take(s->spare, busy->n, sizeof *pays);
    if (!s->pays_ns || !pays || !find_waits(&waits, s))
        return false;
    for (size_t i = busy->n; i-- > 0;) {
        const int64_t end_ns = busy->end_ns[i];
        const bool is_last = i + 1 == busy->n || v->n[SPAN_CALL] == 0;
        pays[i] = is_last || busy_within(&waits, end_ns - 1, end_ns + 1) > 0 ||
                  (busy->begin_ns[i + 1] - end_ns <= apart_ns && pays[i + 1]);
    }
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        const int64_t begin_ns = rank_span(v, SPAN_KERNEL, i).begin_ns;
        while (block < busy->n && busy->end_ns[block] <= begin_ns)
            block++;
        s->pays_ns[i] = block < busy->n && pays[block] ? s->alone_ns[i] : 0;
    }
    return true;
}

/* ---- sums over kernels ----------------------------------------------------------------------------------------- */

/* Some kernels: what they cost. `part` of it would be saved. */
struct kernel_sums {
    struct sums_by_name names;
    double all_ns, of_ns; /* time of all kernels, and of these */
    uint64_t n;
};

static bool kernel_sums_find(struct kernel_sums *k, const struct checked_rank *s, struct finding *out, double part,
                             bool (*is_of)(const struct rank_spans *v, size_t i))
{
    const struct rank_spans *v = &s->spans;
    *k = (struct kernel_sums){ 0 };
    if (!sums_begin(&k->names, v->names, s->spare))
        return false;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        if (!(s->alone_ns[i] > 0))
            continue;
        k->all_ns += s->alone_ns[i];
        if (!is_of(v, i))
            continue;
        const struct spent_place place = rank_span_place(v, SPAN_KERNEL, i);
        const double gain_ns = part * s->pays_ns[i];
        k->of_ns += s->alone_ns[i];
        k->n++;
        sums_add(&k->names, rank_span_type(v, i), gain_ns, s->alone_ns[i], &place);
        finding_lose(s, out, rank_span(v, SPAN_KERNEL, i).step, gain_ns);
    }
    sums_sort(&k->names, v->names);
    for (size_t i = 0; i < k->names.list.n && i < EVIDENCE_MOST; i++) {
        const struct name_sum *x = &k->names.list.at[i];
        const double n_steps = (double)s->n_steps;
        char time[READABLE_MOST], runs[READABLE_MOST];
        finding_add(s, out, x->gain_ns / n_steps, &x->place, "%.200s: %s %s, %s runs", names_text(v->names, x->name),
                    readable_duration(time, x->time_ns / n_steps), s->per, readable_runs(runs, (double)x->n / n_steps));
    }
    return true;
}

static bool has_one_of(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasestr(name, word[i]))
            return true;
    return false;
}

/* Kernels of matrix products whose names say that they compute with the units for single numbers. */
static bool is_without_tensor_cores(const struct rank_spans *v, size_t i)
{
    static const char *const single[] = { "sgemm",  "simt",   "ffma",          "dgemm",
                                          "scudnn", "gemmSN", "f32f32_f32f32", "gemm_fp32" };
    static const char *const tensor[] = { "tf32", "16816", "1688", "884", "tensorop", "hmma", "gmma" };
    const char *name = names_text(v->names, rank_span_type(v, i));
    return has_one_of(name, single, sizeof single / sizeof *single) &&
           !has_one_of(name, tensor, sizeof tensor / sizeof *tensor);
}

/* On all GPUs with tensor cores, these multiply at least eight times as much in a cycle (TF32 of A100 and later, FP16
 * of V100). */
enum check_state check_tensor_cores(const struct checked_rank *s, struct finding *out)
{
    const double faster = 8, least_share = 0.1;
    struct kernel_sums k;
    if (s->spans.n[SPAN_KERNEL] == 0)
        return CHECK_UNRECORDED;
    if (!kernel_sums_find(&k, s, out, 1 - 1 / faster, is_without_tensor_cores) || k.of_ns < least_share * k.all_ns)
        return CHECK_FINE;
    finding_say(
        s, out,
        "%.0f %% of the computing time is in kernels of matrix products in float32 (or float64) that do not use tensor cores; with them up to %.0f times as fast",
        100 * k.of_ns / k.all_ns, faster);
    return CHECK_FOUND;
}

/* Kernels that only change types or formats. Transposing is not among them: attention and others need it. */
static bool is_conversion(const struct rank_spans *v, size_t i)
{
    static const char *const word[] = { "TransData",  "cast",       "contiguous",  "as_strided",  "AsStrided",
                                        "nchwToNhwc", "nhwcToNchw", "direct_copy", "_copy_kernel" };
    return has_one_of(names_text(v->names, rank_span_type(v, i)), word, sizeof word / sizeof *word);
}

enum check_state check_conversions(const struct checked_rank *s, struct finding *out)
{
    const double least_share = 0.05;
    struct kernel_sums k;
    if (s->spans.n[SPAN_KERNEL] == 0)
        return CHECK_UNRECORDED;
    if (!kernel_sums_find(&k, s, out, 1, is_conversion) || k.of_ns < least_share * k.all_ns)
        return CHECK_FINE;
    finding_say(s, out, "%.0f %% of the computing time only converts formats: types or layouts of tensors",
                100 * k.of_ns / k.all_ns);
    return CHECK_FOUND;
}

/* ---- the optimizer --------------------------------------------------------------------------------------------- */

/* The times in which the host is in the optimizer. */
static bool find_optimizer(struct busy_times *out, const struct checked_rank *s)
{
    static const enum span_kind kinds[] = { SPAN_RANGE, SPAN_OPERATOR };
    const struct rank_spans *v = &s->spans;
    const size_t most = v->n[SPAN_RANGE] + v->n[SPAN_OPERATOR];
    int64_t *begin = arena_take(s->spare, most, sizeof *begin), *end = arena_take(s->spare, most, sizeof *end);
    size_t n = 0;
    for (size_t k = 0; begin && end && k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < v->n[kinds[k]]; i++) {
            const struct rank_span x = rank_span(v, kinds[k], i);
            if (!strstr(x.name, "Optimizer.step"))
                continue;
            begin[n] = x.begin_ns;
            end[n++] = x.end_ns;
        }
    return begin && end && busy_join(out, begin, end, n, s->spare);
}

/* A kernel for each parameter and operation reads and writes everything several times, and costs at least its start-up.
 * Fused, the numbers are read and written once: about a third of the traffic, without the start-ups. */
enum check_state check_optimizer(const struct checked_rank *s, struct finding *out)
{
    enum { LEAST_KERNELS = 50, TRAFFIC = 3 };
    const int64_t most_ns = 10000;
    const struct rank_spans *v = &s->spans;
    struct busy_times optimizer;
    struct of_step {
        int64_t first_ns, last_ns, work_ns;
        size_t n;
    } *of = arena_take(s->spare, s->series.n, sizeof *of);
    size_t n = 0;
    int64_t least_ns = most_ns;
    if (!of || !find_optimizer(&optimizer, s) || optimizer.n == 0)
        return CHECK_UNRECORDED;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
            const struct rank_span x = rank_span(v, SPAN_KERNEL, i);
            const int64_t ns = span_ns(x.begin_ns, x.end_ns);
            struct rank_span launch;
            if (!advise_counts(s, x.step) || ns > most_ns || !rank_span_launch(v, SPAN_KERNEL, i, &launch) ||
                busy_within(&optimizer, launch.begin_ns, launch.begin_ns + 1) == 0)
                continue;
            if (pass == 0) {
                least_ns = ns < least_ns ? ns : least_ns;
                continue;
            }
            struct of_step *o = &of[x.step];
            o->first_ns = o->n == 0 ? x.begin_ns : o->first_ns;
            o->last_ns = x.end_ns > o->last_ns ? x.end_ns : o->last_ns;
            o->work_ns += ns - least_ns;
            o->n++;
            n++;
        }
    if (n < LEAST_KERNELS * s->n_steps)
        return CHECK_FINE;
    double span = 0, work = 0;
    for (size_t i = s->n_startup; i < s->series.n; i++) {
        if (of[i].n == 0)
            continue;
        const double ns = (double)span_ns(of[i].first_ns, of[i].last_ns), saved = ns - (double)of[i].work_ns / TRAFFIC;
        span += ns;
        work += (double)of[i].work_ns;
        finding_lose(s, out, (uint32_t)i, saved > 0 ? saved : 0);
    }
    const double n_steps = (double)s->n_steps;
    char runs[READABLE_MOST], time[READABLE_MOST], busy[READABLE_MOST];
    finding_say(
        s, out,
        "the optimizer launches %s kernels of at most 10 us %s, from the first to the last of them it takes %s: it is not fused",
        readable_runs(runs, (double)n / n_steps), s->per, readable_duration(time, span / n_steps));
    finding_add(s, out, span / n_steps, NULL, "beyond the shortest kernel's %.1f us each, they work for %s %s",
                (double)least_ns / 1e3, readable_duration(busy, work / n_steps), s->per);
    return CHECK_FOUND;
}

/* ---- waves of blocks ------------------------------------------------------------------------------------------- */

/* The part of a kernel's time that its last wave of blocks leaves idle. Blocks of a wave that is not full share an SM
 * among fewer, so that they are faster: the estimate is for kernels that compute all the time. */
static double idle_of_wave(const struct span_grid *g)
{
    const uint64_t wave = (uint64_t)g->n_sm * g->at_once, full = g->blocks / wave, rest = g->blocks % wave;
    const double last = (double)((rest + g->n_sm - 1) / g->n_sm) / g->at_once, waves = (double)full + last;
    return waves > 0 ? 1 - (double)g->blocks / (double)wave / waves : 0;
}

enum check_state check_waves(const struct checked_rank *s, struct finding *out)
{
    const int64_t long_ns = 20000; /* in shorter kernels the launch dominates */
    const struct rank_spans *v = &s->spans;
    struct sums_by_name sums;
    struct span_grid grid = { 0 }, worst = { 0 };
    double worst_ns = 0;
    bool is_known = false;
    if (!sums_begin(&sums, v->names, s->spare))
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        if (!(s->alone_ns[i] > 0))
            continue;
        const struct rank_span x = rank_span(v, SPAN_KERNEL, i);
        const char *class = kernel_class("", names_text(v->names, rank_span_type(v, i)));
        if (span_ns(x.begin_ns, x.end_ns) < long_ns && is_known)
            continue;
        if (!rank_span_grid(v, i, &grid))
            continue;
        is_known = true;
        if (span_ns(x.begin_ns, x.end_ns) < long_ns || strcmp(class, "vector") == 0 || strcmp(class, "transpose") == 0)
            continue; /* bound by memory: idle SMs do not make it slower */
        const struct spent_place place = rank_span_place(v, SPAN_KERNEL, i);
        const double gain_ns = idle_of_wave(&grid) * s->pays_ns[i];
        if (!(gain_ns > 0))
            continue;
        sums_add(&sums, rank_span_type(v, i), gain_ns, s->alone_ns[i], &place);
        finding_lose(s, out, x.step, gain_ns);
        worst = gain_ns > worst_ns ? grid : worst;
        worst_ns = gain_ns > worst_ns ? gain_ns : worst_ns;
    }
    if (!is_known)
        return CHECK_UNRECORDED;
    sums_sort(&sums, v->names);
    for (size_t i = 0; i < sums.list.n && i < EVIDENCE_MOST; i++) {
        const struct name_sum *x = &sums.list.at[i];
        char time[READABLE_MOST];
        finding_add(s, out, x->gain_ns / (double)s->n_steps, &x->place,
                    "%.200s: %s %s, its last wave of blocks leaves SMs idle", names_text(v->names, x->name),
                    readable_duration(time, x->time_ns / (double)s->n_steps), s->per);
    }
    if (!(worst_ns > 0))
        return CHECK_FINE;
    finding_say(
        s, out,
        "kernels have numbers of blocks that fit the %u SMs badly, such as %llu blocks, %u at once on an SM: %.0f %% of its time is idle",
        worst.n_sm, (unsigned long long)worst.blocks, worst.at_once, 100 * idle_of_wave(&worst));
    return CHECK_FOUND;
}

/* ---- a lower clock --------------------------------------------------------------------------------------------- */

/* Kernels of one name and size: their mean duration by step. */
struct clocked {
    uint64_t key;
    double total_ns, *sum_ns, *n;
};
enum { CLOCKED_MOST = 64 };

static int by_total(const void *a, const void *b)
{
    const struct clocked *x = a, *y = b;
    return x->total_ns != y->total_ns ? (x->total_ns > y->total_ns ? -1 : 1) : (x->key > y->key) - (x->key < y->key);
}

/* Runs of one name with as many blocks do as much. */
static uint64_t clocked_key(const struct rank_spans *v, size_t i)
{
    return (uint64_t)rank_span_type(v, i) << 32 | rank_span_blocks(v, i);
}

/* The largest groups of kernels, as means by step. Returns how many. */
static size_t find_clocked(struct clocked at[CLOCKED_MOST], const struct checked_rank *s)
{
    const struct rank_spans *v = &s->spans;
    struct keys keys = { 0 };
    LIST(struct clocked) all = { 0 };
    uint32_t *group = arena_take(s->spare, v->n[SPAN_KERNEL], sizeof *group);
    for (size_t i = 0; group && i < v->n[SPAN_KERNEL]; i++) {
        group[i] = NO_ROW;
        if (!(s->alone_ns[i] > 0))
            continue;
        const uint64_t key = clocked_key(v, i);
        group[i] = keys_add(&keys, key, s->spare);
        if (group[i] == KEYS_NO_MEMORY)
            return 0;
        struct clocked *c = group[i] == all.n ? list_add(&all, s->spare) : &all.at[group[i]];
        if (!c)
            return 0;
        c->key = key;
        const struct rank_span x = rank_span(v, SPAN_KERNEL, i);
        c->total_ns += (double)span_ns(x.begin_ns, x.end_ns);
    }
    if (!group || all.n == 0)
        return 0;
    qsort(all.at, all.n, sizeof *all.at, by_total);
    const size_t n = all.n < CLOCKED_MOST ? all.n : CLOCKED_MOST;
    for (size_t k = 0; k < n; k++) {
        at[k] = all.at[k];
        at[k].sum_ns = arena_take(s->spare, s->series.n, sizeof *at[k].sum_ns);
        at[k].n = arena_take(s->spare, s->series.n, sizeof *at[k].n);
        if (!at[k].sum_ns || !at[k].n)
            return 0;
    }
    uint32_t *place = arena_take(s->spare, keys.key.n, sizeof *place); /* by group: 1 + row of at */
    for (size_t k = 0; place && k < n; k++)
        place[keys_find(&keys, at[k].key)] = (uint32_t)k + 1;
    for (size_t i = 0; place && i < v->n[SPAN_KERNEL]; i++)
        if (group[i] != NO_ROW && place[group[i]] > 0) {
            struct clocked *c = &at[place[group[i]] - 1];
            const struct rank_span x = rank_span(v, SPAN_KERNEL, i);
            c->sum_ns[x.step] += (double)span_ns(x.begin_ns, x.end_ns);
            c->n[x.step]++;
        }
    return place ? n : 0;
}

/* By how much the kernels of each step are longer than usual, in the middle: `seen`. `factor`: if all are so by one
 * factor; else 1. 0: unknown. */
static bool find_factors(double *factor, double *seen, const struct checked_rank *s, const struct clocked *at,
                         size_t n_groups)
{
    const double usual_at = 0.1, most_apart = 0.5;
    enum { LEAST_GROUPS = 3 };
    const size_t n = s->series.n;
    double *mean = arena_take(s->spare, n_groups * n, sizeof *mean),
           *sorted = arena_take(s->spare, n + CLOCKED_MOST, sizeof *sorted);
    if (!mean || !sorted)
        return false;
    for (size_t k = 0; k < n_groups; k++) {
        size_t filled = 0;
        for (size_t t = s->n_startup; t < n; t++)
            if (at[k].n[t] > 0)
                sorted[filled++] = mean[k * n + t] = at[k].sum_ns[t] / at[k].n[t];
        const double usual = quantile_of(sorted, filled, usual_at);
        for (size_t t = s->n_startup; t < n; t++)
            mean[k * n + t] = usual > 0 ? mean[k * n + t] / usual : 0;
    }
    for (size_t t = s->n_startup; t < n; t++) {
        size_t filled = 0;
        for (size_t k = 0; k < n_groups; k++)
            if (mean[k * n + t] > 0)
                sorted[filled++] = mean[k * n + t];
        if (filled < LEAST_GROUPS)
            continue;
        const double middle = quantile_of(sorted, filled, 0.5),
                     apart = quantile_of(sorted, filled, 0.75) - quantile_of(sorted, filled, 0.25);
        seen[t] = middle;
        factor[t] = apart < most_apart * (middle - 1) || middle < 1 ? middle : 1;
    }
    return true;
}

/* Marks the steps in which kernels stay longer than by the noise: in one step alone, or now and then, it is no clock. */
static bool find_lower_clock(bool *is_low, const double *seen, const struct checked_rank *s)
{
    const size_t from = s->n_startup, n = s->series.n - from;
    int64_t *of_step = arena_take(s->spare, n, sizeof *of_step);
    struct judgement found;
    for (size_t t = 0; of_step && t < n; t++)
        of_step[t] = seen[from + t] > 0 ? (int64_t)(1e9 * seen[from + t]) : -1;
    if (!of_step || !judge_series(&found, of_step, n, s->spare))
        return false;
    for (size_t i = 0; i < found.n; i++)
        if (found.at[i].shape == SLOW_STEPS || found.at[i].shape == SLOW_SINCE || found.at[i].shape == SLOW_DRIFT)
            for (size_t t = found.at[i].first; t <= found.at[i].last; t++)
                is_low[from + t] = true;
    return true;
}

enum check_state check_throttling(const struct checked_rank *s, struct finding *out)
{
    enum { LEAST_STEPS = 3 };
    const double least_factor = 1.05;
    const struct rank_spans *v = &s->spans;
    struct clocked at[CLOCKED_MOST];
    double *factor = arena_take(s->spare, s->series.n, sizeof *factor),
           *seen = arena_take(s->spare, s->series.n, sizeof *seen);
    bool *is_low = arena_take(s->spare, s->series.n, sizeof *is_low);
    const size_t n_groups = factor && seen && is_low && s->series.n >= 2 * LEAST_STEPS ? find_clocked(at, s) : 0;
    if (v->n[SPAN_KERNEL] == 0)
        return CHECK_UNRECORDED;
    if (n_groups == 0 || !find_factors(factor, seen, s, at, n_groups) || !find_lower_clock(is_low, seen, s))
        return CHECK_FINE;
    size_t first = s->series.n, last = 0, n = 0;
    double sum = 0;
    for (size_t t = s->n_startup; t < s->series.n; t++) {
        is_low[t] &= factor[t] >= least_factor;
        if (!is_low[t])
            continue;
        first = first < s->series.n ? first : t;
        last = t;
        sum += factor[t];
        n++;
    }
    if (n < LEAST_STEPS)
        return CHECK_FINE;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        const uint32_t t = s->alone_ns[i] > 0 ? rank_span(v, SPAN_KERNEL, i).step : NO_ROW;
        if (t != NO_ROW && is_low[t])
            finding_lose(s, out, t, s->pays_ns[i] * (1 - 1 / factor[t]));
    }
    const struct names *names = s->rank.names;
    const struct spent_place place = { .begin_ns = s->series.begin_ns[first],
                                       .dur_ns = span_ns(s->series.begin_ns[first], s->series.end_ns[last]) };
    finding_add(s, out, 0, &place, "in step %.60s the factor is %.3f, in step %.60s %.3f",
                names_text(names, s->series.name[first]), factor[first], names_text(names, s->series.name[last]),
                factor[last]);
    finding_say(
        s, out,
        "all kernels take %.2f times as long in steps %.60s to %.60s, by the same factor and with as many blocks: the clock is lower (throttling)",
        sum / (double)n, names_text(names, s->series.name[first]), names_text(names, s->series.name[last]));
    return CHECK_FOUND;
}
