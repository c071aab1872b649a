/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include "analyse/comm/comm_events.h"
#include "base/memory/sort.h"
#include "base/text/table.h"
#include "raw/enums.h"

static const uint32_t NO_RANK = UINT32_MAX;

struct amount link_gbs(const struct comm_link *l)
{
    if (l->time_ms == 0)
        return (struct amount){ 0 };
    return (struct amount){ round_exact(l->size_mb / l->time_ms, 4), true };
}

static bool add(struct comm_links *l, uint64_t pair, struct comm_link more)
{
    const uint32_t at = keys_add(&l->pairs, pair, l->mem);
    if (at == KEYS_NO_MEMORY)
        return false;
    if (at == l->link.n) {
        struct comm_link *new = list_add(&l->link, l->mem);
        if (!new)
            return false;
        *new = (struct comm_link){ 0 };
    }
    l->link.at[at].transport = more.transport; /* that of the last task */
    l->link.at[at].size_mb += more.size_mb;
    l->link.at[at].time_ms += more.time_ms;
    return true;
}

/* Copies on the chip itself have no other rank. */
static uint64_t pair_of(const struct comm_event *e)
{
    const uint32_t from = event_tasks(e)->src_rank[e->row], to = event_tasks(e)->dst_rank[e->row];
    return (uint64_t)from << 32 | (to == NO_RANK ? from : to);
}

static const char *transport_of_copy(uint32_t link)
{
    switch (link) {
    case HCCL_LINK_ON_CHIP: return "LOCAL";
    case HCCL_LINK_HCCS:
    case HCCL_LINK_HCCS_SW: return "HCCS";
    case HCCL_LINK_PCIE: return "PCIE";
    case HCCL_LINK_SIO: return "SIO";
    default: return NULL;
    }
}

static const char *transport_of_payload(uint32_t transport)
{
    return transport == TRANSPORT_RDMA ? "RDMA" : transport == TRANSPORT_LOCAL ? "LOCAL" : NULL;
}

static bool add_plane(struct comm_links *l, const struct comm_sorter *s, const struct comm_event *e, size_t n,
                      size_t closing)
{
    for (size_t i = 0; i < n;) {
        const struct comm_tasks *t = event_tasks(&e[i]);
        const uint32_t row = e[i].row;
        const bool has_ranks = t->has_info[row] && t->src_rank[row] != NO_RANK;
        if (has_ranks && event_is_copy(s, &e[i]) &&
            !add(l, pair_of(&e[i]),
                 (struct comm_link){ transport_of_copy(t->link[row]), (double)t->size[row] / 1e6, event_ms(&e[i]) }))
            return false;
        if (!has_ranks || !event_is_payload(&e[i])) {
            i++;
            continue;
        }
        const struct payload p = payload_at(e, n, i, closing);
        if (p.is_closed && !add(l, pair_of(&e[i]),
                                (struct comm_link){ transport_of_payload(t->transport[row]), p.size_mb, p.time_ms }))
            return false;
        i = p.next;
    }
    return true;
}

bool comm_links_fill(struct comm_links *l, struct comm_sorter *s, struct comm_event *events, size_t n, size_t closing)
{
    if (!comm_sort(s, events, n))
        return false;
    for (size_t k = 0; k + 1 < s->first.n; k++)
        if (!add_plane(l, s, events + s->first.at[k], s->first.at[k + 1] - s->first.at[k], closing))
            return false;
    return true;
}

bool comm_links_add(struct comm_links *total, const struct comm_links *l)
{
    for (size_t i = 0; i < l->link.n; i++)
        if (!add(total, l->pairs.key.at[i], l->link.at[i]))
            return false;
    return true;
}

void comm_links_clear(struct comm_links *l)
{
    keys_clear(&l->pairs);
    l->link.n = 0;
}

/* The bandwidth of a task that is not part of a payload: its bytes by its duration. As in the reference, a size that
 * the host did not record counts as -1. */
static void move_alone(struct comm_tasks *t, uint32_t row)
{
    t->is_piece[row] = false;
    t->moved_bytes[row] = t->has_info[row] ? (double)t->size[row] : -1;
    t->moved_ns[row] = t->has_info[row] || !t->is_aicpu[row] ? t->dur_ns[row] : 0;
}

/* An RDMA payload is sent in pieces and lasts until the task that closes it (comm_closing()). All pieces have the
 * bandwidth of the payload. `row`: the tasks of one operator on one plane, by begin. */
static void move_together(struct comm_tasks *t, const uint32_t *row, size_t n, size_t closing)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && t->rdma[row[end]] == RDMA_SEND_PAYLOAD)
            end++;
        const size_t last = end + closing - 2;
        if (end == i || last >= n) {
            for (end += end == i; i < end; i++)
                move_alone(t, row[i]);
            continue;
        }
        double bytes = 0;
        for (size_t k = i; k < end; k++)
            bytes += (double)t->size[row[k]];
        const double ns = (double)(t->begin_ns[row[last]] - t->begin_ns[row[i]]) + t->dur_ns[row[last]];
        for (; i < end; i++) {
            t->is_piece[row[i]] = true;
            t->moved_bytes[row[i]] = bytes;
            t->moved_ns[row[i]] = ns;
        }
    }
}

bool comm_bandwidths(const struct profile *p, struct communication *c, struct arena *mem)
{
    struct comm_tasks *t = &c->tasks;
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    uint64_t *key = arena_take(mem, t->n, sizeof *key);
    if (!order || !key)
        return false;
    order_fill(order, t->n);
    for (size_t i = 0; i < t->n; i++)
        key[i] = (uint64_t)t->op[i] << 32 | (uint32_t)t->plane[i];
    if (!order_by_u64(order, t->n, key))
        return false;
    for (size_t i = 0; i < t->n;) {
        size_t end = i;
        while (end < t->n && key[order[end]] == key[order[i]])
            end++;
        const char *name = names_text(p->names, c->ops.name[t->op[order[i]]]);
        move_together(t, order + i, end - i, comm_closing(name));
        i = end;
    }
    return true;
}
