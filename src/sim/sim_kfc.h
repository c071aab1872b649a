/* SPDX-License-Identifier: Apache-2.0 */
/* sim_kfc.h - collectives that the AI CPU runs. */
#ifndef ASCOPE_SIM_SIM_KFC_H
#define ASCOPE_SIM_SIM_KFC_H

#include "sim/sim_run.h"

void kfc_open(struct sim_device *d);
void kfc_run(struct sim_device *d);

#endif
