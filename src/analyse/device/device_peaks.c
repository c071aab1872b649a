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
