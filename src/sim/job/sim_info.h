/* SPDX-License-Identifier: Apache-2.0 */
/* sim_info.h - info.json, sample.json and the clock files of a simulated collection. */
#ifndef ASCOPE_SIM_JOB_SIM_INFO_H
#define ASCOPE_SIM_JOB_SIM_INFO_H

#include "sim/job/sim_run.h"

void info_write(struct sim_process *p);
void info_date(char *text, size_t size, const char *format, uint64_t wall_us); /* as strftime(), in UTC */

#endif
