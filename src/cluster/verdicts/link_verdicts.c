/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/robust.h"
#include "base/text/readable.h"

enum {
    SHOWN = 6,
    EXACT = 256, /* uses of a kind: in larger ones a pair of ranks does not move the median */
    LEAST_SLOW = 3,
};

/* Limits: docs/cluster.md. */
static const double SLOW = 0.7;      /* of the median of the kind, in the middle of the link's uses */
static const double VERY_SLOW = 0.5; /* in a part of them that is at least */
static const double SLOW_USES = 0.02;
static const double DEVIATIONS = 5;

static bool is_total(const char *op)
{
    const char *const end = strrchr(op, '-');
    return end && strcmp(end, "-total") == 0;
}

/* Sizes within some 9 % are equal. */
static uint32_t size_class(double mb)
{
    return (uint32_t)llrint(fmax(0, log2(mb) * 8 + 1000));
}

bool link_verdicts_add(struct link_verdicts *l, const struct rank_summary *s, const struct cluster_options *o)
{
    const struct rank_comm_matrix *const m = &s->comm_matrix;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "step%lld", (long long)o->step);
    for (size_t i = 0; i < m->n; i++) {
        if (!(m->transit_ms[i] > 0) || !(m->transit_mb[i] > 0) || m->src[i] == m->dst[i] || m->src[i] < 0 ||
            m->dst[i] < 0 || m->src[i] > INT32_MAX || m->dst[i] > INT32_MAX ||
            !is_total(names_text(l->names, m->op[i])) ||
            (o->has_step && strcmp(names_text(l->names, m->step[i]), wanted) != 0))
            continue;
        const uint32_t part[] = { m->op[i], m->transport[i], size_class(m->transit_mb[i]) };
        const uint32_t kind = tuple_add(&l->kinds, part, 3, l->mem);
        struct link_use *const use = list_add(&l->uses, l->mem);
        if (kind == KEYS_NO_MEMORY || !use)
            return false;
        *use = (struct link_use){ kind,
                                  m->transport[i],
                                  m->group[i],
                                  (uint32_t)m->src[i],
                                  (uint32_t)m->dst[i],
                                  m->transit_mb[i] / m->transit_ms[i],
                                  m->transit_ms[i] };
    }
    return true;
}

/* A use of a link between two ranks of the job, compared with its kind. */
struct judged_use {
    uint32_t kind;
    name_id transport;
    int64_t src, dst;
    double gbs, ms, share, reference; /* share: of the reference; NAN: there is none */
};

static int by_kind(const void *a, const void *b)
{
    const struct judged_use *x = a, *y = b;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : (x->gbs > y->gbs) - (x->gbs < y->gbs);
}

static int by_link(const void *a, const void *b)
{
    const struct judged_use *x = a, *y = b;
    if (x->transport != y->transport)
        return x->transport < y->transport ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return (x->share > y->share) - (x->share < y->share);
}

static bool is_same_pair(const struct judged_use *a, const struct judged_use *b)
{
    return (a->src == b->src && a->dst == b->dst) || (a->src == b->dst && a->dst == b->src);
}

/* The median bandwidth of the uses of other pairs of ranks. `use` has all uses of the kind in ascending order. */
static double others_median(const struct judged_use *use, size_t n, const struct judged_use *own)
{
    size_t n_others = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        n_others += !is_same_pair(&use[i], own);
    for (size_t i = 0; i < n && n_others > 0; i++)
        if (!is_same_pair(&use[i], own) && at++ == n_others / 2)
            return use[i].gbs;
    return NAN;
}

static void judge_kind(struct judged_use *use, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        use[i].reference = n <= EXACT ? others_median(use, n, &use[i]) : use[n / 2].gbs;
        use[i].share = use[i].gbs / use[i].reference;
    }
}

/* A link, judged by all of its uses. */
struct judged_link {
    name_id transport;
    int64_t src, dst;
    size_t n, n_slow;
    double share, slow_share, reference, gbs;
    double lost_ms;        /* beyond what its transfers would take on a link of its kind; they may run beside others */
    bool is_slow, is_both; /* is_both: the other direction is slow, too */
};

static struct judged_link judge_link(const struct judged_use *use, size_t n, const struct middle *usual)
{
    struct judged_link l = { .transport = use->transport, .src = use->src, .dst = use->dst };
    for (; l.n < n && !isinf(use[l.n].share); l.n++)
        l.lost_ms += use[l.n].share < 1 ? use[l.n].ms * (1 - use[l.n].share) : 0;
    if (l.n == 0)
        return l;
    while (l.n_slow < l.n && use[l.n_slow].share < VERY_SLOW)
        l.n_slow++;
    const struct judged_use *const middle = &use[(l.n - 1) / 2];
    l.share = middle->share;
    l.reference = middle->reference;
    l.gbs = middle->gbs;
    l.slow_share = l.n_slow > 0 ? use[(l.n_slow - 1) / 2].share : 1;
    l.is_slow = (l.share < SLOW && usual->median - l.share > DEVIATIONS * usual->deviation) ||
                (l.n_slow >= LEAST_SLOW && (double)l.n_slow >= SLOW_USES * (double)l.n);
    return l;
}

