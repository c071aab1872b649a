/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_torch.h"

#include "sim/device/sim_device.h"

/* Every block has a place of its own, and so an address that comes back, as those of a caching allocator do. */
enum { PLACE_BYTES = 64 << 20, RESERVED_STEP = 20 << 20, STREAM = 2 };
static const uint64_t blocks_at = 0x12c040000000, workspace_at = 0x12d0f5e00000, host_at = 0x55d012c40000;

struct sim_torch_memory_event {
    uint64_t address, time;
    int64_t bytes; /* negative: given back */
    uint8_t component, kind;
    bool is_host;
    uint32_t thread;
};

static void event_write(struct sim_torch *t, const struct sim_torch_memory_event *e, uint64_t allocated,
                        uint64_t reserved)
{
    const struct layout *l = &torch_memory_layout;
    enum { RECORD_MEMORY = 3, NO_DEVICE = 0xFF };
    uint8_t *at = slices_take(&t->out[TORCH_FILE_MEMORY], TLV_HEAD + l->size);
    at[0] = RECORD_MEMORY;
    at[1] = 0;
    host_put32(at + 2, l->size);
    uint8_t *rec = at + TLV_HEAD;
    layout_init(l, rec);
    record_fill(l, rec, { TORCH_MEMORY_POINTER, e->address }, { TORCH_MEMORY_TIME, e->time },
                { TORCH_MEMORY_SIZE, (uint64_t)e->bytes }, { TORCH_MEMORY_ALLOCATED, allocated },
                { TORCH_MEMORY_RESERVED, reserved }, { TORCH_MEMORY_ACTIVE, e->is_host ? 0 : allocated },
                { TORCH_MEMORY_STREAM, e->is_host ? 0 : STREAM },
                { TORCH_MEMORY_DEVICE_TYPE, e->is_host ? MEMORY_ON_CPU : MEMORY_ON_NPU },
                { TORCH_MEMORY_DEVICE, e->is_host ? NO_DEVICE : sim_device_number(t->base.of) },
                { TORCH_MEMORY_COMPONENT, e->component }, { TORCH_MEMORY_KIND, e->kind },
                { TORCH_MEMORY_ALLOCATOR, ALLOCATOR_INNER }, { TORCH_MEMORY_THREAD, e->thread },
                { TORCH_MEMORY_PROCESS, t->base.of->pid });
}

/* A block that another stream has used is returned to the pool first, and released by its tensor right after. */
static void block_release(struct sim_torch *t, struct torch_block *b)
{
    struct sim_torch_memory_event e = { b->address, t->at->now, -(int64_t)b->bytes, .kind = MEMORY_BLOCK_FREE,
                                        .thread = t->at->id };
    t->allocated -= b->bytes;
    event_write(t, &e, t->allocated, t->reserved);
    t->at->now = e.time += 3;
    e.kind = MEMORY_FREE;
    event_write(t, &e, t->allocated, t->reserved);
    b->bytes = 0;
}

uint64_t torch_allocate(struct sim_torch *t, uint64_t bytes)
{
    const uint32_t place = dice_below(&t->base.dice, BLOCKS_MOST);
    struct torch_block *b = &t->block[place];
    if (b->bytes > 0)
        block_release(t, b);
    *b = (struct torch_block){ blocks_at + (uint64_t)place * PLACE_BYTES, bytes };
    t->allocated += bytes;
    while (t->reserved < t->allocated)
        t->reserved += RESERVED_STEP;
    t->at->now += 4;
    event_write(t, &(struct sim_torch_memory_event){ b->address, t->at->now, (int64_t)bytes, .thread = t->at->id },
                t->allocated, t->reserved);
    return b->address;
}

void torch_release(struct sim_torch *t)
{
    struct torch_block *b = &t->block[dice_below(&t->base.dice, BLOCKS_MOST)];
    if (b->bytes > 0)
        block_release(t, b);
}

void torch_release_all(struct sim_torch *t)
{
    for (size_t i = 0; i < BLOCKS_MOST; i++)
        if (t->block[i].bytes > 0)
            block_release(t, &t->block[i]);
}

/* There is one workspace, which is replaced by a larger one. */
void torch_workspace(struct sim_torch *t, uint64_t time)
{
    enum { FIRST = 4 << 20, MOST = 1 << 30 };
    struct sim_torch_memory_event e = { workspace_at, time,  -(int64_t)t->workspace, COMPONENT_WORKSPACE,
                                        MEMORY_FREE,  false, t->queue_thread };
    if (t->workspace >= MOST)
        return;
    if (t->workspace > 0)
        event_write(t, &e, 0, 0);
    t->workspace = t->workspace > 0 ? 2 * t->workspace : FIRST;
    e = (struct sim_torch_memory_event){ workspace_at,  time + 3, (int64_t)t->workspace, COMPONENT_WORKSPACE,
                                         MEMORY_MALLOC, false,    t->queue_thread };
    event_write(t, &e, t->workspace, t->workspace);
}

/* The allocator of the host records mallocs only: a release is a malloc of a negative size. */
void torch_host_memory(struct sim_torch *t)
{
    const int64_t bytes = 64 * (int64_t)dice_between(&t->base.dice, 1, 2000);
    struct sim_torch_memory_event e = { host_at + 4096ull * dice_below(&t->base.dice, 1000), t->at->now + 10, bytes,
                                        .is_host = true, .thread = t->at->id };
    event_write(t, &e, (uint64_t)bytes, 0);
    t->at->now = e.time += 60;
    e.bytes = -bytes;
    event_write(t, &e, 0, 0);
}
