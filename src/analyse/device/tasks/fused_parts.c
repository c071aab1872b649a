/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "base/memory/sort.h"
#include "raw/device_records.h"

static unsigned func_of(const struct task_events *ev, size_t i)
{
    return ev->head[i] & STARS_FUNC_MASK;
}

static bool is_part(const struct task_events *ev, size_t i)
{
    return func_of(ev, i) == STARS_PART_BEGIN || func_of(ev, i) == STARS_PART_END;
}

static void part_add(struct fused_parts *f, const struct task_events *ev, uint32_t begin, uint32_t end)
{
    const size_t k = f->n++;
    f->task[k] = ev->id[begin];
    f->begin[k] = ev->tick[begin];
    f->end[k] = ev->tick[end];
    f->part[k] = ev->part[begin];
    f->acc[k] = ev->acc[begin];
    f->type[k] = (uint8_t)(ev->head[begin] >> 10);
}

/* The events of one task, by time. Returns how many of them were paired. */
static size_t pair_task(struct fused_parts *f, const struct task_events *ev, const uint32_t *order, size_t n)
{
    size_t begin = 0, end, paired = 0;
    while (begin < n && func_of(ev, order[begin]) != STARS_PART_BEGIN)
        begin++;
    for (end = begin; begin < n; begin++) {
        if (func_of(ev, order[begin]) != STARS_PART_BEGIN)
            continue;
        while (end < n && func_of(ev, order[end]) != STARS_PART_END)
            end++;
        if (end == n)
            break;
        part_add(f, ev, order[begin], order[end++]);
        paired += 2;
    }
    return paired;
}

static bool parts_take(struct fused_parts *f, size_t n, struct arena *mem)
{
    *f = (struct fused_parts){ .task = arena_take(mem, n, sizeof *f->task),
                               .begin = arena_take(mem, n, sizeof *f->begin),
                               .end = arena_take(mem, n, sizeof *f->end),
                               .part = arena_take(mem, n, sizeof *f->part),
                               .acc = arena_take(mem, n, sizeof *f->acc),
                               .type = arena_take(mem, n, sizeof *f->type) };
    return !arena_failed(mem);
}

bool fused_parts_analyse(struct profile *p, struct device *d, struct error *e)
{
    const struct task_events *ev = &d->log.events;
    size_t n = 0, at = 0, paired = 0;
    (void)p;
    for (size_t i = 0; ev->part && i < ev->n; i++)
        n += is_part(ev, i);
    if (n == 0)
        return true;
    struct arena *mem = arena_new();
    uint32_t *order = mem ? arena_take(mem, n, sizeof *order) : NULL;
    bool done = order && parts_take(&d->log.fused, n / 2, d->source.mem);
    for (uint32_t i = 0; done && i < ev->n; i++)
        if (is_part(ev, i))
            order[at++] = i;
    done = done && order_by_u64(order, n, ev->tick) && order_by_u32(order, n, ev->id);
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && ev->id[order[end]] == ev->id[order[i]];)
            end++;
        paired += pair_task(&d->log.fused, ev, order + i, end - i);
    }
    losses_add(&d->source.lost, LOSS_UNPAIRED, n - paired, "stars_soc.data", 0);
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
