/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include "analyse/comm/comm_events.h"
#include "base/memory/sort.h"
#include "raw/enums.h"

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
