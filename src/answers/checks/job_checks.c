/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/checks/findings.h"
#include "answers/judge/job_peers.h"
#include "base/memory/ascending.h"
#include "base/process/robust.h"
#include "base/text/readable.h"

/* ---- communication that nothing overlaps ----------------------------------------------------------------------- */

/* The row of a step on another rank; NO_ROW: it has no such step. */
static uint32_t step_of(const struct run_member *r, uint32_t at, const char *name)
{
    if (at < r->n && strcmp(r->step[at].name, name) == 0)
        return at;
    for (uint32_t i = 0; i < r->n; i++)
        if (strcmp(r->step[i].name, name) == 0)
            return i;
    return NO_ROW;
}

bool advise_take_waits(struct advise_rank *r, struct arena *mem)
{
    const struct known_waits *w = r->use.knows_waits || !r->comm_ns ? NULL : r->rank.waits;
    const size_t n = r->rank.n > 0 ? r->rank.n : 1;
    double *all_ns = arena_take(mem, n, sizeof *all_ns), *transfer_ns = arena_take(mem, n, sizeof *transfer_ns);
    uint32_t at = 0;
    for (size_t i = 0; all_ns && transfer_ns && w && i < w->n; i++) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)w->at[i].step);
        at = r->rank.n == 0 ? 0 : step_of(&r->rank, at == NO_ROW ? 0 : at, number);
        if (at == NO_ROW)
            continue;
        all_ns[at] += (double)span_ns(w->at[i].begin_ns, w->at[i].end_ns);
        transfer_ns[at] += (double)span_ns(w->at[i].joined_ns, w->at[i].end_ns);
    }
    for (size_t i = 0; all_ns && transfer_ns && w && i < n; i++)
        r->comm_ns[i] *= all_ns[i] > 0 ? transfer_ns[i] / all_ns[i] : 1;
    return all_ns && transfer_ns;
}

static double mean_exposed_ns(const struct advise_rank *r)
{
    double sum = 0;
    const size_t n = r->rank.n > 0 ? r->rank.n : 1;
    for (size_t i = r->n_startup; r->comm_ns && i < n; i++)
        sum += !r->counts || r->counts[i] ? r->comm_ns[i] : 0;
    return sum / (double)r->n_steps;
}

/* Ranks wait for each other in collectives: in each step the rank that waits least has what is transferred. */
static double least_exposed_ns(const struct advise_rank *rank, size_t n, uint32_t first)
{
    const struct advise_rank *of = &rank[first];
    double sum = 0;
    if (of->rank.n == 0)
        return mean_exposed_ns(of);
    for (uint32_t t = (uint32_t)of->n_startup; t < of->rank.n; t++) {
        if (of->counts && !of->counts[t])
            continue;
        double least_ns = of->comm_ns[t];
        for (size_t i = 0; i < n; i++) {
            const uint32_t at =
                rank[i].has_collectives && rank[i].comm_ns ? step_of(&rank[i].rank, t, of->rank.step[t].name) : NO_ROW;
            if (at != NO_ROW && at >= rank[i].n_startup && rank[i].comm_ns[at] < least_ns)
                least_ns = rank[i].comm_ns[at];
        }
        sum += least_ns;
    }
    return sum / (double)of->n_steps;
}

