/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_answer.h"

#include <stdlib.h>

static const double CONSPICUOUS = 1.1; /* times the median, or a part of it */

struct measured {
    int64_t a, b; /* rank, or both ends of a link */
    name_id name; /* of a step, or of a transport */
    double value;
};

static int by_value(const void *a, const void *b)
{
    const struct measured *l = a, *r = b;
    return (l->value > r->value) - (l->value < r->value);
}

static double median_of(const struct measured *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2].value : (sorted[n / 2 - 1].value + sorted[n / 2].value) / 2;
}

/* The time of computing of each rank, over all of its steps. */
static bool answer_rank(const struct cluster_steps *c, struct results *out)
{
    struct measured *rank = arena_take(out->mem, c->rows.n + 1, sizeof *rank);
    size_t n = 0, n_steps = 0;
    if (!rank)
        return false;
    for (size_t i = 0; i < c->rows.n; i++) {
        if (n == 0 || rank[n - 1].a != c->rows.at[i].rank) {
            rank[n++] = (struct measured){ .a = c->rows.at[i].rank };
            n_steps = 0;
        }
        rank[n - 1].value += (c->rows.at[i].us[STEP_COLUMN_COMPUTING] - rank[n - 1].value) / (double)++n_steps;
    }
    if (n < 3)
        return true;
    qsort(rank, n, sizeof *rank, by_value);
    const double median = median_of(rank, n), most = rank[n - 1].value;
    return median <= 0 || most < CONSPICUOUS * median ||
           results_finding(out, "rank %lld computes %.1f us a step, %.2f times the median of all ranks (%.1f us)",
                           (long long)rank[n - 1].a, most, most / median, median);
}

/* The longest rank of each step: computing, communication that nothing covers, and free time. */
static bool answer_step(const struct cluster_steps *c, struct results *out)
{
    struct keys steps = { 0 };
    struct measured *step = arena_take(out->mem, c->rows.n + 1, sizeof *step);
    if (!step)
        return false;
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct step_row *row = &c->rows.at[i];
        const double us = row->us[STEP_COLUMN_COMPUTING] + row->us[STEP_COLUMN_EXPOSED] + row->us[STEP_COLUMN_FREE];
        const uint32_t at = keys_add(&steps, row->step, out->mem);
        if (at == KEYS_NO_MEMORY)
            return false;
        step[at].name = row->step;
        step[at].value = us > step[at].value ? us : step[at].value;
    }
    const size_t n = steps.key.n;
    if (n < 3)
        return true;
    qsort(step, n, sizeof *step, by_value);
    const double median = median_of(step, n), most = step[n - 1].value;
    return median <= 0 || most < CONSPICUOUS * median ||
           results_finding(out, "step %s takes %.1f us, %.2f times the median step (%.1f us)",
                           names_text(c->names, step[n - 1].name), most, most / median, median);
}

bool answer_steps(const struct cluster_steps *c, struct results *out)
{
    return answer_rank(c, out) && answer_step(c, out);
}

static int by_name(const void *a, const void *b)
{
    const struct measured *l = a, *r = b;
    return l->name != r->name ? (l->name < r->name ? -1 : 1) : by_value(a, b);
}

struct link_sums {
    double mb, ms;
};

/* Links of one transport by what they carried per time, in all steps and groups. */
bool answer_links(const struct job_links *l, const struct names *names, struct results *out)
{
    struct tuples keys = { 0 };
    LIST(struct link_sums) sums = { 0 };
    for (size_t i = 0; i < l->list.n; i++) {
        const struct job_link *k = &l->list.at[i];
        if (!k->is_total || k->src == k->dst || k->src < 0 || k->ms <= 0)
            continue;
        const uint32_t at =
            tuple_add(&keys, (uint32_t[]){ k->transport, (uint32_t)k->src, (uint32_t)k->dst }, 3, out->mem);
        if (at == KEYS_NO_MEMORY || (at == sums.n && !list_add(&sums, out->mem)))
            return false;
        sums.at[at].mb += k->mb;
        sums.at[at].ms += k->ms;
    }
    struct measured *link = arena_take(out->mem, sums.n + 1, sizeof *link);
    if (!link)
        return false;
    for (uint32_t i = 0; i < sums.n; i++) {
        uint32_t part[3];
        tuple_parts(&keys, i, part, 3);
        link[i] = (struct measured){ part[1], part[2], part[0], sums.at[i].mb / sums.at[i].ms };
    }
    qsort(link, sums.n, sizeof *link, by_name);
    for (size_t first = 0, n; first < sums.n; first += n) {
        for (n = 1; first + n < sums.n && link[first + n].name == link[first].name;)
            n++;
        const double median = median_of(link + first, n), least = link[first].value;
        if (n >= 3 && least * CONSPICUOUS < median &&
            !results_finding(out, "link %lld-%lld (%s) carries %.2f GB/s, %.2f of the median of its kind (%.2f GB/s)",
                             (long long)link[first].a, (long long)link[first].b, names_text(names, link[first].name),
                             least, least / median, median))
            return false;
    }
    return true;
}
