/* SPDX-License-Identifier: Apache-2.0 */
/* device_peaks.h - what a device can do at most: operations of matrices a second, bytes of its memory a second.
 *
 * Computed from what the device reported of itself (cores, clocks) and what is published of its kind. What is not known is 0:
 * nothing is estimated.
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
