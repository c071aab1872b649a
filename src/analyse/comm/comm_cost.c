/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include "base/text/table.h"
#include "raw/enums.h"

/* A packet is large if it has more than this many MB. SDMA, the sum over links, has no such limit. */
static const double large_mb[LINK_KINDS] = { [LINK_RDMA] = 0.5, [LINK_HCCS] = 32, [LINK_PCIE] = 32, [LINK_SIO] = 32 };

static bool add_packets(struct link_cost *l, double size_mb, struct packets more, struct arena *mem)
{
    uint64_t bits;
    memcpy(&bits, &size_mb, sizeof bits);
    const uint32_t at = keys_add(&l->sizes, bits, mem);
    if (at == KEYS_NO_MEMORY)
        return false;
    if (at == l->packets.n) {
        struct packets *new = list_add(&l->packets, mem);
        if (!new)
            return false;
        *new = (struct packets){ 0 };
    }
    l->packets.at[at].n += more.n;
    l->packets.at[at].time_ms += more.time_ms;
    return true;
}

static bool add_transit(struct link_cost *l, double size_mb, double time_ms, struct arena *mem)
{
    amount_add(&l->size_mb, (struct amount){ size_mb, true });
    amount_add(&l->time_ms, (struct amount){ time_ms, true });
    return add_packets(l, size_mb, (struct packets){ 1, time_ms }, mem);
}

static enum link_kind kind_of_copy(uint32_t link)
{
    switch (link) {
    case HCCL_LINK_HCCS:
    case HCCL_LINK_HCCS_SW: return LINK_HCCS;
    case HCCL_LINK_PCIE: return LINK_PCIE;
    case HCCL_LINK_SIO: return LINK_SIO;
    default: return LINK_SDMA;
    }
}

static bool is_transit(const struct comm_sorter *s, const struct comm_event *e)
{
    return event_is_copy(s, e) && event_tasks(e)->link[e->row] != HCCL_LINK_ON_CHIP;
}

/* The events of one plane. */
static bool add_plane(struct comm_cost *c, const struct comm_sorter *s, const struct comm_event *e, size_t n,
                      size_t closing)
{
    for (size_t i = 0; i < n;) {
        if (is_transit(s, &e[i])) {
            const struct comm_tasks *t = event_tasks(&e[i]);
            struct link_cost *l = &c->link[kind_of_copy(t->link[e[i].row])];
            if (!add_transit(l, (double)t->size[e[i].row] / 1e6, event_ms(&e[i]), c->mem))
                return false;
        }
        if (!event_is_payload(&e[i])) {
            i++;
            continue;
        }
        const struct payload p = payload_at(e, n, i, closing);
        if (p.is_closed && !add_transit(&c->link[LINK_RDMA], p.size_mb, p.time_ms, c->mem))
            return false;
        i = p.next;
    }
    return true;
}

static void set_ratio(struct amount *out, double part, double rest)
{
    if (part + rest != 0)
        *out = (struct amount){ round_exact(part / (part + rest), 4), true };
}

static void set_ratios(struct comm_cost *c)
{
    set_ratio(&c->wait_ratio, c->wait_ms.value, c->transit_ms.value);
    set_ratio(&c->sync_ratio, c->sync_ms.value, c->transit_ms.value);
}

static void set_rate(struct link_cost *l)
{
    if (l->time_ms.value != 0)
        l->gbs = (struct amount){ round_exact(l->size_mb.value / 1000 / (l->time_ms.value / 1000), 4), true };
}

static void set_rates(struct comm_cost *c)
{
    for (int k = 0; k < LINK_KINDS; k++) {
        struct link_cost *l = &c->link[k];
        uint64_t n = 0, n_large = 0;
        set_rate(l);
        for (size_t i = 0; i < l->packets.n; i++) {
            n += l->packets.at[i].n;
            n_large += packet_size_mb(l, i) > large_mb[k] ? l->packets.at[i].n : 0;
        }
        if (n > 0 && k != LINK_SDMA)
            l->large_ratio = (struct amount){ round_exact((double)n_large / (double)n, 4), true };
    }
}

/* Adds the links that have their own rows to SDMA. They are summed first and added as one number, because the reference
 * shows all digits of the result. */
static void sum_links(struct comm_cost *c)
{
    struct amount size_mb = c->link[LINK_HCCS].size_mb, time_ms = c->link[LINK_HCCS].time_ms;
    amount_add(&size_mb, c->link[LINK_PCIE].size_mb);
    amount_add(&size_mb, c->link[LINK_SIO].size_mb);
    amount_add(&time_ms, c->link[LINK_PCIE].time_ms);
    amount_add(&time_ms, c->link[LINK_SIO].time_ms);
    amount_add(&c->link[LINK_SDMA].size_mb, size_mb);
    amount_add(&c->link[LINK_SDMA].time_ms, time_ms);
}

