/* SPDX-License-Identifier: Apache-2.0 */
/* sim_hwts.h - what chips without STARS write instead. */
#ifndef ASCOPE_SIM_SIM_HWTS_H
#define ASCOPE_SIM_SIM_HWTS_H

#include "sim/sim_run.h"

bool chip_is_hwts(const struct sim_process *p);
void hwts_write(struct sim_device *d, uint16_t stream, const struct device_task *t, bool is_end);
void hwts_pmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t, uint64_t cycles,
                    const uint64_t *event);

#endif
