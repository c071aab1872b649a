/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_load.h - finds the counter records that cores wrote for each task: pointers to whole records. */
#ifndef ASCOPE_LOAD_PMU_LOAD_H
#define ASCOPE_LOAD_PMU_LOAD_H

#include "profile/profile.h"

bool pmu_load(struct device *d, struct error *e);

#endif