/* The times of the master plane `e`. Waits before the first transfer are for the other ranks to begin (sync). */
static void time_plane(struct comm_cost *c, const struct comm_sorter *s, const struct comm_event *e, size_t n,
                       size_t closing)
{
    bool has_moved = false;
    for (size_t i = 0; i < n;) {
        if (is_transit(s, &e[i])) {
            has_moved = true;
            amount_add(&c->transit_ms, (struct amount){ event_ms(&e[i]), true });
        }
        if (event_is_payload(&e[i])) {
            const struct payload p = payload_at(e, n, i, closing);
            has_moved |= p.is_closed;
            amount_add(&c->transit_ms, (struct amount){ p.time_ms, p.is_closed });
            i = p.next;
            continue;
        }
        if (event_tasks(&e[i])->name[e[i].row] == s->wait) {
            const struct amount ms = { event_ms(&e[i]), true };
            amount_add(&c->wait_ms, ms);
            if (!has_moved)
                amount_add(&c->sync_ms, ms);
        }
        i++;
    }
    struct event_time early = event_time(e), late = early;
    for (size_t i = 1; i < n; i++) {
        const struct event_time t = event_time(&e[i]);
        early = t.begin_ns < early.begin_ns ? t : early;
        late = t.begin_ns + t.dur_ns > late.begin_ns + late.dur_ns ? t : late;
    }
    c->elapse_ms = (struct amount){ (late.begin_ns + late.dur_ns - early.begin_ns) / 1e6, true };
    c->idle_ms = (struct amount){ c->elapse_ms.value - c->transit_ms.value - c->wait_ms.value, true };
    set_ratios(c);
}

/* The plane of the first task on the master stream. */
static bool find_master(const struct comm_event *e, size_t n, struct comm_cost *c, int32_t *plane)
{
    for (size_t i = 0; i < n; i++) {
        const struct comm_tasks *t = event_tasks(&e[i]);
        if (!t->is_master[e[i].row])
            continue;
        const double begin = event_time(&e[i]).begin_ns;
        if (!c->has_master)
            *plane = t->plane[e[i].row];
        c->begin_ns = !c->has_master || begin < c->begin_ns ? begin : c->begin_ns;
        c->has_master = true;
    }
    return c->has_master;
}

bool comm_cost_fill(struct comm_cost *c, struct comm_sorter *s, struct comm_event *events, size_t n, size_t closing)
{
    int32_t master = 0;
    const bool has_master = find_master(events, n, c, &master);
    if (!comm_sort(s, events, n))
        return false;
    for (size_t k = 0; k + 1 < s->first.n; k++) {
        const struct comm_event *e = events + s->first.at[k];
        const size_t n_here = s->first.at[k + 1] - s->first.at[k];
        if (!add_plane(c, s, e, n_here, closing))
            return false;
        if (has_master && event_tasks(e)->plane[e->row] == master)
            time_plane(c, s, e, n_here, closing);
    }
    sum_links(c);
    set_rates(c);
    return true;
}

bool comm_cost_whole(struct comm_cost *c, double begin_ns, double dur_ns, uint64_t bytes)
{
    const struct amount all = { dur_ns / 1e6, true }, none = { 0, true };
    c->has_master = true;
    c->begin_ns = begin_ns;
    c->elapse_ms = c->transit_ms = all;
    c->wait_ms = c->sync_ms = c->idle_ms = none;
    set_ratios(c);
    if (bytes > 0 && !add_transit(&c->link[LINK_SDMA], (double)bytes / 1e6, all.value, c->mem))
        return false;
    set_rates(c);
    return true;
}

bool comm_cost_add(struct comm_cost *total, const struct comm_cost *c)
{
    amount_add(&total->elapse_ms, c->elapse_ms);
    amount_add(&total->transit_ms, c->transit_ms);
    amount_add(&total->wait_ms, c->wait_ms);
    amount_add(&total->sync_ms, c->sync_ms);
    amount_add(&total->idle_ms, c->idle_ms);
    for (int k = 0; k < LINK_KINDS; k++) {
        const struct link_cost *l = &c->link[k];
        amount_add(&total->link[k].size_mb, l->size_mb);
        amount_add(&total->link[k].time_ms, l->time_ms);
        for (size_t i = 0; i < l->packets.n && k != LINK_SDMA; i++)
            if (!add_packets(&total->link[k], packet_size_mb(l, i), l->packets.at[i], total->mem))
                return false;
    }
    return true;
}

void comm_cost_finish(struct comm_cost *total)
{
    set_ratios(total);
    set_rates(total);
}

void comm_cost_clear(struct comm_cost *c)
{
    struct comm_cost empty = { .mem = c->mem };
    for (int k = 0; k < LINK_KINDS; k++) { /* keep the memory of the lists */
        keys_clear(&c->link[k].sizes);
        empty.link[k].sizes = c->link[k].sizes;
        empty.link[k].packets = c->link[k].packets;
        empty.link[k].packets.n = 0;
    }
    *c = empty;
}
