/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory/sort.h"
#include "export/lanes.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* The slices of all tables, numbered one table after the other. */
struct framework_lanes_slices {
    const int64_t *begin_ns[SLICES_KINDS], *end_ns[SLICES_KINDS];
    const uint32_t *process[SLICES_KINDS], *thread[SLICES_KINDS];
    size_t first[SLICES_KINDS + 1];
    uint64_t *begin; /* with the sign bit flipped, so that they sort as unsigned */
    uint32_t *order; /* by begin, of equal ones the longer first */
};

static void slices_add(struct framework_lanes_slices *s, enum thread_slices kind, size_t n, const int64_t *begin_ns,
                       const int64_t *end_ns, const uint32_t *process, const uint32_t *thread)
{
    s->begin_ns[kind] = begin_ns;
    s->end_ns[kind] = end_ns;
    s->process[kind] = process;
    s->thread[kind] = thread;
    s->first[kind + 1] = s->first[kind] + n;
}

static enum thread_slices framework_lanes_kind_of(const struct framework_lanes_slices *s, size_t i)
{
    enum thread_slices kind = 0;
    while (i >= s->first[kind + 1])
        kind++;
    return kind;
}

static int64_t framework_lanes_end_of(const struct framework_lanes_slices *s, size_t i)
{
    const enum thread_slices kind = framework_lanes_kind_of(s, i);
    return s->end_ns[kind][i - s->first[kind]];
}

/* Sorts n slices that begin together, the longer ones first: an outer slice comes before those inside it. */
static bool order_together(struct framework_lanes_slices *s, size_t first, size_t n, struct arena *mem)
{
    enum { FEW = 32 };
    uint32_t *order = s->order + first;
    if (n > FEW) { /* only in damaged files; the insertion sort below would be quadratic */
        uint64_t *end = arena_take(mem, n, sizeof *end);
        uint32_t *by_end = arena_take(mem, n, sizeof *by_end), *copy = arena_take(mem, n, sizeof *copy);
        if (!end || !by_end || !copy)
            return false;
        for (size_t i = 0; i < n; i++)
            end[i] = ~((uint64_t)framework_lanes_end_of(s, order[i]) ^ SIGN);
        order_fill(by_end, n);
        if (!order_by_u64(by_end, n, end))
            return false;
        order_apply(copy, order, by_end, n, sizeof *copy);
        for (size_t i = 0; i < n; i++)
            order[i] = copy[i];
        return true;
    }
    for (size_t i = 1; i < n; i++) {
        const uint32_t moved = order[i];
        const int64_t end_ns = framework_lanes_end_of(s, moved);
        size_t k = i;
        for (; k > 0 && framework_lanes_end_of(s, order[k - 1]) < end_ns; k--)
            order[k] = order[k - 1];
        order[k] = moved;
    }
    return true;
}

static bool slices_order(struct framework_lanes_slices *s, struct arena *mem)
{
    const size_t n = s->first[SLICES_KINDS];
    s->begin = arena_take(mem, n, sizeof *s->begin);
    s->order = arena_take(mem, n, sizeof *s->order);
    if (!s->begin || !s->order)
        return false;
    for (size_t kind = 0; kind < SLICES_KINDS; kind++)
        for (size_t i = s->first[kind]; i < s->first[kind + 1]; i++)
            s->begin[i] = (uint64_t)s->begin_ns[kind][i - s->first[kind]] ^ SIGN;
    order_fill(s->order, n);
    bool done = order_by_u64(s->order, n, s->begin);
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && s->begin[s->order[end]] == s->begin[s->order[i]];)
            end++;
        done = end == i + 1 || order_together(s, i, end - i, mem);
    }
    return done;
}

