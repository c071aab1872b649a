/* SPDX-License-Identifier: Apache-2.0 */
/* device_peaks.h - the peak performance of a device: matrix operations per second, bytes of its memory per second.
 *
 * Computed from the cores and clocks that the device reported and from published figures. Nothing is estimated: an
 * unknown peak is 0.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_DEVICE_PEAKS_H
#define ASCOPE_ANALYSE_DEVICE_DEVICE_PEAKS_H

#include "analyse/device/kernel_work.h"
#include "profile/gpu_facts.h"
#include "raw/chip.h"

struct device_facts {
    const struct chip *chip;
    uint32_t n_cores; /* AI cores */
    double core_mhz;
    const struct gpu_facts *gpu; /* NULL: it is no GPU */
};

double device_peak_operations(const struct device_facts *d, enum number_kind numbers);
double device_peak_bytes(const struct device_facts *d);

#endif
