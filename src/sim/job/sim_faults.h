/* SPDX-License-Identifier: Apache-2.0 */
/* sim_faults.h - what is to be wrong with a job: lists like "3:1.5,7:2". */
#ifndef ASCOPE_SIM_JOB_SIM_FAULTS_H
#define ASCOPE_SIM_JOB_SIM_FAULTS_H

#include "sim/job/sim_job.h"

bool job_faults_read(struct job_faults *f, const struct sim_options *o, uint32_t ranks, struct error *e);
uint64_t job_factor(const struct job_faults *f, enum sim_trouble kind, uint32_t at, uint32_t with); /* thousandths */
int64_t job_amount(const struct job_faults *f, enum sim_trouble kind, uint32_t at,
                   uint32_t with); /* ns, of all that fit */
bool job_is_missing(const struct job_faults *f, uint32_t rank);

#endif
