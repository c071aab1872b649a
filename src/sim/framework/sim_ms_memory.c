/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms.h"

#include <stdio.h>

/* Every block has a place of its own, and so an address that comes back, as those of a pool do. */
enum { PLACE_BYTES = 64 << 20, RESERVED_STEP = 64 << 20, KEPT = 4 };
static const uint64_t blocks_at = 0x12c100000000;

static bool has_records(const struct sim_ms *m)
{
    return m->base.of->o->ms_generation == SIM_MS_N;
}

void ms_memory_open(struct sim_ms *m)
{
    slices_text(&m->out[MS_FILE_MEMORY_TOTALS],
                "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n");
    if (!has_records(m))
        slices_text(&m->out[MS_FILE_MEMORY],
                    "Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(MB),Allocation Total "
                    "Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device,\n");
}

static void totals_write(struct sim_ms *m, uint64_t time_ns)
{
    slices_text(&m->out[MS_FILE_MEMORY_TOTALS], "%llu,%llu,%llu,%llu\n", (unsigned long long)time_ns,
                (unsigned long long)m->used, (unsigned long long)m->reserved, (unsigned long long)m->used);
}

/* Sizes are multiples of 512 bytes: every digit of them is exact. */
static void row_write(struct sim_ms *m, const struct ms_block *b, uint64_t end_ns)
{
    const double mib = 1 << 20;
    char duration[24] = "";
    if (end_ns > 0)
        snprintf(duration, sizeof duration, "%llu", (unsigned long long)(end_ns / 1000 - b->begin / 1000));
    slices_text(&m->out[MS_FILE_MEMORY], "%s,%.20g,%llu,%s,%.20g,%.20g,%.20g,%.20g,Ascend,\n", b->owner,
                (double)b->bytes / 1024, (unsigned long long)(b->begin / 1000), duration, (double)b->used_mark / mib,
                (double)b->reserved_mark / mib, end_ns > 0 ? (double)m->used / mib : 0,
                end_ns > 0 ? (double)m->reserved / mib : 0);
}

static void block_release(struct sim_ms *m, struct ms_block *b, uint64_t time_ns)
{
    m->used -= b->bytes;
    if (has_records(m))
        ms_memory_write(m, &(struct ms_memory_event){ time_ns, b->address, UINT64_MAX, NULL });
    else
        row_write(m, b, time_ns);
    totals_write(m, time_ns);
    b->bytes = 0;
}

void ms_allocate(struct sim_ms *m, uint64_t host_tick, const char *owner, uint64_t bytes)
{
    const uint32_t place = dice_below(&m->base.dice, MS_BLOCKS);
    struct ms_block *b = &m->block[place];
    const uint64_t time_ns = ms_wall_ns(m, host_tick);
    if (b->bytes > 0)
        block_release(m, b, time_ns - 60);
    m->used += bytes;
    while (m->reserved < m->used)
        m->reserved += RESERVED_STEP;
    m->peak = m->used > m->peak ? m->used : m->peak;
    *b = (struct ms_block){ blocks_at + (uint64_t)place * PLACE_BYTES, bytes, time_ns, m->used, m->reserved, "" };
    snprintf(b->owner, sizeof b->owner, "%s", owner);
    if (has_records(m))
        ms_memory_write(m, &(struct ms_memory_event){ time_ns, b->address, bytes, owner });
    totals_write(m, time_ns);
}

void ms_release_all(struct sim_ms *m, uint64_t host_tick)
{
    for (size_t i = KEPT; i < MS_BLOCKS; i++)
        if (m->block[i].bytes > 0)
            block_release(m, &m->block[i], ms_wall_ns(m, host_tick++));
}

void ms_memory_close(struct sim_ms *m)
{
    for (size_t i = 0; i < MS_BLOCKS && !has_records(m); i++)
        if (m->block[i].bytes > 0)
            row_write(m, &m->block[i], 0);
}
