/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include <stddef.h>

/* In a cycle, the cube unit of an AI core multiplies two 16x16 matrices of 16-bit numbers, or 16x32 by 32x16 of 8-bit
 * numbers. These are the weights of the vendor's cube_fops (8192, 16384), and agree with the published figures: Atlas
 * A2 with 24 cores of 1.8 GHz: 353 TFLOPS; 950 with 32 cores of 1.65 GHz: 432 TFLOPS, and 865 with FP8. A figure for
 * FP32 is not published. */
static double cube_operations(const struct chip *c, enum number_kind numbers)
{
    enum { OF_16 = 2 * 16 * 16 * 16, OF_8 = 2 * OF_16 };
    switch (numbers) {
    case NUMBERS_16: return OF_16;
    case NUMBERS_INT8: return c->group == ON_950 ? 0 : OF_8;
    case NUMBERS_FP8: return c->group == ON_950 ? OF_8 : 0;
    default: return 0;
    }
}

/* Operations of an SM in a cycle for dense matrices, from the white papers of V100, A100 and H100. FP32: with rounding
 * to TF32, where the GPU has it. */
static const struct {
    uint32_t major, minor;
    double of[NUMBER_KINDS];
} tensor_operations[] = {
    { 7, 0, { [NUMBERS_FP64] = 64, [NUMBERS_FP32] = 128, [NUMBERS_16] = 1024 } },
    { 8, 0, { [NUMBERS_FP64] = 128, [NUMBERS_FP32] = 1024, [NUMBERS_16] = 2048, [NUMBERS_INT8] = 4096 } },
    { 9,
      0,
      { [NUMBERS_FP64] = 256,
        [NUMBERS_FP32] = 2048,
        [NUMBERS_16] = 4096,
        [NUMBERS_FP8] = 8192,
        [NUMBERS_INT8] = 8192 } },
};

static double sm_operations(const struct gpu_facts *g, enum number_kind numbers)
{
    for (size_t i = 0; i < sizeof tensor_operations / sizeof *tensor_operations; i++)
        if (tensor_operations[i].major == g->major && tensor_operations[i].minor == g->minor)
            return tensor_operations[i].of[numbers];
    return 0;
}

double device_peak_operations(const struct device_facts *d, enum number_kind numbers)
{
    if (d->gpu)
        return d->gpu->n_sm * (d->gpu->core_mhz * 1e6) * sm_operations(d->gpu, numbers);
    return d->n_cores * (d->core_mhz * 1e6) * cube_operations(d->chip, numbers);
}

/* The memory of a GPU transfers data twice in a cycle. */
double device_peak_bytes(const struct device_facts *d)
{
    if (d->gpu)
        return 2 * (d->gpu->memory_mhz * 1e6) * d->gpu->bus_bits / 8;
    const bool is_published = d->n_cores == d->chip->n_cube && d->core_mhz == d->chip->core_mhz;
    return is_published ? d->chip->memory_gbs * 1e9 : 0;
}

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
