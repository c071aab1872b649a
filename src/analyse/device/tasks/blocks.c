/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "base/memory/sort.h"
#include "raw/enums.h"

static size_t first_at_or_after(const struct host_tasks *t, unsigned device, uint64_t key)
{
    return SEARCH_FIRST_NOT(i, 0, t->n, t->device[i] < device || (t->device[i] == device && t->key[i] < key));
}

static void set_blocks(struct profile *p, unsigned device, uint64_t key, uint32_t packed)
{
    enum { MAIN_MASK = 0xFFFF, RATIO_SHIFT = 16 };
    const struct host_tasks *t = &p->host.tasks;
    for (size_t i = first_at_or_after(t, device, key); i < t->n && t->device[i] == device && t->key[i] == key; i++) {
        if (t->op[i] == NO_ROW)
            continue;
        p->host.ops.blocks[t->op[i]] = packed & MAIN_MASK;
        p->host.ops.mix_blocks[t->op[i]] = (packed & MAIN_MASK) * (packed >> RATIO_SHIFT);
    }
}

bool blocks_analyse(struct profile *p, struct device *d, struct error *e)
{
    const size_t n = d->log.blocks.n;
    if (n == 0)
        return true;
    if (!p->has_unique_ids) { /* records cannot be matched with tasks */
        losses_add(&d->source.lost, LOSS_UNMATCHED, n, "ts_track.data", 0);
        return true;
    }
    struct arena *mem = arena_new();
    uint32_t *order = mem ? arena_take(mem, n, sizeof *order) : NULL;
    uint32_t *task = mem ? arena_take(mem, n, sizeof *task) : NULL;
    uint16_t *stream = mem ? arena_take(mem, n, sizeof *stream) : NULL;
    uint16_t *batch = mem ? arena_take(mem, n, sizeof *batch) : NULL;
    bool done = order && task && stream && batch;
    if (done) {
        for (size_t i = 0; i < n; i++) {
            const struct stream_task id = stream_task_unpack(d->log.blocks.stream[i], d->log.blocks.task[i],
                                                             SQE_AI_CORE, p->host.records.streams_expanded);
            stream[i] = id.stream;
            task[i] = id.task;
        }
        order_fill(order, n);
        done = order_by_u64(order, n, d->log.blocks.tick) && order_by_u16(order, n, stream);
    }
    if (done) {
        device_batches(d, order, n, stream, d->log.blocks.tick, task, batch);
        for (size_t i = 0; i < n; i++) /* in the order of time: the last one wins */
            set_blocks(p, d->source.device, task_key(stream[order[i]], batch[order[i]], task[order[i]]),
                       d->log.blocks.blocks[order[i]]);
    }
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
