/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <math.h>
#include <stdlib.h>

#include "answers/checks/findings.h"
#include "base/text/readable.h"
#include "raw/enums.h"

/* Whether a task of a collective is a transfer over a link, in a step that counts. */
static bool is_transfer(const struct checked_rank *s, size_t i)
{
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    return t->begin_ns[i] >= s->from_ns && t->has_info[i] && t->moved_bytes[i] > 0 && t->moved_ns[i] > 0 &&
           t->src_rank[i] != t->dst_rank[i] &&
           (t->transport[i] == TRANSPORT_SDMA || t->transport[i] == TRANSPORT_RDMA) && t->link[i] != HCCL_LINK_ON_CHIP;
}

static struct spent_place place_of_transfer(const struct checked_rank *s, size_t i)
{
    const struct comm_ops *o = &s->rank.device->comm.ops;
    const uint32_t op = s->rank.device->comm.tasks.op[i];
    return (struct spent_place){ .track = SHOWN_COMMUNICATION,
                                 .group = names_text(s->rank.profile->names, o->group[op]),
                                 .event = names_text(s->rank.profile->names, o->name[op]),
                                 .begin_ns = o->begin_ns[op],
                                 .dur_ns = (int64_t)o->dur_ns[op] };
}

/* Transfers over several links run at the same time, and beside computing. The estimate: what saves a part of their
 * total time saves the same part of the time that a step spends on transfers alone. */
static double gain_factor(const struct checked_rank *s)
{
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    double all_ns = 0, step_ns = 0;
    for (size_t i = 0; i < t->n; i++)
        all_ns += is_transfer(s, i) ? t->moved_ns[i] : 0;
    for (size_t i = 0; i < s->mean.n; i++)
        step_ns += s->mean.at[i].kind == SPENT_TRANSFER ? s->mean.at[i].ns : 0;
    return all_ns > 0 ? step_ns / all_ns : 0;
}

/* A collective without transfers: these were not recorded. */
static enum check_state state_without_transfers(const struct checked_rank *s)
{
    return s->spans.n[SPAN_COLLECTIVE] > 0 || (s->rank.device && s->rank.device->comm.ops.n > 0)
               ? CHECK_UNRECORDED
               : state_without_collectives(s);
}

static bool has_transfers(const struct checked_rank *s)
{
    const struct comm_tasks *t = s->rank.device ? &s->rank.device->comm.tasks : NULL;
    for (size_t i = 0; t && i < t->n; i++)
        if (is_transfer(s, i))
            return true;
    return false;
}

/* Sums over some transfers. */
struct moved {
    uint64_t n;
    double bytes, ns;
    uint32_t slowest; /* row of the longest */
    double slowest_ns;
};

static void moved_add(struct moved *m, const struct comm_tasks *t, size_t i)
{
    m->n++;
    m->bytes += t->moved_bytes[i];
    m->ns += t->moved_ns[i];
    if (t->moved_ns[i] > m->slowest_ns) {
        m->slowest_ns = t->moved_ns[i];
        m->slowest = (uint32_t)i;
    }
}

static double gbs(const struct moved *m)
{
    return m->ns > 0 ? m->bytes / m->ns : 0;
}

/* How much less time slow transfers would take with the bandwidth of the fast ones. */
static double saved_ns(const struct moved *slow, const struct moved *fast)
{
    const double saved = slow->n > 0 && fast->n > 0 ? slow->ns - slow->bytes / gbs(fast) : 0;
    return saved > 0 ? saved : 0;
}