/* Those that cost most first. */
static int by_lost(const void *a, const void *b)
{
    const struct judged_link *x = a, *y = b;
    if (x->lost_ms != y->lost_ms)
        return x->lost_ms > y->lost_ms ? -1 : 1;
    return x->src != y->src ? (x->src < y->src ? -1 : 1) : (x->dst > y->dst) - (x->dst < y->dst);
}

/* Joins both directions of a link into one entry, that from the smaller rank. */
static size_t join_directions(struct judged_link *link, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept &&
               !(link[k].src == link[i].dst && link[k].dst == link[i].src && link[k].transport == link[i].transport))
            k++;
        if (k < kept && (link[k].share < SLOW) == (link[i].share < SLOW)) {
            link[k].is_both = true;
            link[k].lost_ms += link[i].lost_ms;
        } else {
            link[kept++] = link[i];
        }
    }
    return kept;
}

static bool accuse(const struct link_verdicts *l, const struct judged_link *link, struct job_report *out)
{
    char text[340], lost[READABLE_MOST];
    const bool is_always = link->share < SLOW;
    readable_duration(lost, link->lost_ms * 1e6);
    const char *const transport = names_text(l->names, link->transport);
    if (is_always)
        snprintf(
            text, sizeof text,
            "link %lld-%lld (%.40s)%s carries %.0f %% of the bandwidth of its kind: %.2f instead of %.2f GB/s, up to "
            "%s longer in all",
            (long long)link->src, (long long)link->dst, transport, link->is_both ? ", in both directions," : "",
            100 * link->share, link->gbs, link->reference, lost);
    else
        snprintf(
            text, sizeof text,
            "link %lld-%lld (%.40s)%s carries %.0f %% of the bandwidth of its kind in %.1f %% of its uses, up to %s "
            "longer in all",
            (long long)link->src, (long long)link->dst, transport, link->is_both ? ", in both directions," : "",
            100 * link->slow_share, 100 * (double)link->n_slow / (double)link->n, lost);
    return verdict_add(out, &(struct verdict){ .kind = VERDICT_SLOW_LINK,
                                               .text = text,
                                               .rank = link->src,
                                               .other = link->dst,
                                               .ratio = is_always ? link->share : link->slow_share,
                                               .ms = link->lost_ms });
}

/* Judges each link by its uses, which follow each other, and reports the slow ones. */
static bool judge_links(struct link_verdicts *l, const struct judged_use *use, size_t n, const struct middle *usual,
                        struct job_report *out)
{
    LIST(struct judged_link) slow = { 0 };
    bool done = true;
    for (size_t from = 0, end; done && from < n; from = end) {
        for (end = from + 1; end < n && use[end].src == use[from].src && use[end].dst == use[from].dst &&
                             use[end].transport == use[from].transport;)
            end++;
        const struct judged_link link = judge_link(use + from, end - from, usual);
        struct judged_link *const new = link.is_slow ? list_add(&slow, l->mem) : NULL;
        if (new)
            *new = link;
        done = !link.is_slow || new;
    }
    if (slow.n > 0 && slow.n <= EXACT)
        slow.n = join_directions(slow.at, slow.n);
    if (slow.n > 0)
        qsort(slow.at, slow.n, sizeof *slow.at, by_lost);
    for (size_t i = 0; done && i < slow.n && i < SHOWN; i++)
        done = accuse(l, &slow.at[i], out);
    if (done && slow.n > SHOWN) {
        char text[120];
        snprintf(text, sizeof text, "and %zu more %s; -m slow_link lists them", slow.n - SHOWN,
                 slow.n - SHOWN == 1 ? "link is slower than its kind" : "links are slower than their kind");
        done = verdict_add(out, &(struct verdict){ .kind = VERDICT_SLOW_LINK, .text = text, .rank = -1, .other = -1 });
    }
    return done;
}

bool link_verdicts_finish(struct link_verdicts *l, const struct groups *g, struct job_report *out)
{
    struct judged_use *const use = arena_take(l->mem, l->uses.n + 1, sizeof *use);
    double *const share = arena_take(l->mem, l->uses.n + 1, sizeof *share);
    size_t n = 0, n_shares = 0;
    if (!use || !share)
        return false;
    for (size_t i = 0; i < l->uses.n; i++) {
        const struct link_use *const u = &l->uses.at[i];
        const int64_t src = groups_global(g, u->group, u->src), dst = groups_global(g, u->group, u->dst);
        if (src >= 0 && dst >= 0)
            use[n++] = (struct judged_use){ u->kind, u->transport, src, dst, u->gbs, u->ms, NAN, NAN };
    }
    if (n == 0)
        return true;
    out->has_compared |= n > 1;
    qsort(use, n, sizeof *use, by_kind);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && use[end].kind == use[from].kind;)
            end++;
        judge_kind(use + from, end - from);
    }
    for (size_t i = 0; i < n; i++)
        if (!isnan(use[i].share))
            share[n_shares++] = use[i].share;
    const struct middle usual = middle_of(share, n_shares);
    for (size_t i = 0; i < n; i++)
        use[i].share = isnan(use[i].share) ? INFINITY : use[i].share; /* so that they are sorted to the end */
    qsort(use, n, sizeof *use, by_link);
    return judge_links(l, use, n, &usual, out);
}