static bool framework_lanes_place(const struct framework_lanes_slices *s, struct framework_lanes *out,
                                  struct lanes *lanes, struct arena *mem)
{
    for (size_t k = 0; k < s->first[SLICES_KINDS]; k++) {
        const size_t i = s->order[k];
        const enum thread_slices kind = framework_lanes_kind_of(s, i);
        const size_t row = i - s->first[kind];
        const uint32_t process = s->process[kind][row], thread = s->thread[kind][row];
        struct lane_row *at = lanes_row(lanes, process, thread);
        bool is_new = false;
        const unsigned lane = at ? lane_row_place(at, s->begin_ns[kind][row], s->end_ns[kind][row], &is_new) : 0;
        if (!at)
            return false;
        if (lane == 0)
            continue;
        if (!out->lane[kind])
            out->lane[kind] = arena_take(mem, s->first[kind + 1] - s->first[kind], 1);
        struct framework_lane *further = is_new ? list_add(&out->further, mem) : NULL;
        if (!out->lane[kind] || (is_new && !further))
            return false;
        out->lane[kind][row] = (uint8_t)lane;
        if (further)
            *further = (struct framework_lane){ process, thread, lane };
    }
    return true;
}

bool framework_lanes_find(struct framework_lanes *out, const struct framework *f, struct arena *mem)
{
    const struct framework_ops *o = &f->ops;
    const struct queue_spans *in = &f->enqueue, *taken = &f->dequeue;
    const struct python_calls *p = &f->python;
    struct framework_lanes_slices s = { 0 };
    slices_add(&s, SLICES_OPS, o->n, o->begin_ns, o->end_ns, o->process, o->thread);
    slices_add(&s, SLICES_ENQUEUE, in->n, in->begin_ns, in->end_ns, in->process, in->thread);
    slices_add(&s, SLICES_DEQUEUE, taken->n, taken->begin_ns, taken->end_ns, taken->process, taken->thread);
    slices_add(&s, SLICES_PYTHON, p->n, p->begin_ns, p->end_ns, p->process, p->thread);
    struct arena *own = arena_new();
    struct lanes *lanes = lanes_new();
    *out = (struct framework_lanes){ 0 };
    const bool done = own && lanes && s.first[SLICES_KINDS] <= UINT32_MAX && slices_order(&s, own) &&
                      framework_lanes_place(&s, out, lanes, mem);
    lanes_free(lanes);
    arena_free(own);
    return done;
}

int64_t framework_lane_row(const struct framework_lanes *l, enum thread_slices kind, size_t i, uint32_t thread)
{
    return lane_tid(thread, l->lane[kind] ? l->lane[kind][i] : 0);
}

void framework_lanes_write(const struct framework_lanes *l, struct trace *t, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct framework_lane f = l->further.at[i];
        char name[48];
        snprintf(name, sizeof name, "Thread %" PRIu32 " (%" PRIu32 ")", f.thread, f.lane + 1);
        trace_thread(t, f.process, lane_tid(f.thread, f.lane), name, f.thread);
    }
}

bool kernel_places_take(struct kernel_places *out, const struct profile *p, struct arena *mem)
{
    const bool is_generic = !p->chip->is_native;
    struct kernel_places k = { .p = p,
                               .mem = mem,
                               .comm_sort = is_generic ? PLACE_COMM_GENERIC : PLACE_COMM,
                               .row_of_stream = stream_rows(p, mem),
                               .groups = arena_take(mem, p->n_devices, sizeof *k.groups) };
    int64_t next_row = 0;
    for (size_t i = 0; k.groups && i < p->n_devices; i++) {
        const struct device *d = &p->device[i];
        next_row = is_generic ? 0 : next_row;
        k.groups[i] = comm_groups_find(p, d, NULL, &next_row, mem);
        for (size_t op = 0; op < d->comm.ops.n; op++) /* add all groups now: kernel_place() only looks them up */
            comm_group_of(&k.groups[i], d->comm.ops.group[op], mem);
    }
    *out = k;
    return !arena_failed(mem);
}

struct place kernel_place(const struct kernel_places *places, const struct kernels *k, size_t row)
{
    const uint32_t device = k->device[row];
    const struct source *s = &places->p->device[device].source;
    const uint32_t track = k->track[row];
    if (!k->is_collective[row])
        return (struct place){ trace_pid(s->pid, PLACE_HARDWARE, s->device),
                               track <= UINT16_MAX ? places->row_of_stream[track] : track };
    const struct comm_group *group = comm_group_of(&places->groups[device], track, places->mem);
    return (struct place){ trace_pid(s->pid, places->comm_sort, s->device), group ? group->first_row : 0 };
}
