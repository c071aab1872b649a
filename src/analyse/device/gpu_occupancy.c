/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

enum { REGISTER_UNIT = 256, SM_PARTS = 4, SHARED_UNIT = 128, OLD_SHARED_UNIT = 256, NEWER_SHARED_UNIT_SINCE = 8 };

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* An SM consists of parts (two in P100, four in others). Each part has its own registers, and a warp runs in one
 * part. */
static uint64_t warps_by_registers(const struct gpu_facts *f, uint64_t registers)
{
    const uint64_t parts = f->major == 6 && f->minor == 0 ? SM_PARTS / 2 : SM_PARTS;
    const uint64_t of_warp = round_up(registers * f->warp_threads, REGISTER_UNIT);
    return of_warp == 0 ? UINT64_MAX : f->sm_registers / parts / of_warp * parts;
}

uint32_t gpu_blocks_per_sm(const struct gpu_facts *f, const struct gpu_needs *n)
{
    if (f->warp_threads == 0 || f->sm_threads == 0 || f->sm_registers == 0 || f->sm_shared_bytes == 0 ||
        n->block_threads == 0)
        return 0;
    const uint64_t warps = round_up(n->block_threads, f->warp_threads) / f->warp_threads;
    const uint64_t unit = f->major >= NEWER_SHARED_UNIT_SINCE ? SHARED_UNIT : OLD_SHARED_UNIT;
    const uint64_t shared = round_up(n->shared_bytes + f->block_reserved_bytes, unit);
    uint64_t blocks = f->sm_threads / f->warp_threads / warps;
    blocks = least(blocks, f->sm_blocks > 0 ? f->sm_blocks : UINT64_MAX);
    blocks = least(blocks, warps_by_registers(f, n->registers) / warps);
    blocks = least(blocks, shared > 0 ? f->sm_shared_bytes / shared : UINT64_MAX);
    return (uint32_t)blocks; /* no more than threads */
}

double gpu_occupancy_percent(const struct gpu_facts *f, const struct gpu_tasks *g, uint32_t row)
{
    enum { BLOCK_MOST = 1 << 20 }; /* more is damage, and products of it need not fit */
    const uint64_t x = g->block[0][row], y = g->block[1][row], z = g->block[2][row];
    if (x > BLOCK_MOST || y > BLOCK_MOST || z > BLOCK_MOST)
        return -1;
    const struct gpu_needs n = { .block_threads = x * y * z,
                                 .registers = g->registers[row],
                                 .shared_bytes = (uint64_t)g->static_shared[row] + g->dynamic_shared[row] };
    const uint32_t blocks = gpu_blocks_per_sm(f, &n);
    if (blocks == 0)
        return -1;
    const uint64_t warps = round_up(n.block_threads, f->warp_threads) / f->warp_threads;
    return (double)(blocks * warps) * 100 / (double)(f->sm_threads / f->warp_threads);
}