enum check_state check_small_packets(const struct checked_rank *s, struct finding *out)
{
    static const struct {
        uint32_t transport;
        const char *name;
        double small_bytes;
    } kind[] = { { TRANSPORT_SDMA, "SDMA", 16e6 }, { TRANSPORT_RDMA, "RDMA", 1e6 } };
    enum { KINDS = sizeof kind / sizeof *kind };
    const double least_share = 0.2;
    if (!has_transfers(s))
        return state_without_transfers(s);
    const double factor = gain_factor(s);
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    uint64_t n_small = 0;
    for (int k = 0; k < KINDS; k++) {
        struct moved small = { 0 }, large = { 0 };
        for (size_t i = 0; i < t->n; i++)
            if (is_transfer(s, i) && t->transport[i] == kind[k].transport)
                moved_add(t->moved_bytes[i] < kind[k].small_bytes ? &small : &large, t, i);
        const double share = small.n > 0 ? (double)small.n / (double)(small.n + large.n) : 0,
                     saved = saved_ns(&small, &large);
        if (share < least_share || !(saved > 0))
            continue;
        const double gain = factor * saved;
        const struct spent_place place = place_of_transfer(s, small.slowest);
        n_small += small.n;
        out->gain_ns += gain;
        finding_add(s, out, gain, &place,
                    "%s: %.0f %% of the transfers are below %.0f MB and reach %.2f GB/s; larger ones reach %.2f GB/s",
                    kind[k].name, 100 * share, kind[k].small_bytes / 1e6, gbs(&small), gbs(&large));
    }
    char count[READABLE_MOST];
    const bool is_one = n_small == s->n_steps;
    finding_say(s, out, "%s transfer%s %s %s small, and slower than large ones over the same kind of link",
                readable_runs(count, (double)n_small / (double)s->n_steps), is_one ? "" : "s", s->per,
                is_one ? "is" : "are");
    return CHECK_FOUND;
}

/* Unaligned transfers are compared with aligned ones of the same size class, because larger transfers are faster
 * anyway. */
enum check_state check_byte_alignment(const struct checked_rank *s, struct finding *out)
{
    enum { LINE = 512, CLASSES = 64 };
    struct moved odd[CLASSES] = { 0 }, even[CLASSES] = { 0 };
    uint64_t n_odd = 0, n = 0;
    if (!has_transfers(s))
        return state_without_transfers(s);
    const double factor = gain_factor(s);
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    for (size_t i = 0; i < t->n; i++) {
        if (!is_transfer(s, i) || t->transport[i] != TRANSPORT_SDMA || t->size[i] <= LINE)
            continue;
        const int class = 63 - __builtin_clzll(t->size[i]);
        moved_add(t->size[i] % LINE ? &odd[class] : &even[class], t, i);
        n_odd += t->size[i] % LINE != 0;
        n++;
    }
    for (int c = 0; c < CLASSES; c++) {
        const double saved = saved_ns(&odd[c], &even[c]);
        if (!(saved > 0))
            continue;
        const double gain = factor * saved;
        const struct spent_place place = place_of_transfer(s, odd[c].slowest);
        out->gain_ns += gain;
        finding_add(
            s, out, gain, &place,
            "of %.0f to %.0f KiB: %llu transfers whose size is not a multiple of 512 bytes reach %.2f GB/s, %llu others %.2f GB/s",
            ldexp(1, c - 10), ldexp(1, c - 9), (unsigned long long)odd[c].n, gbs(&odd[c]),
            (unsigned long long)even[c].n, gbs(&even[c]));
    }
    finding_say(
        s, out,
        "%llu of %llu SDMA transfers %s a size that is not a multiple of 512 bytes, and %s slower than others of %s size",
        (unsigned long long)n_odd, (unsigned long long)n, n_odd == 1 ? "has" : "have", n_odd == 1 ? "is" : "are",
        n_odd == 1 ? "its" : "their");
    return CHECK_FOUND;
}

struct comm_checks_link {
    name_id group;
    uint32_t source, destination, transport, kind;
    struct moved moved;
};

static int by_link(const void *a, const void *b)
{
    const struct comm_checks_link *x = a, *y = b;
    const int64_t difference[] = { (int64_t)x->transport - y->transport, (int64_t)x->kind - y->kind,
                                   (int64_t)x->group - y->group, (int64_t)x->source - y->source,
                                   (int64_t)x->destination - y->destination };
    for (size_t i = 0; i < sizeof difference / sizeof *difference; i++)
        if (difference[i] != 0)
            return difference[i] < 0 ? -1 : 1;
    return x->moved.slowest < y->moved.slowest
               ? -1
               : x->moved.slowest > y->moved.slowest; /* then in the order of the recording */
}

static int by_speed(const void *a, const void *b)
{
    const double x = gbs(*(struct moved *const *)a), y = gbs(*(struct moved *const *)b);
    return (x > y) - (x < y);
}

/* Judges the links of one transport and kind, which begin at `first`: slow ones have less than half of the median
 * bandwidth. Returns where the next kind begins. */
