/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of simulated devices: addresses without contents, given out by first fit; neighbouring gaps are merged
 * when a block is freed. */
#include "base/memory/growing.h"
#include "device/sim_npu/sim_npu.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "collect/ring/ring.h"
#include "device/sim_npu/sim_npu_parts.h"

enum { ALIGN = 512, SEGMENT = 2 << 20, MEMORY_MB = 65536 };

/* ---- blocks in use: a table by address ---- */

static size_t block_slot(const struct npu_pool *p, uint64_t address)
{
    size_t i = (size_t)(address / ALIGN * 0x9E3779B97F4A7C15 >> 20) & (p->blocks_room - 1);
    while (p->block[i].bytes != 0 && p->block[i].at != address)
        i = (i + 1) & (p->blocks_room - 1);
    return i;
}

static bool blocks_grow(struct npu_pool *p)
{
    enum { LEAST = 256 };
    if (2 * p->n_blocks < p->blocks_room)
        return true;
    struct npu_pool larger = *p;
    larger.blocks_room = p->blocks_room ? 2 * p->blocks_room : LEAST;
    larger.block = calloc(larger.blocks_room, sizeof *larger.block);
    if (!larger.block)
        return false;
    for (size_t i = 0; i < p->blocks_room; i++)
        if (p->block[i].bytes != 0)
            larger.block[block_slot(&larger, p->block[i].at)] = p->block[i];
    free(p->block);
    *p = larger;
    return true;
}

/* Removes a row of the hash table, and inserts the rows behind it again, up to the next free slot. */
static void block_remove(struct npu_pool *p, size_t i)
{
    const size_t mask = p->blocks_room - 1;
    p->block[i].bytes = 0;
    p->n_blocks--;
    for (size_t k = (i + 1) & mask; p->block[k].bytes != 0; k = (k + 1) & mask) {
        const struct npu_extent row = p->block[k];
        p->block[k].bytes = 0;
        p->block[block_slot(p, row.at)] = row;
    }
}

/* ---- gaps between them: by address ---- */

static bool gap_insert(struct npu_pool *p, size_t i, struct npu_extent gap)
{
    enum { LEAST = 64 };
    if (!array_reserve(p->gap, p->gaps_room, p->n_gaps + 1, LEAST))
        return false;
    memmove(&p->gap[i + 1], &p->gap[i], (p->n_gaps - i) * sizeof *p->gap);
    p->gap[i] = gap;
    p->n_gaps++;
    return true;
}

static void gap_remove(struct npu_pool *p, size_t i)
{
    memmove(&p->gap[i], &p->gap[i + 1], (p->n_gaps - i - 1) * sizeof *p->gap);
    p->n_gaps--;
}

static void gap_give_back(struct npu_pool *p, struct npu_extent freed)
{
    const size_t low = SEARCH_FIRST_NOT(i, 0, p->n_gaps, p->gap[i].at < freed.at); /* the gap behind it */
    const bool joins_next = low < p->n_gaps && freed.at + freed.bytes == p->gap[low].at;
    const bool joins_last = low > 0 && p->gap[low - 1].at + p->gap[low - 1].bytes == freed.at;
    if (joins_last)
        p->gap[low - 1].bytes += freed.bytes;
    if (joins_last && joins_next) {
        p->gap[low - 1].bytes += p->gap[low].bytes;
        gap_remove(p, low);
    } else if (joins_next) {
        p->gap[low] = (struct npu_extent){ freed.at, freed.bytes + p->gap[low].bytes };
    } else if (!joins_last) {
        gap_insert(p, low, freed); /* if that fails, the simulated device has less memory from now on */
    }
}

static uint64_t pool_begin(const struct npu_device *d)
{
    return 0x124000000000 + ((uint64_t)d->id << 40);
}

static bool pool_open(struct npu_device *d)
{
    const uint64_t bytes = (uint64_t)npu_setting("ASCOPE_SIM_MEMORY_MB", 1, 1 << 20, MEMORY_MB) << 20;
    return d->pool.gaps_room > 0 || gap_insert(&d->pool, 0, (struct npu_extent){ pool_begin(d), bytes });
}

