/* SPDX-License-Identifier: Apache-2.0 */
/* sim_job_run.h - what a rank of a job does in a step, as planned. */
#ifndef ASCOPE_SIM_JOB_SIM_JOB_RUN_H
#define ASCOPE_SIM_JOB_SIM_JOB_RUN_H

#include "sim/job/sim_run.h"

uint64_t job_step_start(struct sim_device *d, uint32_t step, uint64_t earliest); /* when the host begins with it */
void job_step_run(struct sim_device *d, struct moments *at);
void job_clocks_set(struct sim_process *p);
void job_names_write(struct sim_process *p);

#endif