static size_t look_at_kind(const struct checked_rank *s, struct finding *out, struct comm_checks_link *link,
                           size_t first, size_t n, struct moved **order, double factor)
{
    enum { LEAST_LINKS = 3 };
    size_t end = first;
    for (; end < n && link[end].transport == link[first].transport && link[end].kind == link[first].kind; end++)
        order[end - first] = &link[end].moved;
    if (end - first < LEAST_LINKS)
        return end;
    qsort(order, end - first, sizeof *order, by_speed);
    const struct moved *middle = order[(end - first) / 2];
    for (size_t i = first; i < end; i++) {
        struct comm_checks_link *l = &link[i];
        const double saved = gbs(&l->moved) < gbs(middle) / 2 ? saved_ns(&l->moved, middle) : 0;
        if (!(saved > 0))
            continue;
        const double gain = factor * saved;
        const char *transport = l->transport == TRANSPORT_RDMA ? "RDMA" : enum_text(&hccl_links, l->kind);
        const struct spent_place place = place_of_transfer(s, l->moved.slowest);
        out->gain_ns += gain;
        finding_add(s, out, gain, &place,
                    "link %u -> %u of group %.100s (%s): %.2f GB/s, the median link of its kind %.2f GB/s", l->source,
                    l->destination, names_text(s->rank.profile->names, l->group), transport ? transport : "SDMA",
                    gbs(&l->moved), gbs(middle));
        if (gain >= out->evidence[0].ns)
            finding_say(s, out,
                        "link %u -> %u of group %.100s has %.0f %% of the bandwidth of the median link of its kind",
                        l->source, l->destination, names_text(s->rank.profile->names, l->group),
                        100 * gbs(&l->moved) / gbs(middle));
    }
    return end;
}

enum check_state check_slow_link(const struct checked_rank *s, struct finding *out)
{
    if (!has_transfers(s))
        return state_without_transfers(s);
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    struct comm_checks_link *link = arena_take(s->spare, t->n, sizeof *link);
    struct moved **order = arena_take(s->spare, t->n, sizeof *order);
    size_t n = 0, n_links = 0;
    if (!link || !order)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < t->n; i++)
        if (is_transfer(s, i)) {
            link[n] = (struct comm_checks_link){ t->group[i],     t->src_rank[i], t->dst_rank[i],
                                                 t->transport[i], t->link[i],     { 0 } };
            moved_add(&link[n++].moved, t, i);
        }
    if (n > 0)
        qsort(link, n, sizeof *link, by_link);
    for (size_t i = 0; i < n; i++) {
        struct comm_checks_link *before = n_links > 0 ? &link[n_links - 1] : NULL, now = link[i];
        if (before && before->transport == now.transport && before->kind == now.kind && before->group == now.group &&
            before->source == now.source && before->destination == now.destination)
            moved_add(&before->moved, t, now.moved.slowest);
        else
            link[n_links++] = now;
    }
    const double factor = gain_factor(s);
    for (size_t i = 0; i < n_links;)
        i = look_at_kind(s, out, link, i, n_links, order, factor);
    return CHECK_FOUND;
}

enum check_state check_retransmission(const struct checked_rank *s, struct finding *out)
{
    const double timeout_ns = 4e9; /* after this time a network adapter sends a lost packet again */
    if (!has_transfers(s))
        return state_without_transfers(s);
    const struct comm_tasks *t = &s->rank.device->comm.tasks;
    struct moved late = { 0 }, others = { 0 };
    for (size_t i = 0; i < t->n; i++)
        if (is_transfer(s, i) && t->transport[i] == TRANSPORT_RDMA) {
            const bool is_late = t->dur_ns[i] > timeout_ns;
            moved_add(is_late ? &late : &others, t, i);
            if (!is_late)
                continue;
            const struct spent_place place = place_of_transfer(s, i);
            finding_add(s, out, t->dur_ns[i] / (double)s->n_steps, &place, "rank %u -> %u: %.3f s for %.3f MB",
                        t->src_rank[i], t->dst_rank[i], t->dur_ns[i] / 1e9, t->moved_bytes[i] / 1e6);
        }
    if (late.n == 0)
        return CHECK_FINE;
    const double usual_ns = others.n > 0 ? others.ns / (double)others.n * (double)late.n : 0;
    out->gain_ns = gain_factor(s) * (late.ns > usual_ns ? late.ns - usual_ns : 0);
    finding_say(s, out, "%llu RDMA transfer%s took more than 4 s, the time after which a lost packet is retransmitted",
                (unsigned long long)late.n, late.n == 1 ? "" : "s");
    return CHECK_FOUND;
}