/* The first gap that is large enough. */
static uint64_t pool_take(struct npu_device *d, uint64_t bytes)
{
    struct npu_pool *p = &d->pool;
    size_t i = 0;
    if (!pool_open(d) || !blocks_grow(p))
        return 0;
    while (i < p->n_gaps && p->gap[i].bytes < bytes)
        i++;
    if (i == p->n_gaps)
        return 0;
    const struct npu_extent block = { p->gap[i].at, bytes };
    p->gap[i].at += bytes;
    p->gap[i].bytes -= bytes;
    if (p->gap[i].bytes == 0)
        gap_remove(p, i);
    p->block[block_slot(p, block.at)] = block;
    p->n_blocks++;
    p->allocated += bytes;
    const uint64_t used = (block.at + bytes - pool_begin(d) + SEGMENT - 1) / SEGMENT * SEGMENT;
    p->reserved = used > p->reserved ? used : p->reserved;
    return block.at;
}

static uint64_t pool_give_back(struct npu_pool *p, uint64_t address)
{
    if (p->n_blocks == 0)
        return 0;
    const size_t i = block_slot(p, address);
    const struct npu_extent block = p->block[i];
    if (block.bytes == 0)
        return 0;
    block_remove(p, i);
    gap_give_back(p, block);
    p->allocated -= block.bytes;
    return block.bytes;
}

/* ---- with its records ---- */

static void change_put(uint64_t what, uint32_t call, uint64_t begin, struct npu_times *times,
                       const struct memory_change *m)
{
    if (what & NPU_MEMORY) {
        uint8_t rec[256];
        record_head(rec, KIND_MEMORY, ring_thread(), npu_now(times));
        record_memory(rec, m);
        npu_host_put(KIND_MEMORY, rec);
    }
    if (what & NPU_ACL)
        ascope_call(LEVEL_ACL, call, begin, npu_now(times), 0);
}

static struct memory_change change_of(const struct npu_device *d, uint64_t address, uint64_t bytes, bool is_release)
{
    return (struct memory_change){ .address = address,
                                   .bytes = bytes,
                                   .allocated = d->pool.allocated,
                                   .reserved = d->pool.reserved,
                                   .device = d->id,
                                   .is_release = is_release };
}

uint64_t ascope_sim_malloc(unsigned device, uint64_t bytes)
{
    struct npu_times times = { 0 };
    const uint64_t what = npu_what((enum npu_what)(NPU_TASKS | NPU_MEMORY)), begin = what ? npu_now(&times) : 0;
    if (bytes > UINT64_MAX - ALIGN)
        return 0;
    bytes = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
    npu_lock();
    struct npu_device *d = npu_device_get(device);
    const uint64_t address = d ? pool_take(d, bytes) : 0;
    struct memory_change m = { 0 };
    if (address != 0)
        m = change_of(d, address, bytes, false);
    npu_unlock();
    if (what && address != 0) {
        m.name = npu_name("aclrtMalloc");
        change_put(what, NPU_TYPE_MALLOC, begin, &times, &m);
    }
    return address;
}

void ascope_sim_free(unsigned device, uint64_t address)
{
    struct npu_times times = { 0 };
    const uint64_t what = npu_what((enum npu_what)(NPU_TASKS | NPU_MEMORY)), begin = what ? npu_now(&times) : 0;
    npu_lock();
    struct npu_device *d = npu_device_get(device);
    const uint64_t bytes = d ? pool_give_back(&d->pool, address) : 0;
    struct memory_change m = { 0 };
    if (bytes != 0)
        m = change_of(d, address, bytes, true);
    npu_unlock();
    if (what && bytes != 0) {
        m.name = npu_name("aclrtMalloc"); /* records of a release have the name of the allocation */
        change_put(what, NPU_TYPE_FREE, begin, &times, &m);
    }
}