bool check_exposed_communication(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    const double least_share = 0.1;
    uint32_t first = NO_ROW;
    bool is_known = false;
    out->finding.state = CHECK_ELSEWHERE;
    for (uint32_t i = 0; i < n; i++) {
        is_known = is_known || rank[i].has_device;
        if (rank[i].has_collectives && rank[i].comm_ns &&
            (first == NO_ROW || mean_exposed_ns(&rank[i]) < mean_exposed_ns(&rank[first])))
            first = i;
    }
    if (first == NO_ROW) {
        out->finding.state = n > 1 && is_known ? CHECK_FINE : n > 0 ? rank[0].without_collectives : CHECK_ELSEWHERE;
        return true;
    }
    const struct advise_rank *of = &rank[first];
    const double gain_ns = least_exposed_ns(rank, n, first);
    out->finding.state = CHECK_FINE;
    if (gain_ns < least_share * of->step_ns)
        return true;
    const struct use_part *part = &of->use.part[SPENT_TRANSFER];
    char text[300], time[READABLE_MOST];
    snprintf(text, sizeof text, "collectives run for %s %s while nothing computes%s", readable_duration(time, gain_ns),
             of->rank.n > 0 ? "a step" : "in all",
             n > 1                 ? ", on the rank that waits least"
             : of->use.knows_waits ? ""
                                   : "; waiting for other ranks may be part of it");
    out->finding =
        (struct finding){ .state = CHECK_FOUND, .gain_ns = gain_ns, .found = arena_text(mem, text, strlen(text)) };
    for (size_t i = 0; i < part->n && i < EVIDENCE_MOST; i++) {
        snprintf(text, sizeof text, "%.200s: %s on that rank", part->most[i].name,
                 readable_duration(time, part->most[i].ns));
        out->finding.evidence[out->finding.n++] =
            (struct evidence){ .text = arena_text(mem, text, strlen(text)), .ns = part->most[i].ns };
    }
    out->rank = first;
    out->n_ranks = n;
    return out->finding.found != NULL;
}

/* ---- a host that is slow in everything ------------------------------------------------------------------------- */

enum { SAMPLES = 64, LEAST_RUNS = 5 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct host_operator *)a)->name, ((const struct host_operator *)b)->name);
}

bool host_speed_find(struct host_speed *out, const struct checked_rank *s)
{
    const struct rank_spans *v = &s->spans;
    struct job_checks_samples {
        size_t n;
        int64_t ns[SAMPLES];
    };
    uint32_t *place = arena_take(s->spare, names_count(v->names), sizeof *place); /* by name: 1 + its place */
    LIST(struct job_checks_samples *) list = { 0 };
    LIST(name_id) name = { 0 };
    *out = (struct host_speed){ 0 };
    for (size_t i = 0; place && i < v->n[SPAN_OPERATOR]; i++) {
        const struct rank_span x = rank_span(v, SPAN_OPERATOR, i);
        if (!advise_counts(s, x.step))
            continue;
        if (place[x.id] == 0) {
            struct job_checks_samples **new = list_add(&list, s->spare);
            name_id *id = list_add(&name, s->spare);
            if (!new || !id || !(*new = arena_take(s->spare, 1, sizeof **new)))
                return false;
            *id = x.id;
            place[x.id] = (uint32_t)list.n;
        }
        struct job_checks_samples *one = list.at[place[x.id] - 1];
        if (one->n < SAMPLES)
            one->ns[one->n++] = span_ns(x.begin_ns, x.end_ns);
    }
    out->at = arena_take(s->mem, list.n, sizeof *out->at);
    for (size_t i = 0; out->at && i < list.n; i++) {
        struct job_checks_samples *one = list.at[i];
        if (one->n < LEAST_RUNS)
            continue;
        qsort(one->ns, one->n, sizeof *one->ns, compare_i64s);
        const char *text = names_text(v->names, name.at[i]);
        struct host_operator *to = &out->at[out->n++];
        *to = (struct host_operator){ arena_text(s->mem, text, strlen(text)), (double)one->ns[one->n / 2] };
        if (!to->name)
            return false;
    }
    if (out->at && out->n > 1)
        qsort(out->at, out->n, sizeof *out->at, by_name);
    return place && out->at;
}

static double speed_of(const struct host_speed *h, const char *name)
{
    const struct host_operator key = { name, 0 };
    const struct host_operator *x = h->n > 0 ? bsearch(&key, h->at, h->n, sizeof *h->at, by_name) : NULL;
    return x ? x->median_ns : 0;
}

/* What a rank's step spends on the host: idle time of its device, or all of it without a device. */
static double host_part_ns(const struct advise_rank *r)
{
    return r->part_ns[SPENT_HOST] + r->part_ns[SPENT_PYTHON] + r->part_ns[SPENT_RANGE] + r->part_ns[SPENT_NOTHING] +
           (r->has_device ? 0 : r->part_ns[SPENT_OPERATOR]);
}

/* How many of the operators take longer on a rank by `least` than on the middle one of the others, and by how much at
 * the median. */
struct slower {
    size_t n, n_slower;
    double factor;
};

static struct slower compare_host(const struct advise_rank *rank, size_t n, size_t at, double *work, double least)
{
    const struct host_speed *h = &rank[at].host;
    struct slower x = { 0 };
    double *others = work, *ratio = work + n;
    for (size_t i = 0; i < h->n; i++) {
        size_t n_others = 0;
        for (size_t k = 0; k < n; k++) {
            const double ns = k != at ? speed_of(&rank[k].host, h->at[i].name) : 0;
            if (ns > 0)
                others[n_others++] = ns;
        }
        const double usual = lower_median(others, n_others);
        if (!(usual > 0))
            continue;
        ratio[x.n++] = h->at[i].median_ns / usual;
        x.n_slower += h->at[i].median_ns >= least * usual;
    }
    x.factor = lower_median(ratio, x.n);
    return x;
}

bool check_slow_host(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    enum { LEAST_NAMES = 6 };
    const double least_factor = 1.3, least_names = 0.8, least_share = 0.03;
    size_t most = 0;
    out->finding.state = n < 2 ? CHECK_ELSEWHERE : CHECK_UNRECORDED;
    for (size_t i = 0; i < n; i++)
        most = rank[i].host.n > most ? rank[i].host.n : most;
    if (n < 2 || most == 0)
        return true;
    double *work = arena_take(mem, n + most, sizeof *work);
    out->finding.state = CHECK_FINE;
    for (uint32_t i = 0; work && i < n; i++) {
        const struct slower x = compare_host(rank, n, i, work, least_factor);
        if (x.n < LEAST_NAMES || (double)x.n_slower < least_names * (double)x.n)
            continue;
        size_t n_others = 0;
        for (size_t k = 0; k < n; k++)
            if (k != i)
                work[n_others++] = host_part_ns(&rank[k]);
        const double gain_ns = host_part_ns(&rank[i]) - lower_median(work, n_others);
        if (gain_ns < least_share * rank[i].step_ns || gain_ns <= out->finding.gain_ns)
            continue;
        char text[300];
        snprintf(
            text, sizeof text,
            "%zu of %zu operators of the host take at least %.1f times as long as on the other ranks, %.2f times at the median: its whole host is slow",
            x.n_slower, x.n, least_factor, x.factor);
        out->finding =
            (struct finding){ .state = CHECK_FOUND, .gain_ns = gain_ns, .found = arena_text(mem, text, strlen(text)) };
        out->rank = i;
        out->n_ranks = 1;
    }
    return work && (out->finding.state != CHECK_FOUND || out->finding.found);
}

/* The verdict of the judge about ranks: slow in each step, or in turns. */
bool check_slow_rank(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    struct run_member *all = arena_take(mem, n, sizeof *all);
    struct job_steps job;
    if (!all)
        return false;
    size_t n_with_steps = 0;
    for (size_t i = 0; i < n; i++) {
        all[i] = rank[i].rank;
        n_with_steps += all[i].n > 0;
    }
    out->finding.state = n < 2 ? CHECK_ELSEWHERE : n_with_steps < 2 ? CHECK_UNRECORDED : CHECK_FINE;
    if (out->finding.state != CHECK_FINE)
        return true;
    if ((!all->stages && !job_peers_find(all, n, mem)) || !job_judge(&job, all, n, mem))
        return false;
    for (size_t i = 0; i < run_findings(&job.run) && out->finding.state == CHECK_FINE; i++) {
        const struct slow *f = &job.run.of.at[i];
        if (f->shape != SLOW_ALWAYS)
            continue;
        out->finding = (struct finding){ .state = CHECK_FOUND,
                                         .gain_ns = f->excess_ns,
                                         .is_verdict = true,
                                         .found = run_finding_text(&job.run, f, mem) };
        out->rank = f->rank;
        out->n_ranks = 1;
        return out->finding.found != NULL;
    }
    return true;
}
